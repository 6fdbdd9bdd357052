//===- ExplainReport.cpp - What `isobath explain` says about a model ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collecting from the stages. How a report is shown is in
// PrintExplainReport.cpp.
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/ExplainReport.h"
#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Row/RowTraffic.h"
#include "isobath/Planning/HeldBytes.h"
#include "isobath/Routing/SiteLocations.h"
#include "isobath/Target/NVPTX/RowKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;
using namespace isobath;
using Site = ExplainReport::Site;
using Direction = ExplainReport::Direction;
using Bytes = ExplainReport::Bytes;

static constexpr int64_t numberBytes = 4; // of all but sources

ExplainReport isobath::beginExplainReport(const CheckReport &model) {
  ExplainReport report;
  report.name = model.name;
  for (const CheckReport::Site &site : model.sites) {
    Site &added = report.sites.emplace_back();
    added.name = site.name;
    added.sources = site.sources.size();
  }
  return report;
}

static func::FuncOp findGradient(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("gradient");
}

/// The sites that `op` came from.
static SmallVector<Site *> findSites(ExplainReport &report, Operation *op) {
  SmallVector<Site *> sites;
  SmallVector<StringRef> names = getSites(op->getLoc());
  for (StringRef name : names)
    for (Site &site : report.sites)
      if (site.name == name)
        sites.push_back(&site);
  return sites;
}

//===----------------------------------------------------------------------===//
// Remarks
//===----------------------------------------------------------------------===//

namespace {
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(ExplainReport &report) : report(report) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    ExplainReport::Remark added;
    added.pass = remark.getCategoryName().str();
    added.name = remark.getRemarkName().str();
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      (argument.key == "Sites" ? added.sites : added.text) += argument.val;
    report.remarks.push_back(std::move(added));
  }

private:
  ExplainReport &report;
};
} // namespace

void isobath::collectRemarks(MLIRContext &context, ExplainReport &report) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis = "isobath-.*";
  if (failed(remark::enableOptimizationRemarks(
          context, std::make_unique<RemarkCollector>(report),
          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories)))
    llvm_unreachable("a new context takes a streamer of remarks");
}

//===----------------------------------------------------------------------===//
// Routes
//===----------------------------------------------------------------------===//

namespace {
/// Counts what routes must move, in vectors of a token.
class MinimumCounter {
public:
  void add(ValueRange closed, Value partial, int64_t mixes) {
    if (addGroup(forward, closed))
      sourcesRead += closed.size();
    sourcesRead += partial ? 1 : 0;
    mixesWritten += mixes;
  }
  void addLocal(depth::RouteAdjointLocalOp adjoint) {
    partials += adjoint.getPartial() ? 1 : 0;
    gradientsRead += adjoint.getQueries().size();
  }
  void addDeferred(ValueRange closed) {
    if (!addGroup(backward, closed))
      return;
    for (Value source : closed) {
      ++sourcesDone;
      gradientsRead += begun.insert(source).second ? 0 : 1;
    }
  }
  void addStatic(depth::StaticReadAdjointOp adjoint) {
    partials += adjoint.getPartial() ? 1 : 0;
    gradientsRead += adjoint.getMixtures().size();
    addDeferred(adjoint.getClosed());
  }

  Bytes getForward(int64_t width, int64_t sourceBytes) const {
    return {width * sourcesRead * sourceBytes,
            width * mixesWritten * numberBytes};
  }
  Bytes getBackward(int64_t width, int64_t sourceBytes) const {
    int64_t done = sourcesDone + partials;
    return {width * (done * sourceBytes + gradientsRead * numberBytes),
            width * done * numberBytes};
  }

private:
  using Groups = std::set<std::vector<const void *>>;
  static bool addGroup(Groups &groups, ValueRange closed) {
    std::vector<const void *> key;
    for (Value source : closed)
      key.push_back(source.getAsOpaquePointer());
    return groups.insert(key).second;
  }

