//===- LowerToReference.cpp - Entries as calls of kernels made of plain loops
//===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Planning/BufferizeEntry.h"
#include "isobath/Target/Passes.h"
#include "isobath/Target/Reference/ReferenceOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace isobath {
#define GEN_PASS_DEF_LOWERTOREFERENCE
#include "isobath/Target/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::reference;

#include "isobath/Target/Reference/ReferenceOpInterface.cpp.inc"

namespace {

struct LowerToReference
    : isobath::impl::LowerToReferenceBase<LowerToReference> {
  void runOnOperation() override;
};

/// The kernels of a module: one for each op that computes something else.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : module(module) {}

  /// The kernel for `op`, built when it is first asked for; null, after a
  /// diagnostic, if there is none.
  func::FuncOp get(Operation *op, TypeRange bufferTypes);

  /// The kernel that copies `from`, rounded, to `to`.
  func::FuncOp getCast(Location loc, Value from, Value to);

private:
  func::FuncOp build(Operation *op, TypeRange bufferTypes);

  ModuleOp module;
  llvm::DenseMap<std::tuple<OperationName, DictionaryAttr, FunctionType>,
                 func::FuncOp>
      kernels;
};

} // namespace

/// What an op computes depends on all its attributes but its names in reports.
static DictionaryAttr getMeaning(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (StringRef name : {"site", "group", "groups"})
    attributes.erase(name);
  return attributes.getDictionary(op->getContext());
}

/// The widest arithmetic that any of the buffers asks for.
static FloatType findArithmeticType(MLIRContext *context,
                                    TypeRange bufferTypes) {
  FloatType widest = Float32Type::get(context);
  for (Type type : bufferTypes) {
    FloatType arithmetic =
        net::getArithmeticType(cast<MemRefType>(type).getElementType());
    if (arithmetic.getWidth() > widest.getWidth())
      widest = arithmetic;
  }
  return widest;
}

func::FuncOp KernelTable::get(Operation *op, TypeRange bufferTypes) {
  auto type = FunctionType::get(op->getContext(), bufferTypes, {});
  func::FuncOp &kernel = kernels[{op->getName(), getMeaning(op), type}];
  if (!kernel)
    kernel = build(op, bufferTypes);
  return kernel;
}

func::FuncOp KernelTable::getCast(Location loc, Value from, Value to) {
  auto tensor = [](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    return RankedTensorType::get(type.getShape(), type.getElementType());
  };
  // An op in a block of its own, which says what the kernel computes.
  Block block;
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(&block);
  auto op = net::CastOp::create(builder, loc, tensor(to),
                                block.addArgument(tensor(from), loc));
  return get(op, TypeRange{from.getType(), to.getType()});
}

/// Constants are not ours to give an interface to: all that occur are splats.
static LogicalResult buildConstant(arith::ConstantOp op, LoopBuilder &loops,
                                   Buffer result) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return op.emitOpError()
           << "expected a floating-point constant with one value throughout";
  loops.fill(result,
             loops.constant(splat.getSplatValue<APFloat>().convertToDouble()));
  return success();
}

func::FuncOp KernelTable::build(Operation *op, TypeRange bufferTypes) {
  auto lowerable = dyn_cast<ReferenceOpInterface>(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!lowerable && !constant) {
    op->emitOpError() << "expected an op with a reference lowering";
    return {};
  }
  MLIRContext *context = op->getContext();
  std::string name = ("reference." + op->getName().getStringRef() + "." +
                      std::to_string(kernels.size()))
                         .str();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto kernel = func::FuncOp::create(
      builder, op->getLoc(), name, FunctionType::get(context, bufferTypes, {}));
  kernel.setPrivate();
  Block *block = kernel.addEntryBlock();
  // No two buffers of an entry overlap, so a result aliases nothing.
  for (unsigned index = op->getNumOperands(); index < bufferTypes.size();
       ++index)
    kernel.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());

  builder.setInsertionPointToEnd(block);
  LoopBuilder loops(builder, op->getLoc(),
                    findArithmeticType(context, bufferTypes));
  SmallVector<Buffer> buffers;
  for (Value argument : block->getArguments())
    buffers.emplace_back(loops, argument);
  ArrayRef<Buffer> all(buffers);
  ArrayRef<Buffer> operands = all.take_front(op->getNumOperands());
  ArrayRef<Buffer> results = all.drop_front(op->getNumOperands());
  if (lowerable)
    lowerable.buildLoops(loops, operands, results);
  else if (failed(buildConstant(constant, loops, results.front())))
    return {};
  func::ReturnOp::create(builder, op->getLoc());
  return kernel;
}

/// Whether each element of a result is written once, as it is to be.
static bool writesOnce(Operation *op) {
  return isa<net::CastOp, net::TakeTokensOp, net::JoinTokensOp>(op);
}

/// Other kernels add up in their results, which must not round each time: a
/// bf16 result is computed in f32 and rounded once.
static Value widen(OpBuilder &builder, Location loc, Value result) {
  auto type = cast<MemRefType>(result.getType());
  if (!type.getElementType().isBF16())
    return result;
  return memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), builder.getF32Type()));
}

void LowerToReference::runOnOperation() {
  ModuleOp module = getOperation();
  KernelTable kernels(module);
  auto launch = [&](OpBuilder &builder, Operation *op, ValueRange operands,
                    ValueRange results) -> LogicalResult {
    Location loc = op->getLoc();
    SmallVector<Value> buffers(operands);
    for (Value result : results)
      buffers.push_back(writesOnce(op) ? result : widen(builder, loc, result));
    func::FuncOp kernel = kernels.get(op, ValueRange(buffers).getTypes());
    if (!kernel)
      return failure(); // reported by the table
    func::CallOp::create(builder, loc, kernel, buffers);
    auto wide = ArrayRef(buffers).drop_front(operands.size());
    for (auto [from, to] : llvm::zip_equal(wide, results))
      if (from != to)
        func::CallOp::create(builder, loc, kernels.getCast(loc, from, to),
                             ValueRange{from, to});
    return success();
  };
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      entries.push_back(function);
  for (func::FuncOp entry : entries)
    if (failed(bufferizeEntry(entry, launch)))
      return signalPassFailure();
}
