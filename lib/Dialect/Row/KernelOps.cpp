//===- KernelOps.cpp - Kernels, and their use on tensors and buffers ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Row/RowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace isobath;
using namespace isobath::row;

//===----------------------------------------------------------------------===//
// Assembly of groups
//===----------------------------------------------------------------------===//

/// Runs `parseOne` for each element of `(a, [b, c], d)`, where brackets make a
/// group, and notes the groups' sizes.
static ParseResult parseGrouped(OpAsmParser &parser, DenseI32ArrayAttr &groups,
                                function_ref<ParseResult()> parseOne) {
  SmallVector<int32_t> sizes;
  auto parseGroup = [&]() -> ParseResult {
    int32_t size = 0;
    auto parseCounted = [&]() -> ParseResult {
      ++size;
      return parseOne();
    };
    ParseResult result = success();
    if (succeeded(parser.parseOptionalLSquare())) {
      if (failed(parser.parseOptionalRSquare()))
        result = failure(parser.parseCommaSeparatedList(parseCounted) ||
                         parser.parseRSquare());
    } else {
      result = parseCounted();
    }
    sizes.push_back(size);
    return result;
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseGroup))
    return failure();
  groups = parser.getBuilder().getDenseI32ArrayAttr(sizes);
  return success();
}

template <typename Range>
static void printGrouped(OpAsmPrinter &printer, Range range,
                         ArrayRef<int32_t> groups) {
  printer << '(';
  llvm::interleaveComma(groups, printer, [&](int32_t size) {
    if (size != 1)
      printer << '[';
    llvm::interleaveComma(range.take_front(size), printer);
    if (size != 1)
      printer << ']';
    range = range.drop_front(size);
  });
  printer << ')';
}

static ParseResult
parseGroups(OpAsmParser &parser,
            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
            DenseI32ArrayAttr &groups) {
  return parseGrouped(parser, groups, [&] {
    return parser.parseOperand(operands.emplace_back());
  });
}

static void printGroups(OpAsmPrinter &printer, Operation *,
                        OperandRange operands, DenseI32ArrayAttr groups) {
  printGrouped(printer, operands, groups);
}

static ParseResult parseGroupTypes(OpAsmParser &parser,
                                   SmallVectorImpl<Type> &types,
                                   DenseI32ArrayAttr &groups) {
  return parseGrouped(parser, groups,
                      [&] { return parser.parseType(types.emplace_back()); });
}

static void printGroupTypes(OpAsmPrinter &printer, Operation *, TypeRange types,
                            DenseI32ArrayAttr groups) {
  printGrouped(printer, types, groups);
}

static ParseResult parseTypes(OpAsmParser &parser,
                              SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] {
    return parser.parseType(types.emplace_back());
  });
}

static void printTypes(OpAsmPrinter &printer, Operation *, TypeRange types) {
  printer << '(';
  llvm::interleaveComma(types, printer);
  printer << ')';
}

/// `f32 of !row.scalars<f32>` would say twice what the second type says.
static ParseResult parseScalarOf(OpAsmParser &parser, Type &scalar,
                                 Type &scalars) {
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseType(scalars))
    return failure();
  auto type = dyn_cast<ScalarsType>(scalars);
  if (!type)
    return parser.emitError(place) << "expected scalars, got " << scalars;
  scalar = type.getElementType();
  return success();
}

static void printScalarOf(OpAsmPrinter &printer, Operation *, Type,
                          Type scalars) {
  printer << scalars;
}

