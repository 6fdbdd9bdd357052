//===- FuseRows.cpp - Fewer row kernels, each of several ops ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on stretches of `row.call`s between products: a producer that waits for
// a consumer behind a product would keep its operands alive in place of its
// results. In each stretch, in this order because later steps build on earlier
// ones:
//
//   prune     outputs that nobody reads
//   lists     for each matrix of a producer's list the same element by element
//             consumer: both become one loop over the list
//   fuse      a consumer takes rows from a producer of as many rows
//   sums      an addition of sums over the rows of one kernel
//
//===----------------------------------------------------------------------===//

#include "RowCalls.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Row/KernelTable.h"
#include "isobath/Fusion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace isobath {
#define GEN_PASS_DEF_FUSEROWS
#include "isobath/Fusion/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::fusion;

namespace {

struct FuseRows : isobath::impl::FuseRowsBase<FuseRows> {
  void runOnOperation() override;
};

/// Fuses the calls of a module's entries. Layers are alike: what has been built
/// for one is found again for the next.
class RowFusion {
public:
  explicit RowFusion(ModuleOp module) : kernels(module), module(module) {}

  void run(Block &block);
  /// Erases the kernels that nobody calls any more, and numbers the others
  /// anew.
  void cleanUp();

private:
  /// A stretch of calls in the order of the block.
  using Calls = SmallVector<row::CallOp>;
  using Step = bool (RowFusion::*)(Calls &calls, size_t position);

  void runOnStretch(Calls &calls);
  void repeat(Step step, Calls &calls);
  bool prune(Calls &calls, size_t position);
  bool fuseList(Calls &calls, size_t position);
  bool fuseProducer(Calls &calls, size_t position);
  bool fuse(Calls &calls, size_t producer, size_t consumer);
  bool mergeSumsOf(Calls &calls, size_t position);

  row::KernelOp lookup(row::CallOp call) {
    row::KernelOp &kernel = symbols[call.getKernelAttr()];
    if (!kernel)
      kernel = call.lookupKernel();
    return kernel;
  }

  enum StepKind : int64_t { Prune, List, Fuse, Sums };
  /// What `build` makes, which is a function of the kernels and numbers alone.
  const BuiltKernel &remember(StepKind kind, ArrayRef<row::KernelOp> of,
                              ArrayRef<int64_t> numbers,
                              function_ref<BuiltKernel()> build);

  row::KernelTable kernels;
  ModuleOp module;
  llvm::DenseMap<Attribute, row::KernelOp> symbols;
  std::map<std::vector<int64_t>, BuiltKernel> built;
};

} // namespace

const BuiltKernel &RowFusion::remember(StepKind kind,
                                       ArrayRef<row::KernelOp> of,
                                       ArrayRef<int64_t> numbers,
                                       function_ref<BuiltKernel()> build) {
  std::vector<int64_t> key{kind};
  for (row::KernelOp kernel : of)
    key.push_back(reinterpret_cast<intptr_t>(kernel.getOperation()));
  key.insert(key.end(), numbers.begin(), numbers.end());
  BuiltKernel &result = built[key];
  if (!result.kernel) {
    result = build();
    result.kernel = kernels.getOrInsert(result.kernel);
  }
  return result;
}

static SmallVector<int64_t> toNumbers(const llvm::BitVector &bits) {
  return SmallVector<int64_t>(bits.set_bits_begin(), bits.set_bits_end());
}

//===----------------------------------------------------------------------===//
// Prune
//===----------------------------------------------------------------------===//

