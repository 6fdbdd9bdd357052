//===- EmitUnit.cpp - The compiled unit that a runtime loads ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's side of runtime/include/isobath/runtime/abi.h. A change here
// or there changes ISOBATH_ABI_VERSION.
//
//===----------------------------------------------------------------------===//

#include "isobath/Target/EmitUnit.h"
#include "isobath/Dialect/Net/ParameterLayout.h"
#include "isobath/runtime/abi.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace isobath;

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::json::Array toJson(ArrayRef<int64_t> shape) {
  return llvm::json::Array(shape);
}

static llvm::json::Value toJson(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().getBoolValue();
    return integer.getInt();
  }
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto string = dyn_cast<StringAttr>(attribute))
    return llvm::json::fixUTF8(string.getValue());
  if (auto array = dyn_cast<ArrayAttr>(attribute)) {
    llvm::json::Array values;
    for (Attribute element : array)
      values.push_back(toJson(element));
    return values;
  }
  return nullptr;
}

static llvm::json::Object toJson(DictionaryAttr dictionary) {
  llvm::json::Object object;
  for (NamedAttribute attribute : dictionary)
    object[attribute.getName().getValue()] = toJson(attribute.getValue());
  return object;
}

static llvm::json::Object describeParameter(const net::ParameterSlot &slot) {
  net::ParameterAttr parameter = slot.parameter;
  llvm::json::Object initial{
      {"kind", net::stringifyInitial(parameter.getInitial())}};
  if (parameter.getInitial() == net::Initial::Normal) {
    initial["std"] = parameter.getStd().getValueAsDouble();
    initial["key"] = parameter.getKey() ? parameter.getKey().getValue()
                                        : parameter.getName();
  }
  return llvm::json::Object{{"name", parameter.getName()},
                            {"shape", toJson(slot.type.getShape())},
                            {"offset", slot.offset},
                            {"initial", std::move(initial)},
                            {"decay", slot.type.getRank() == 2}};
}

FailureOr<llvm::json::Object> isobath::describeModel(ModuleOp module) {
  auto model = module.lookupSymbol<func::FuncOp>("model");
  if (!model || model.getNumArguments() == 0 || model.getNumResults() != 1)
    return module.emitError() << "expected a function '@model'";
  FailureOr<net::ParameterLayout> layout = net::ParameterLayout::get(model);
  if (failed(layout))
    return failure();
  if (layout->getSlots().empty())
    return model.emitOpError() << "expected at least one parameter";
  auto tokens = dyn_cast<RankedTensorType>(model.getArgumentTypes()[0]);
  auto logits = dyn_cast<RankedTensorType>(model.getResultTypes()[0]);
  if (!tokens || tokens.getRank() != 2 || !logits || logits.getRank() != 3)
    return model.emitOpError()
           << "expected tokens [B, T] and logits [B, T, V], "
              "got "
           << model.getFunctionType();

  llvm::json::Array tensors;
  for (const net::ParameterSlot &slot : layout->getSlots())
    tensors.push_back(describeParameter(slot));
  llvm::json::Object manifest{
      {"name", llvm::json::fixUTF8(module.getName().value_or("model"))},
      {"element_type", printType(layout->getElementType())},
      {"vocabulary", logits.getDimSize(2)},
      {"context", tokens.getDimSize(1)},
      {"parameters",
       llvm::json::Object{{"elements", layout->getElements()},
                          {"matrix_elements", layout->getMatrixElements()},
                          {"tensors", std::move(tensors)}}}};
  if (auto train = module->getAttrOfType<DictionaryAttr>(net::trainAttrName))
    manifest["train"] = toJson(train);
  return manifest;
}