#define GET_OP_CLASSES
#include "isobath/Dialect/Row/RowOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     TypeRange inputs, TypeRange outputs) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getSymVisibilityAttrName(state.name),
                     builder.getStringAttr("private"));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(inputs, outputs)));
  Region *region = state.addRegion();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(inputs);
  llvm::append_range(types, outputs);
  builder.createBlock(region, region->end(), types,
                      SmallVector<Location>(types.size(), state.location));
  ReturnOp::create(builder, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringRef visibility;
  if (succeeded(parser.parseOptionalKeyword(&visibility,
                                            {"public", "private", "nested"})))
    state.addAttribute(getSymVisibilityAttrName(state.name),
                       builder.getStringAttr(visibility));
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments, outputs;
  if (parser.parseSymbolName(name, getSymNameAttrName(state.name),
                             state.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseArrow() ||
      parser.parseArgumentList(outputs, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  auto getType = [](const OpAsmParser::Argument &argument) {
    return argument.type;
  };
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(
                         llvm::map_to_vector(arguments, getType),
                         llvm::map_to_vector(outputs, getType))));
  llvm::append_range(arguments, outputs);
  for (OpAsmParser::Argument &argument : arguments) {
    StringRef argumentName = argument.ssaName.name.drop_front(); // %
    if (!llvm::isDigit(argumentName.front()) && !argument.sourceLoc)
      argument.sourceLoc =
          NameLoc::get(builder.getStringAttr(argumentName),
                       parser.getEncodedSourceLoc(argument.ssaName.location));
  }
  return parser.parseRegion(*state.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << ' ';
  printer.printSymbolName(getSymName());
  auto printArguments = [&](ArrayRef<BlockArgument> arguments) {
    printer << '(';
    llvm::interleaveComma(arguments, printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument);
    });
    printer << ')';
  };
  printArguments(getInputs());
  printer << " -> ";
  printArguments(getOutputs());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getSymVisibilityAttrName(),
                            getFunctionTypeAttrName()});
  printer << ' ';
  printer.printRegion(getBodyRegion(), /*printEntryBlockArgs=*/false);
}

void KernelOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : getArguments())
    if (auto named = dyn_cast<NameLoc>(argument.getLoc()))
      setName(argument, named.getName());
}

LogicalResult KernelOp::verify() {
  for (Type type : getInputTypes()) // C1
    if (!isa<MatrixType, ListType, SharedVectorType, ScalarsType>(type))
      return emitOpError() << "expected inputs that are matrices, lists, "
                              "vectors or scalars, got "
                           << type;
  for (Type type : getOutputTypes()) // C2
    if (!isa<MatrixType, ListType, SumType, ScalarsType>(type))
      return emitOpError() << "expected outputs that are matrices, lists, "
                              "sums or scalars, got "
                           << type;
  SmallVector<Type> types(getInputTypes());
  llvm::append_range(types, getOutputTypes());
  if (!llvm::equal(getBody()->getArgumentTypes(), types))
    return emitOpError() << "expected a body with arguments for "
                         << getFunctionType();
  return success();
}

/// Whether a target knows how to cut rows in `op` (C3).
static bool isAllowed(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !isa<VectorType>(constant.getType()) ||
           isa<SplatElementsAttr>(constant.getValue());
  if (isa<RowDialect, arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<scf::ForOp, scf::YieldOp, vector::StepOp>(op))
    return true;
  if (auto reduction = dyn_cast<vector::ReductionOp>(op))
    return (reduction.getKind() == vector::CombiningKind::ADD ||
            reduction.getKind() == vector::CombiningKind::MAXIMUMF) &&
           !reduction.getAcc();
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return !isa<VectorType>(broadcast.getSourceType());
  if (auto extract = dyn_cast<vector::ExtractOp>(op))
    return !extract.hasDynamicPosition();
  return false;
}

/// Scalars and rows (C4).
static bool isAllowed(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getRank() == 1 && !vector.isScalable()
                : type.isIntOrIndexOrFloat();
}