  Groups forward, backward;    // routes over the same closed sources
  llvm::DenseSet<Value> begun; // sources whose gradient something added to
  int64_t sourcesRead = 0, mixesWritten = 0;
  int64_t sourcesDone = 0, partials = 0, gradientsRead = 0;
};
} // namespace

static MinimumCounter countMinimum(ModuleOp module) {
  MinimumCounter minimum;
  findGradient(module).walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](depth::RouteOp route) {
          minimum.add(route.getClosed(), route.getPartial(),
                      route.getMixes().size());
        })
        .Case([&](depth::PartialOp read) {
          minimum.add(read.getClosed(), Value(), /*mixes=*/0);
        })
        .Case([&](depth::MergeOp merge) {
          minimum.add({}, merge.getPartial(), merge.getMixes().size());
        })
        .Case([&](depth::ExtendOp extend) {
          minimum.add(extend.getNewer(), Value(), extend.getMixes().size());
        })
        .Case([&](depth::FixedReadOp read) {
          minimum.add(read.getClosed(), read.getPartial(), /*mixes=*/1);
        })
        .Case([&](depth::RunningSumOp sum) {
          minimum.add({}, sum.getSource(), /*mixes=*/0);
        })
        .Case([&](net::ScaleOp read) {
          // What a uniform read makes of its sum.
          if (read.getInput().getDefiningOp<depth::RunningSumOp>())
            minimum.add({}, Value(), /*mixes=*/1);
        })
        .Case([&](depth::StaticReadOp read) {
          minimum.add(read.getClosed(), read.getPartial(),
                      read.getMixes().size());
        })
        .Case([&](depth::RouteAdjointLocalOp op) { minimum.addLocal(op); })
        .Case([&](depth::RouteAdjointDeferredOp op) {
          minimum.addDeferred(op.getClosed());
        })
        .Case([&](depth::StaticReadAdjointOp op) { minimum.addStatic(op); });
  });
  return minimum;
}

/// D, the width of the residual stream.
static int64_t getWidth(ModuleOp module) {
  auto embeddings = findGradient(module).getOps<net::EmbeddingOp>();
  if (embeddings.empty())
    return 0;
  Value stream = (*embeddings.begin()).getOutput();
  return cast<RankedTensorType>(stream.getType()).getShape().back();
}

void isobath::addRoutes(ExplainReport &report, ModuleOp step,
                        int64_t sourceBytes) {
  auto addQueries = [&](Operation *read, size_t count) {
    for (Site *site : findSites(report, read))
      site->queries += count;
  };
  for (auto route : findGradient(step).getOps<depth::RouteOp>())
    addQueries(route, route.getQueries().size());
  for (auto read : findGradient(step).getOps<depth::StaticReadOp>())
    addQueries(read, read.getMixtures().size());
  MinimumCounter minimum = countMinimum(step);
  int64_t width = getWidth(step), sites = report.sites.size(),
          vectors = width * sites;
  report.forward.minimum = minimum.getForward(width, sourceBytes);
  report.backward.minimum = minimum.getBackward(width, sourceBytes);
  report.forward.plain = {2 * vectors * sourceBytes, 2 * vectors * sourceBytes};
  report.backward.plain = {vectors * (2 * sourceBytes + numberBytes),
                           vectors * numberBytes};
}