static llvm::json::Object describeBuffer(func::FuncOp entry, unsigned index) {
  auto type = cast<MemRefType>(entry.getArgumentTypes()[index]);
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Type elementType = type.getElementType();
  SmallVector<int64_t> shape(type.getShape());
  if (auto vector =
          entry.getArgAttrOfType<TypeAttr>(index, net::vectorOfAttrName)) {
    elementType = vector.getValue();
    shape = {bytes * 8 / elementType.getIntOrFloatBitWidth()};
  }
  llvm::json::Object buffer{
      {"name",
       entry.getArgAttrOfType<StringAttr>(index, net::nameAttrName).getValue()},
      {"type", printType(elementType)},
      {"shape", toJson(shape)},
      {"bytes", bytes}};
  if (auto distribution = entry.getArgAttrOfType<DictionaryAttr>(
          index, net::distributionAttrName)) {
    buffer["kind"] = "distribution";
    buffer["groups"] = toJson(distribution.get("groups"));
    buffer["sources"] = toJson(distribution.get("sources"));
  }
  return buffer;
}

static llvm::json::Object describeEntry(func::FuncOp entry) {
  llvm::json::Array buffers;
  std::optional<int64_t> batch; // of entries that take tokens
  for (unsigned i = 0, e = entry.getNumArguments(); i < e; ++i) {
    auto type = cast<MemRefType>(entry.getArgumentTypes()[i]);
    if (type.getElementType().isInteger(32) && type.getRank() == 2)
      batch = type.getDimSize(0);
    buffers.push_back(describeBuffer(entry, i));
  }
  llvm::json::Object description{{"name", entry.getName()},
                                 {"buffers", std::move(buffers)}};
  if (batch)
    description["batch"] = *batch;
  return description;
}

//===----------------------------------------------------------------------===//
// The unit
//===----------------------------------------------------------------------===//

namespace {
/// Builds the functions and globals of a unit, at the end of its module.
class UnitBuilder {
public:
  explicit UnitBuilder(ModuleOp module)
      : module(module), loc(module.getLoc()), context(module.getContext()),
        builder(OpBuilder::atBlockEnd(module.getBody())), converter(context),
        pointer(LLVM::LLVMPointerType::get(context)), i32(builder.getI32Type()),
        i64(builder.getI64Type()) {}

  LogicalResult build(llvm::json::Object manifest, StringRef deviceCode);

private:
  LLVM::LLVMFuncOp buildEntry(func::FuncOp entry);
  LLVM::GlobalOp buildText(StringRef name, StringRef text);
  void buildEntryTable(StringRef name, ArrayRef<LLVM::LLVMFuncOp> functions,
                       ArrayRef<LLVM::GlobalOp> names, Type entryType);

  Value addressOf(Operation *symbol) {
    return LLVM::AddressOfOp::create(builder, loc, pointer,
                                     SymbolTable::getSymbolName(symbol));
  }
  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  /// A constant struct of `fields`.
  Value pack(Type type, ArrayRef<Value> fields) {
    Value record = LLVM::UndefOp::create(builder, loc, type);
    for (auto [index, field] : llvm::enumerate(fields))
      record = LLVM::InsertValueOp::create(builder, loc, record, field,
                                           static_cast<int64_t>(index));
    return record;
  }

  ModuleOp module;
  Location loc;
  MLIRContext *context;
  OpBuilder builder;
  LLVMTypeConverter converter;
  Type pointer, i32, i64;
};
} // namespace

/// void entry(void *const *buffers): loads the pointers, then runs the body.
LLVM::LLVMFuncOp UnitBuilder::buildEntry(func::FuncOp entry) {
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto function = LLVM::LLVMFuncOp::create(
      builder, entry.getLoc(), ("isobath_entry_" + entry.getName()).str(), type,
      LLVM::Linkage::Internal);
  // One long run of calls, on which the optimiser would spend more time than
  // it could save.
  function.setPassthroughAttr(builder.getStrArrayAttr({"noinline", "optnone"}));

  OpBuilder::InsertionGuard guard(builder);
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> buffers;
  for (auto [index, type] : llvm::enumerate(entry.getArgumentTypes())) {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, pointer,
                            body->getArgument(0), LLVM::GEPArg(index));
    Value buffer = LLVM::LoadOp::create(builder, loc, pointer, address);
    Value descriptor = MemRefDescriptor::fromStaticShape(
        builder, loc, converter, cast<MemRefType>(type), buffer);
    buffers.push_back(
        UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
            .getResult(0));
  }
  Block &old = entry.getBody().front();
  old.getTerminator()->erase();
  for (auto [argument, buffer] : llvm::zip_equal(old.getArguments(), buffers))
    argument.replaceAllUsesWith(buffer);
  body->getOperations().splice(body->end(), old.getOperations());
  builder.setInsertionPointToEnd(body);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  entry.erase();
  return function;
}