LogicalResult KernelOp::verifyRegions() {
  WalkResult result = getBodyRegion().walk([](Operation *op) {
    if (!isAllowed(op)) { // C3
      op->emitOpError() << "expected an op that a row.kernel may contain";
      return WalkResult::interrupt();
    }
    for (Type type : op->getResultTypes())
      if (!isAllowed(type)) { // C4
        op->emitOpError() << "expected scalars and rows, got " << type;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

bool KernelOp::readsOwnRow(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [](Operation *user) {
    auto load = dyn_cast<LoadOp>(user);
    return load && !load.getIndex();
  });
}

//===----------------------------------------------------------------------===//
// Calls and launches
//===----------------------------------------------------------------------===//

template <typename Range>
static Range selectGroup(Range range, ArrayRef<int32_t> groups,
                         unsigned position) {
  ArrayRef<int32_t> before = groups.take_front(position);
  unsigned first = std::accumulate(before.begin(), before.end(), 0);
  return range.slice(first, groups[position]);
}

OperandRange CallOp::getInputGroup(unsigned position) {
  return selectGroup(getInputs(), getInputGroups(), position);
}
ResultRange CallOp::getOutputGroup(unsigned position) {
  return selectGroup(getOutputs(), getOutputGroups(), position);
}
OperandRange LaunchOp::getInputGroup(unsigned position) {
  return selectGroup(getInputs(), getInputGroups(), position);
}
OperandRange LaunchOp::getOutputGroup(unsigned position) {
  return selectGroup(getOutputs(), getOutputGroups(), position);
}

SmallVector<SmallVector<Value>> CallOp::copyInputGroups() {
  SmallVector<SmallVector<Value>> groups;
  for (unsigned i = 0; i < getInputGroupCount(); ++i)
    groups.emplace_back(getInputGroup(i));
  return groups;
}

SmallVector<SmallVector<Type>> CallOp::copyOutputGroupTypes() {
  SmallVector<SmallVector<Type>> groups;
  for (unsigned i = 0; i < getOutputGroupCount(); ++i)
    groups.emplace_back(getOutputGroup(i).getTypes());
  return groups;
}

KernelOp CallOp::lookupKernel() {
  return SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
}
KernelOp LaunchOp::lookupKernel() {
  return SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
}

/// Appends the elements of all groups to `flat` and returns the groups' sizes.
template <typename T>
static SmallVector<int32_t> flatten(ArrayRef<SmallVector<T>> groups,
                                    SmallVectorImpl<T> &flat) {
  SmallVector<int32_t> sizes;
  for (const SmallVector<T> &group : groups) {
    sizes.push_back(group.size());
    llvm::append_range(flat, group);
  }
  return sizes;
}

void CallOp::build(OpBuilder &builder, OperationState &state, KernelOp kernel,
                   ArrayRef<SmallVector<Value>> inputs,
                   ArrayRef<SmallVector<Type>> outputs, int64_t rows) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<int32_t> inputGroups = flatten(inputs, operands);
  SmallVector<int32_t> outputGroups = flatten(outputs, types);
  build(builder, state, types, kernel.getSymName(), operands, inputGroups,
        outputGroups, rows, /*repeated=*/false);
}

void LaunchOp::build(OpBuilder &builder, OperationState &state, KernelOp kernel,
                     ArrayRef<SmallVector<Value>> inputs,
                     ArrayRef<SmallVector<Value>> outputs, ValueRange scratch,
                     int64_t rows) {
  SmallVector<Value> read, written;
  SmallVector<int32_t> inputGroups = flatten(inputs, read);
  SmallVector<int32_t> outputGroups = flatten(outputs, written);
  build(builder, state, kernel.getSymName(), read, written, scratch,
        inputGroups, outputGroups, rows);
}

void LaunchOp::build(OpBuilder &builder, OperationState &state, CallOp call,
                     ValueRange inputs, ValueRange outputs,
                     ValueRange scratch) {
  build(builder, state, call.getKernel(), inputs, outputs, scratch,
        call.getInputGroups(), call.getOutputGroups(), call.getRows());
}

void CallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (getRepeated())
    effects.emplace_back(MemoryEffects::Write::get());
}

namespace {
/// What calls and launches ask of their operands and results.
struct UseVerifier {
  Operation *op;
  KernelOp kernel;
  int64_t rows;

  /// Fails unless the shapes of `types`, in `groups`, fit `arguments`.
  LogicalResult verify(StringRef what, ArrayRef<BlockArgument> arguments,
                       ArrayRef<int32_t> groups, TypeRange types) {
    if (groups.size() != arguments.size()) // C1
      return op->emitOpError()
             << "expected " << arguments.size() << ' ' << what << "s for @"
             << kernel.getSymName() << ", got " << groups.size();
    for (auto [position, argument, size] : llvm::enumerate(arguments, groups)) {
      if (size < 0 || static_cast<size_t>(size) > types.size() ||
          (size != 1 && !isa<ListType>(argument.getType()))) // C1
        return op->emitOpError() << "expected one value as " << what << ' '
                                 << position << ", got " << size;
      for (Type type : types.take_front(size))
        if (!fits(argument, cast<ShapedType>(type))) // C3
          return op->emitOpError() << "expected " << what << ' ' << position
                                   << " to fit " << argument.getType() << " of "
                                   << rows << " rows, got " << type;
      types = types.drop_front(size);
    }
    if (!types.empty()) // C1
      return op->emitOpError() << "expected groups of all " << what << "s, got "
                               << types.size() << " more";
    return success();
  }

  bool fits(BlockArgument argument, ShapedType shaped) {
    if (!shaped.hasStaticShape() ||
        shaped.getElementType() != getElementType(argument.getType()))
      return false;
    if (auto memref = dyn_cast<MemRefType>(shaped);
        memref && !memref.getLayout().isIdentity())
      return false;
    int64_t elements = shaped.getNumElements();
    return llvm::TypeSwitch<Type, bool>(argument.getType())
        .Case<MatrixType>([&](MatrixType type) {
          if (kernel.isOutput(argument) || kernel.readsOwnRow(argument))
            return elements == rows * type.getWidth();
          return elements % type.getWidth() == 0;
        })
        .Case<ListType>(
            [&](ListType type) { return elements == rows * type.getWidth(); })
        .Case<SharedVectorType, SumType>([&](auto type) {
          return !type.isWidthKnown() || elements == type.getWidth();
        })
        .Case<ScalarsType>([&](ScalarsType type) {
          return elements % (rows * type.getPlanes()) == 0;
        });
  }
};
} // namespace

/// A verifier for a use of `kernel`, which must be a row.kernel (C1).
static FailureOr<UseVerifier> findKernel(Operation *op,
                                         FlatSymbolRefAttr kernel, int64_t rows,
                                         SymbolTableCollection &symbols) {
  auto found = symbols.lookupNearestSymbolFrom<KernelOp>(op, kernel);
  if (!found)
    return op->emitOpError() << "expected a row.kernel, got " << kernel;
  return UseVerifier{op, found, rows};
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto verifier = findKernel(*this, getKernelAttr(), getRows(), symbols);
  if (failed(verifier) ||
      failed(verifier->verify("operand", verifier->kernel.getInputs(),
                              getInputGroups(), getInputs().getTypes())))
    return failure();
  return verifier->verify("result", verifier->kernel.getOutputs(),
                          getOutputGroups(), getOutputs().getTypes());
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto verifier = findKernel(*this, getKernelAttr(), getRows(), symbols);
  if (failed(verifier) ||
      failed(verifier->verify("input", verifier->kernel.getInputs(),
                              getInputGroups(), getInputs().getTypes())) ||
      failed(verifier->verify("output", verifier->kernel.getOutputs(),
                              getOutputGroups(), getOutputs().getTypes())))
    return failure();
  size_t sums =
      llvm::count_if(verifier->kernel.getOutputTypes(), llvm::IsaPred<SumType>);
  if (!getScratch().empty() && getScratch().size() != sums) // C4
    return emitOpError() << "expected " << sums
                         << " scratch buffers or none, got "
                         << getScratch().size();
  return success();
}
