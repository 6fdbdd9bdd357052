//===- DeriveEntries.cpp - From a model to the functions that the runtime calls
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The buffers of every entry are a contract with the runtime
// (docs/manifest.md): the order of arguments and results here is the order
// there.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Depth/DepthOps.h"
#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "isobath/Differentiation/Gradients.h"
#include "isobath/Differentiation/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace isobath {
#define GEN_PASS_DEF_DERIVEENTRIES
#include "isobath/Differentiation/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;

namespace {

/// A function under construction: its body first, then its signature.
class EntryBuilder {
public:
  /// A copy of `model` named `name`, without its return.
  EntryBuilder(func::FuncOp model, StringRef name)
      : function(model.clone()), loc(model.getLoc()),
        builder(model.getContext()) {
    function.setName(name);
    Block &block = getBlock();
    modelResults.assign(block.getTerminator()->operand_begin(),
                        block.getTerminator()->operand_end());
    block.getTerminator()->erase();
    model->getParentOfType<ModuleOp>().push_back(function);
    builder.setInsertionPointToEnd(&block);
  }

  /// An empty function named `name`.
  EntryBuilder(ModuleOp module, StringRef name)
      : loc(module.getLoc()), builder(module.getContext()) {
    function = func::FuncOp::create(loc, name, builder.getFunctionType({}, {}));
    function.addEntryBlock();
    module.push_back(function);
    builder.setInsertionPointToEnd(&getBlock());
  }

  Block &getBlock() { return function.getBody().front(); }

  /// Adds a named argument before the argument at `index`, by default last.
  Value addArgument(StringRef name, Type type,
                    std::optional<unsigned> index = std::nullopt) {
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(net::nameAttrName, builder.getStringAttr(name)));
    unsigned position = index.value_or(function.getNumArguments());
    if (failed(function.insertArgument(position, type, attributes, loc)))
      llvm_unreachable("a function type takes any argument");
    return function.getArgument(position);
  }

  void addResult(Value value, StringRef attributeName, Attribute attribute) {
    addResult(value, {builder.getNamedAttr(attributeName, attribute)});
  }

  void addNamedResult(Value value, StringRef name) {
    addResult(value, net::nameAttrName, builder.getStringAttr(name));
  }

  /// A result that takes the place of argument number `argument`.
  void addUpdate(Value value, int64_t argument) {
    addResult(value, net::updatesAttrName, builder.getI64IntegerAttr(argument));
  }

  void addResult(Value value, ArrayRef<NamedAttribute> attributes) {
    results.push_back(value);
    resultAttributes.push_back(builder.getDictionaryAttr(attributes));
  }

  /// Returns the results and gives the function its type.
  func::FuncOp finish() {
    func::ReturnOp::create(builder, loc, results);
    function.removeResAttrsAttr();
    function.setFunctionType(builder.getFunctionType(
        getBlock().getArgumentTypes(), ValueRange(results).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(resultAttributes));
    return function;
  }

  func::FuncOp function;
  Location loc;
  OpBuilder builder;
  SmallVector<Value> modelResults;

private:
  SmallVector<Value> results;
  SmallVector<Attribute> resultAttributes;
};

struct DeriveEntries : isobath::impl::DeriveEntriesBase<DeriveEntries> {
  using DeriveEntriesBase::DeriveEntriesBase;
  void runOnOperation() override;

private:
  LogicalResult derive(func::FuncOp model, StringRef name);
};

} // namespace

//===----------------------------------------------------------------------===//
// Entries that run the model
//===----------------------------------------------------------------------===//

static void deriveLogits(func::FuncOp model) {
  EntryBuilder entry(model, "logits");
  entry.addNamedResult(entry.modelResults.front(), "logits");
  entry.finish();
}

/// Appends the cross-entropy of the model's logits; `targets` follow `tokens`.
static net::CrossEntropyOp appendLoss(EntryBuilder &entry) {
  Type idsType = entry.function.getArgumentTypes().front();
  Value targets = entry.addArgument("targets", idsType, 1);
  return net::CrossEntropyOp::create(entry.builder, entry.loc,
                                     entry.modelResults.front(), targets);
}

static void deriveLoss(func::FuncOp model) {
  EntryBuilder entry(model, "loss");
  entry.addNamedResult(appendLoss(entry).getLosses(), "losses");
  entry.finish();
}