bool RowFusion::prune(Calls &calls, size_t position) {
  row::CallOp call = calls[position];
  row::KernelOp kernel = lookup(call);
  llvm::BitVector needed = findNeeded(call);
  if (needed.none() && !call.getRepeated()) { // that runs for its cost alone
    call.erase();
    calls.erase(calls.begin() + position);
    return true;
  }
  if (needed.all() || needed.none())
    return false;
  const BuiltKernel &pruned = remember(Prune, kernel, toNumbers(needed), [&] {
    return prunedTo(kernel, needed);
  });
  if (pruned.outputs.all())
    return false;
  calls[position] =
      createCall(call, pruned, copyInputs(call), copyOutputs(call), call);
  call.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool RowFusion::fuseList(Calls &calls, size_t position) {
  row::CallOp call = calls[position];
  row::KernelOp kernel = lookup(call);
  for (unsigned output = 0; output < kernel.getOutputCount(); ++output) {
    if (!storesWholeRows(kernel, output))
      continue;
    unsigned input = 0;
    SmallVector<row::CallOp> consumers =
        findElementConsumers(call.getOutputGroup(output), call, calls, input);
    if (consumers.empty() || consumers[0].getRows() != call.getRows())
      continue;
    row::KernelOp element = lookup(consumers.front());
    if (!isElementOfList(element))
      continue;
    const BuiltKernel &fused =
        remember(List, {kernel, element}, {output, input}, [&] {
          return withAllArguments(fuseIntoList(kernel, output, element, input));
        });
    Groups inputs = copyInputs(call), outputs = copyOutputs(call);
    outputs.erase(outputs.begin() + output);
    for (unsigned i = 0; i < element.getInputCount(); ++i) {
      if (i == input)
        continue;
      inputs.emplace_back();
      for (row::CallOp consumer : consumers)
        inputs.back().push_back(consumer.getInputGroup(i).front());
    }
    for (unsigned i = 0; i < element.getOutputCount(); ++i) {
      outputs.emplace_back();
      for (row::CallOp consumer : consumers)
        outputs.back().push_back(consumer.getOutputGroup(i).front());
    }
    SmallVector<row::CallOp> instead(consumers);
    instead.insert(instead.begin(), call);
    calls[position] = createCall(call, fused, inputs, outputs, instead);
    llvm::erase_if(calls, [&](row::CallOp other) {
      return llvm::is_contained(consumers, other);
    });
    for (row::CallOp old : llvm::reverse(instead))
      old.erase();
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Fuse
//===----------------------------------------------------------------------===//

/// Where the inputs of `consumer` come from if it is fused with `producer`, or
/// nothing if it cannot be.
static std::optional<SmallVector<InputSource>>
findSources(row::CallOp producer, row::KernelOp producerKernel,
            row::CallOp consumer, row::KernelOp consumerKernel) {
  SmallVector<InputSource> sources;
  bool takesOne = false;
  for (unsigned input = 0; input < consumer.getInputGroupCount(); ++input) {
    OperandRange group = consumer.getInputGroup(input);
    InputSource source;
    for (unsigned i = 0; i < producer.getInputGroupCount(); ++i)
      if (llvm::equal(producer.getInputGroup(i), group) &&
          producerKernel.getInput(i).getType() ==
              consumerKernel.getInput(input).getType())
        source = {InputSource::ProducerInput, i};
    if (llvm::any_of(group, [&](Value operand) {
          return operand.getDefiningOp() == producer;
        })) {
      if (group.size() != 1)
        return std::nullopt;
      source = {InputSource::ProducerOutput,
                findOutput(producer, group.front())};
      if (!canForward(producerKernel, source.position, consumerKernel, input))
        return std::nullopt;
      takesOne = true;
    }
    sources.push_back(source);
  }
  if (!takesOne)
    return std::nullopt;
  return sources;
}

bool RowFusion::fuse(Calls &calls, size_t producerPosition,
                     size_t consumerPosition) {
  // Every argument is an address that the machine code keeps at hand.
  constexpr unsigned mostArguments = 64;
  row::CallOp producer = calls[producerPosition],
              consumer = calls[consumerPosition];
  if (producer.getRows() != consumer.getRows())
    return false;
  row::KernelOp first = lookup(producer), second = lookup(consumer);
  auto sources = findSources(producer, first, consumer, second);
  if (!sources)
    return false;
  if (first.getArguments().size() + second.getArguments().size() >
      mostArguments)
    return false;
  SmallVector<Operation *> between = findBetween(producer, consumer);
  if (needsAny(consumer, between))
    return false;

  Groups inputs = copyInputs(producer), outputs = copyOutputs(producer);
  llvm::BitVector needed = findNeeded(producer, consumer);
  SmallVector<int64_t> key = toNumbers(needed);
  for (auto [input, source] : llvm::enumerate(*sources)) {
    if (source.kind == InputSource::Own)
      inputs.emplace_back(consumer.getInputGroup(input));
    llvm::append_values(key, -1 - source.kind, source.position);
  }
  llvm::append_range(outputs, copyOutputs(consumer));
  needed.resize(outputs.size(), true);
  const BuiltKernel &fused = remember(Fuse, {first, second}, key, [&] {
    row::KernelOp whole = fuseKernels(first, second, *sources);
    BuiltKernel result = prunedTo(whole, needed);
    whole.erase();
    return result;
  });
  row::CallOp call =
      createCall(consumer, fused, inputs, outputs, {producer, consumer});
  Operation *last = call;
  for (Operation *op : between) {
    op->moveAfter(last);
    last = op;
  }
  consumer.erase();
  producer.erase();
  calls[consumerPosition] = call;
  calls.erase(calls.begin() + producerPosition);
  llvm::sort(calls, [](row::CallOp left, row::CallOp right) {
    return left->isBeforeInBlock(right);
  });
  return true;
}

bool RowFusion::fuseProducer(Calls &calls, size_t position) {
  for (size_t producer = position; producer-- > 0;)
    if (fuse(calls, producer, position))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

bool RowFusion::mergeSumsOf(Calls &calls, size_t position) {
  row::CallOp addition = calls[position];
  if (addition.getInputs().empty())
    return false;
  auto producer = addition.getInputs().front().getDefiningOp<row::CallOp>();
  if (!isSumOfInputs(lookup(addition)) || !llvm::is_contained(calls, producer))
    return false;
  row::KernelOp kernel = lookup(producer);
  SmallVector<int64_t> sums;
  for (Value operand : addition.getInputs()) {
    if (operand.getDefiningOp() != producer || !operand.hasOneUse())
      return false;
    sums.push_back(findOutput(producer, operand));
    Type type = kernel.getOutput(sums.back()).getType();
    if (!isa<row::SumType>(type) || !row::getElementType(type).isF32() ||
        type != kernel.getOutput(sums.front()).getType())
      return false;
  }
  llvm::sort(sums);
  const BuiltKernel &merged = remember(Sums, kernel, sums, [&] {
    row::KernelOp result = kernel;
    for (int64_t from : llvm::reverse(ArrayRef(sums).drop_front())) {
      row::KernelOp next = mergeSums(result, sums.front(), from);
      if (result != kernel)
        result.erase();
      result = next;
    }
    return withAllArguments(result);
  });
  Groups outputs = copyOutputs(producer);
  outputs[sums.front()] = {addition.getOutputs().front()};
  for (int64_t from : llvm::reverse(ArrayRef(sums).drop_front()))
    outputs.erase(outputs.begin() + from);
  *llvm::find(calls, producer) =
      createCall(producer, merged, copyInputs(producer), outputs, producer);
  calls.erase(calls.begin() + position);
  addition.erase();
  producer.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Until it changes nothing: each call may be the next one's producer.
void RowFusion::repeat(Step step, Calls &calls) {
  for (size_t position = 0; position < calls.size();) {
    if ((this->*step)(calls, position))
      position = 0;
    else
      ++position;
  }
}

void RowFusion::runOnStretch(Calls &calls) {
  // Backwards, since a call that goes takes uses with it.
  for (size_t position = calls.size(); position-- > 0;)
    prune(calls, position);
  repeat(&RowFusion::fuseList, calls);
  repeat(&RowFusion::fuseProducer, calls);
  repeat(&RowFusion::mergeSumsOf, calls);
}

void RowFusion::run(Block &block) {
  SmallVector<Calls> stretches(1);
  for (Operation &op : block.without_terminator()) {
    if (auto call = dyn_cast<row::CallOp>(op))
      stretches.back().push_back(call);
    else if (!isa<arith::ConstantOp, net::GroupTokensOp, net::TakeTokensOp,
                  net::JoinTokensOp>(op) &&
             !stretches.back().empty())
      stretches.emplace_back();
  }
  // From the end, for the same reason as above.
  for (Calls &calls : llvm::reverse(stretches))
    runOnStretch(calls);
}

void RowFusion::cleanUp() {
  llvm::DenseSet<Attribute> used;
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<row::CallOp>(op))
      used.insert(call.getKernelAttr());
    else if (auto launch = dyn_cast<row::LaunchOp>(op))
      used.insert(launch.getKernelAttr());
  });
  llvm::StringSet<> taken;
  for (auto symbol : module.getOps<SymbolOpInterface>())
    if (!isa<row::KernelOp>(symbol) || !symbol.isPrivate())
      taken.insert(symbol.getName());
  llvm::DenseMap<Attribute, FlatSymbolRefAttr> names;
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<row::KernelOp>())) {
    auto old = FlatSymbolRefAttr::get(kernel);
    if (!kernel.isPrivate()) {
      names[old] = old;
      continue;
    }
    if (!used.contains(old)) {
      kernel.erase();
      continue;
    }
    StringRef stem = getStem(kernel);
    std::string name = stem.str();
    for (unsigned number = 1; !taken.insert(name).second; ++number)
      name = (stem + "_" + Twine(number)).str();
    kernel.setSymName(name);
    names[old] = FlatSymbolRefAttr::get(kernel);
  }
  module.walk([&](Operation *op) {
    if (auto call = dyn_cast<row::CallOp>(op))
      call.setKernelAttr(names[call.getKernelAttr()]);
    else if (auto launch = dyn_cast<row::LaunchOp>(op))
      launch.setKernelAttr(names[launch.getKernelAttr()]);
  });
}

void FuseRows::runOnOperation() {
  RowFusion fusion(getOperation());
  for (auto entry : getOperation().getOps<func::FuncOp>()) {
    if (!entry.isPublic() || entry.isExternal())
      continue;
    Block &block = entry.getBody().front();
    auto countCalls = [&] {
      return llvm::range_size(block.getOps<row::CallOp>());
    };
    auto before = countCalls();
    fusion.run(block);
    if (countCalls() < before)
      remark::passed(entry.getLoc(), remark::RemarkOpts::name("Fused")
                                         .category("isobath-fuse-rows")
                                         .function(entry.getName()))
          << remark::add("{0} calls {1} row kernels in place of {2}",
                         entry.getName(), countCalls(), before);
  }
  fusion.cleanUp();
}