void isobath::addSchedules(ExplainReport &report, ModuleOp routed,
                           int64_t sourceBytes) {
  // Where every sublayer is a block, a schedule may read fewer sources than a
  // read of its own for each route.
  MinimumCounter chained = countMinimum(routed);
  Bytes forward = chained.getForward(getWidth(routed), sourceBytes),
        backward = chained.getBackward(getWidth(routed), sourceBytes);
  auto lower = [](int64_t &bytes, int64_t other) {
    bytes = std::min(bytes, other);
  };
  lower(report.forward.minimum.read, forward.read);
  lower(report.backward.minimum.read, backward.read);
  lower(report.backward.minimum.written, backward.written);

  auto setRoutes = [&](Operation *op, Direction Site::*pass) {
    SmallVector<Site *> sites = findSites(report, op);
    for (Site *site : sites) {
      int64_t &routes = (site->*pass).routes;
      routes = std::max<int64_t>(routes, sites.size());
    }
  };
  findGradient(routed).walk([&](Operation *op) {
    if (isa<depth::RouteOp, depth::PartialOp, depth::FixedReadOp,
            depth::StaticReadOp>(op))
      setRoutes(op, &Site::forward);
    else if (isa<depth::RouteAdjointDeferredOp, depth::StaticReadAdjointOp>(op))
      setRoutes(op, &Site::backward);
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Adds `bytes` to `pass` of each site, in equal parts that make up the whole.
static void addShares(ArrayRef<Site *> sites, Direction Site::*pass,
                      Bytes Direction::*kind, Bytes bytes) {
  int64_t count = sites.size();
  for (auto [number, site] : llvm::enumerate(sites)) {
    auto share = [&](int64_t whole) {
      int64_t rest = whole % count;
      return whole / count + (static_cast<int64_t>(number) < rest ? 1 : 0);
    };
    Bytes &sum = (site->*pass).*kind;
    sum.read += share(bytes.read);
    sum.written += share(bytes.written);
  }
}

LogicalResult isobath::addKernels(ExplainReport &report, ModuleOp kernels) {
  func::FuncOp gradient = findGradient(kernels);
  report.kernels = llvm::range_size(kernels.getOps<row::KernelOp>());
  int64_t tokens = cast<RankedTensorType>(gradient.getArgumentTypes().front())
                       .getNumElements();
  Operation *middle = findFirstUser(gradient, "scale");
  for (auto call : gradient.getOps<row::CallOp>()) {
    SmallVector<Site *> sites = findSites(report, call);
    if (sites.empty())
      continue;
    std::optional<row::Traffic> traffic =
        row::countTraffic(call, call.lookupKernel());
    if (!traffic)
      return call.emitOpError("expected loads and stores that can be counted");
    Direction Site::*pass = middle && !call->isBeforeInBlock(middle)
                                ? &Site::backward
                                : &Site::forward;
    Bytes once = {traffic->sharedRead, traffic->sharedWritten};
    int64_t rows = call.getRows();
    Bytes all = {traffic->rowRead * rows, traffic->rowWritten * rows};
    if (rows % tokens == 0) {
      Bytes token = {all.read / tokens, all.written / tokens};
      addShares(sites, pass, &Direction::token, token);
      Bytes &total = pass == &Site::forward ? report.forward.counted
                                            : report.backward.counted;
      total.read += token.read;
      total.written += token.written;
    } else {
      once.read += all.read;
      once.written += all.written;
    }
    addShares(sites, pass, &Direction::once, once);
  }
  return success();
}

void isobath::addDeviceKernels(ExplainReport &report, ModuleOp kernels) {
  llvm::MapVector<StringRef, std::optional<Bytes>> compulsory;
  for (auto call : findGradient(kernels).getOps<row::CallOp>()) {
    row::KernelOp kernel = call.lookupKernel();
    auto [entry, isNew] = compulsory.insert({kernel.getSymName(), Bytes()});
    std::optional<Bytes> &sum = entry->second;
    std::optional<row::Traffic> traffic = row::countTraffic(call, kernel);
    if (!traffic)
      sum = std::nullopt;
    if (!sum)
      continue;
    int64_t rows = call.getRows();
    sum->read += traffic->rowRead * rows + traffic->sharedRead;
    sum->written += traffic->rowWritten * rows + traffic->sharedWritten;
  }
  for (const auto &[name, bytes] : compulsory) {
    ExplainReport::DeviceKernel &added = report.deviceKernels.emplace_back();
    added.name =
        nvptx::getFunctionName(kernels.lookupSymbol<row::KernelOp>(name));
    added.compulsory = bytes;
  }
}

void isobath::addArena(ExplainReport &report, ModuleOp planned) {
  func::FuncOp gradient = findGradient(planned);
  if (Operation *middle = findFirstUser(gradient, "scale"))
    report.activationBytes = countHeldBytes(gradient, middle);
}