static LogicalResult deriveGradient(func::FuncOp model) {
  EntryBuilder entry(model, "gradient");
  net::CrossEntropyOp loss = appendLoss(entry);
  auto lossesType = cast<RankedTensorType>(loss.getLosses().getType());
  Value scale = entry.addArgument(
      "scale", RankedTensorType::get({}, lossesType.getElementType()), 2);
  Value lossGradient =
      net::BroadcastOp::create(entry.builder, entry.loc, lossesType, scale);

  // After the two arguments that were added the model's own follow.
  FailureOr<net::ParameterLayout> layout =
      net::ParameterLayout::get(entry.function);
  if (failed(layout))
    return failure();
  SmallVector<Value> parameters =
      llvm::map_to_vector(layout->getSlots(), [&](const auto &slot) -> Value {
        return entry.function.getArgument(slot.argument);
      });
  FailureOr<SmallVector<Value>> gradients =
      buildGradients(entry.builder, entry.getBlock(), {loss.getLosses()},
                     {lossGradient}, parameters);
  if (failed(gradients))
    return failure();

  entry.addNamedResult(loss.getLosses(), "losses");
  for (auto [slot, gradient] : llvm::zip_equal(layout->getSlots(), *gradients))
    entry.addResult(gradient, net::gradientAttrName,
                    entry.builder.getStringAttr(slot.parameter.getName()));
  entry.finish();
  return success();
}

//===----------------------------------------------------------------------===//
// The distributions of all sites
//===----------------------------------------------------------------------===//

static ArrayAttr nameSources(OpBuilder &builder, size_t closed,
                             bool hasPartial) {
  SmallVector<std::string> names = {"embedding"};
  for (size_t block = 0; block + 1 < closed; ++block)
    names.push_back("block " + std::to_string(block));
  if (hasPartial)
    names.push_back("partial");
  return builder.getStrArrayAttr(
      SmallVector<StringRef>(names.begin(), names.end()));
}

static void addDistribution(EntryBuilder &entry, Value weights, StringAttr site,
                            ArrayAttr groups, ArrayAttr sources) {
  OpBuilder &builder = entry.builder;
  auto description =
      builder.getDictionaryAttr({builder.getNamedAttr("groups", groups),
                                 builder.getNamedAttr("sources", sources)});
  entry.addResult(
      weights, {builder.getNamedAttr(net::nameAttrName, site),
                builder.getNamedAttr(net::distributionAttrName, description)});
}

static void deriveRoutes(func::FuncOp model) {
  EntryBuilder entry(model, "routes");
  OpBuilder &builder = entry.builder;
  auto add = [&](auto read, ArrayAttr groups,
                 function_ref<Value()> makeWeights) {
    if (read.getSiteAttr() && groups)
      addDistribution(entry, makeWeights(), read.getSiteAttr(), groups,
                      nameSources(builder, read.getClosed().size(),
                                  bool(read.getPartial())));
  };
  for (Operation &op : llvm::make_early_inc_range(entry.getBlock()))
    llvm::TypeSwitch<Operation *>(&op)
        .Case<depth::RouteOp, depth::StaticReadOp>([&](auto read) {
          add(read, read.getGroupsAttr(), [&] { return read.getWeights(); });
        })
        .Case([&](depth::FixedReadOp read) {
          StringAttr group = read.getGroupAttr();
          add(read, group ? builder.getArrayAttr({group}) : ArrayAttr(), [&] {
            return depth::FixedDistributionOp::create(
                builder, read.getLoc(), read.getRule(),
                read.getClosed().front(), read.getSources().size());
          });
        });
  entry.finish();
}

//===----------------------------------------------------------------------===//
// Entries over the whole parameter vector
//===----------------------------------------------------------------------===//

static void deriveAccumulate(ModuleOp module, Type vectorType) {
  EntryBuilder entry(module, "accumulate");
  Value total = entry.addArgument("total", vectorType);
  Value gradients = entry.addArgument("gradients", vectorType);
  entry.addUpdate(
      net::AddOp::create(entry.builder, entry.loc, total, gradients), 0);
  entry.finish();
}