LLVM::GlobalOp UnitBuilder::buildText(StringRef name, StringRef text) {
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  return LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                                LLVM::Linkage::Internal, name,
                                builder.getStringAttr(text));
}

void UnitBuilder::buildEntryTable(StringRef name,
                                  ArrayRef<LLVM::LLVMFuncOp> functions,
                                  ArrayRef<LLVM::GlobalOp> names,
                                  Type entryType) {
  auto type = LLVM::LLVMArrayType::get(entryType, functions.size());
  auto table =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&table.getInitializerRegion());
  Value entries = LLVM::UndefOp::create(builder, loc, type);
  for (auto [index, function, text] : llvm::enumerate(functions, names)) {
    Value entry = pack(entryType, {addressOf(text), addressOf(function)});
    entries = LLVM::InsertValueOp::create(builder, loc, entries, entry,
                                          static_cast<int64_t>(index));
  }
  LLVM::ReturnOp::create(builder, loc, entries);
}

LogicalResult UnitBuilder::build(llvm::json::Object manifest,
                                 StringRef deviceCode) {
  llvm::json::Array entries;
  SmallVector<LLVM::LLVMFuncOp> functions;
  SmallVector<LLVM::GlobalOp> names;
  for (auto entry : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (!entry.isPublic())
      continue;
    entries.push_back(describeEntry(entry));
    // With the zero that ends a C string.
    std::string name = entry.getName().str();
    names.push_back(buildText("isobath_name_" + name,
                              StringRef(name.c_str(), name.size() + 1)));
    functions.push_back(buildEntry(entry));
  }
  manifest["entries"] = std::move(entries);
  std::string text =
      llvm::formatv("{0}", llvm::json::Value(std::move(manifest)));
  LLVM::GlobalOp manifestText = buildText("isobath_manifest", text);
  LLVM::GlobalOp code = buildText("isobath_device_code", deviceCode);

  // struct IsobathEntry
  auto entryType =
      LLVM::LLVMStructType::getLiteral(context, {pointer, pointer});
  buildEntryTable("isobath_entries", functions, names, entryType);

  // struct IsobathUnit
  auto unitType = LLVM::LLVMStructType::getLiteral(
      context, {i64, i32, i32, pointer, pointer, i64, pointer, i64});
  auto unit =
      LLVM::GlobalOp::create(builder, loc, unitType,
                             /*isConstant=*/true, LLVM::Linkage::External,
                             ISOBATH_UNIT_SYMBOL, Attribute());
  builder.createBlock(&unit.getInitializerRegion());
  Value record =
      pack(unitType,
           {constant(i64, ISOBATH_ABI_MAGIC),
            constant(i32, ISOBATH_ABI_VERSION), constant(i32, functions.size()),
            addressOf(module.lookupSymbol("isobath_entries")),
            addressOf(manifestText), constant(i64, text.size()),
            addressOf(code), constant(i64, deviceCode.size())});
  LLVM::ReturnOp::create(builder, loc, record);
  return success();
}

LogicalResult isobath::emitUnit(ModuleOp module, llvm::json::Object manifest,
                                StringRef deviceCode) {
  for (auto entry : module.getOps<func::FuncOp>()) {
    if (!entry.isPublic())
      continue;
    for (unsigned i = 0, e = entry.getNumArguments(); i < e; ++i)
      if (!isa<MemRefType>(entry.getArgumentTypes()[i]) ||
          !entry.getArgAttrOfType<StringAttr>(i, net::nameAttrName))
        return entry.emitOpError()
               << "expected a named buffer as argument " << i << ", got "
               << entry.getArgumentTypes()[i];
  }
  return UnitBuilder(module).build(std::move(manifest), deviceCode);
}