static void deriveNorm(ModuleOp module, Type vectorType) {
  EntryBuilder entry(module, "norm");
  Value gradients = entry.addArgument("gradients", vectorType);
  auto type = RankedTensorType::get({}, entry.builder.getF64Type());
  entry.addNamedResult(
      net::SquaredNormOp::create(entry.builder, entry.loc, type, gradients),
      "norm");
  entry.finish();
}

static LogicalResult deriveUpdate(ModuleOp module,
                                  const net::ParameterLayout &layout,
                                  RankedTensorType vectorType) {
  auto train = module->getAttrOfType<DictionaryAttr>(net::trainAttrName);
  auto number = [&](StringRef key) {
    return train ? train.getAs<FloatAttr>(key) : FloatAttr();
  };
  auto betas = train ? train.getAs<ArrayAttr>("betas") : ArrayAttr();
  if (!betas || betas.size() != 2 ||
      !llvm::all_of(betas, llvm::IsaPred<FloatAttr>) ||
      !number("adam_epsilon") || !number("weight_decay"))
    return module.emitError()
           << "expected '" << net::trainAttrName
           << "' with 'betas', 'adam_epsilon' and 'weight_decay' to derive "
              "the entry 'update'";

  EntryBuilder entry(module, "update");
  SmallVector<Value> vectors;
  for (StringRef name :
       {"parameters", "gradients", "first_moment", "second_moment"})
    vectors.push_back(entry.addArgument(name, vectorType));
  Value scalars = entry.addArgument(
      "scalars", RankedTensorType::get({4}, vectorType.getElementType()));
  auto update = net::AdamWOp::create(
      entry.builder, entry.loc, vectors[0], vectors[1], vectors[2], vectors[3],
      scalars, cast<FloatAttr>(betas[0]), cast<FloatAttr>(betas[1]),
      number("adam_epsilon"), number("weight_decay"),
      entry.builder.getI64IntegerAttr(layout.getMatrixElements()));
  entry.addUpdate(update.getNewParameters(), 0);
  entry.addUpdate(update.getNewFirstMoment(), 2);
  entry.addUpdate(update.getNewSecondMoment(), 3);
  entry.finish();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult DeriveEntries::derive(func::FuncOp model, StringRef name) {
  ModuleOp module = getOperation();
  FailureOr<net::ParameterLayout> layout = net::ParameterLayout::get(model);
  if (failed(layout))
    return failure();
  auto vectorType = [&] {
    return RankedTensorType::get({layout->getElements()},
                                 layout->getElementType());
  };

  if (name == "logits")
    return deriveLogits(model), success();
  if (name == "loss")
    return deriveLoss(model), success();
  if (name == "routes")
    return deriveRoutes(model), success();
  if (name == "gradient")
    return deriveGradient(model);
  if (layout->getElements() == 0)
    return model.emitOpError()
           << "expected parameters for the entry '" << name << "'";
  if (name == "accumulate")
    return deriveAccumulate(module, vectorType()), success();
  if (name == "norm")
    return deriveNorm(module, vectorType()), success();
  if (name == "update")
    return deriveUpdate(module, *layout, vectorType());
  return module.emitError()
         << "expected one of the entries 'logits', 'loss', 'gradient', "
            "'routes', 'accumulate', 'norm' and 'update', got '"
         << name << "'";
}

void DeriveEntries::runOnOperation() {
  ModuleOp module = getOperation();
  auto model = module.lookupSymbol<func::FuncOp>("model");
  if (!model || model.isExternal() || !model.getBody().hasOneBlock()) {
    module.emitError() << "expected a function '@model' of straight-line code";
    return signalPassFailure();
  }
  auto isIds = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 2 &&
           tensor.getElementType().isInteger(32);
  };
  auto isLogits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 3 &&
           isa<FloatType>(tensor.getElementType());
  };
  if (model.getNumArguments() == 0 || !isIds(model.getArgumentTypes()[0]) ||
      model.getNumResults() != 1 || !isLogits(model.getResultTypes()[0])) {
    model.emitOpError() << "expected the type (tensor<BxTxi32>, parameters…) "
                           "-> tensor<BxTxVx…>, got "
                        << model.getFunctionType();
    return signalPassFailure();
  }
  for (const std::string &name : entries)
    if (failed(derive(model, name)))
      return signalPassFailure();
  if (!keepModel)
    model.erase();
}
