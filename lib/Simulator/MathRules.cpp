//===- MathRules.cpp - Intrinsics that compute a number -------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a GPU computes exactly is computed exactly here. Its approximations
// (ex2.approx and the like) become what the C library says, which is closer to
// the true value: results can differ in the last bits.
//
//===----------------------------------------------------------------------===//

#include "RewriteModule.h"
#include "ThreadState.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace isobath::simulator;

namespace {
using Rules = StringMap<MathRule>;
using Emitter = std::function<Value *(IRBuilder<> &, ArrayRef<Value *>)>;
} // namespace

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Subnormal f32 become zeros of their sign, as `ftz` says.
static Value *flush(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  if (!type->getScalarType()->isFloatTy())
    return value;
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value *least = ConstantFP::get(
      type, APFloat::getSmallestNormalized(APFloat::IEEEsingle()));
  Value *zero = builder.CreateBinaryIntrinsic(Intrinsic::copysign,
                                              ConstantFP::getZero(type), value);
  return builder.CreateSelect(builder.CreateFCmpOLT(magnitude, least), zero,
                              value);
}

/// Between 0 and 1; a NaN becomes 0.
static Value *saturate(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  value = builder.CreateBinaryIntrinsic(Intrinsic::maxnum, value,
                                        ConstantFP::getZero(type));
  return builder.CreateBinaryIntrinsic(Intrinsic::minnum, value,
                                       ConstantFP::get(type, 1));
}

static MathRule makeRule(Emitter emit, bool ftz = false, bool sat = false) {
  return [=](IRBuilder<> &builder, CallInst &call) {
    SmallVector<Value *> operands(call.args());
    if (ftz)
      for (Value *&operand : operands)
        operand = flush(builder, operand);
    Value *result = emit(builder, operands);
    if (ftz)
      result = flush(builder, result);
    return sat ? saturate(builder, result) : result;
  };
}

static Emitter unary(Intrinsic::ID id) {
  return [id](IRBuilder<> &builder, ArrayRef<Value *> x) {
    return builder.CreateUnaryIntrinsic(id, x[0]);
  };
}

static Emitter binary(Intrinsic::ID id) {
  return [id](IRBuilder<> &builder, ArrayRef<Value *> x) {
    return builder.CreateBinaryIntrinsic(id, x[0], x[1]);
  };
}

//===----------------------------------------------------------------------===//
// Arithmetic with a rounding mode
//===----------------------------------------------------------------------===//

static Value *emitNearest(IRBuilder<> &builder, RoundedOperation operation,
                          ArrayRef<Value *> x) {
  switch (operation) {
  case RoundedOperation::Add:
    return builder.CreateFAdd(x[0], x[1]);
  case RoundedOperation::Multiply:
    return builder.CreateFMul(x[0], x[1]);
  case RoundedOperation::Fma:
    return builder.CreateIntrinsic(Intrinsic::fma, {x[0]->getType()},
                                   {x[0], x[1], x[2]});
  case RoundedOperation::Divide:
    return builder.CreateFDiv(x[0], x[1]);
  case RoundedOperation::Sqrt:
    return builder.CreateUnaryIntrinsic(Intrinsic::sqrt, x[0]);
  }
  llvm_unreachable("all operations are above");
}

static Emitter rounded(RoundedOperation operation, Rounding rounding) {
  return [=](IRBuilder<> &builder, ArrayRef<Value *> x) -> Value * {
    Type *type = x[0]->getType();
    SmallVector<Value *> operands(x);
    if (operation == RoundedOperation::Divide && x.size() == 1) // rcp
      operands.insert(operands.begin(), ConstantFP::get(type, 1));
    if (rounding == Rounding::Nearest)
      return emitNearest(builder, operation, operands);
    operands.resize(3, ConstantFP::getZero(type));
    SmallVector<Value *> arguments = {
        builder.getInt32(static_cast<std::uint32_t>(operation)),
        builder.getInt32(static_cast<std::uint32_t>(rounding))};
    arguments.append(operands);
    return callRuntime(builder,
                       type->isFloatTy() ? functions::rounded32
                                         : functions::rounded64,
                       type, arguments, /*watches=*/true);
  };
}

static constexpr std::pair<const char *, Rounding> roundings[] = {
    {"rn", Rounding::Nearest},
    {"rz", Rounding::Zero},
    {"rm", Rounding::Down},
    {"rp", Rounding::Up}};

static void addRounded(Rules &rules) {
  using enum RoundedOperation;
  for (auto [name, operation] : {std::pair{"add", Add},
                                 {"mul", Multiply},
                                 {"fma", Fma},
                                 {"div", Divide},
                                 {"rcp", Divide},
                                 {"sqrt", Sqrt}})
    for (auto [mode, rounding] : roundings) {
      std::string base = (Twine(name) + "." + mode).str();
      Emitter emit = rounded(operation, rounding);
      rules[base + ".d"] = makeRule(emit);
      for (bool ftz : {false, true})
        for (bool sat : {false, true})
          rules[base + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f"] =
              makeRule(emit, ftz, sat);
    }
}

//===----------------------------------------------------------------------===//
// Approximations, minima, conversions
//===----------------------------------------------------------------------===//

/// In f32, whatever the operand is.
static Emitter widened(Emitter emit) {
  return [=](IRBuilder<> &builder, ArrayRef<Value *> x) -> Value * {
    Type *type = x[0]->getType();
    if (type->getScalarType()->isFloatTy())
      return emit(builder, x);
    Type *wide = type->getWithNewType(builder.getFloatTy());
    return builder.CreateFPTrunc(emit(builder, builder.CreateFPExt(x[0], wide)),
                                 type);
  };
}

static Value *emitRsqrt(IRBuilder<> &builder, ArrayRef<Value *> x) {
  return builder.CreateFDiv(
      ConstantFP::get(x[0]->getType(), 1),
      builder.CreateUnaryIntrinsic(Intrinsic::sqrt, x[0]));
}

static void addApproximations(Rules &rules) {
  auto add = [&](StringRef name, StringRef suffix, Emitter emit) {
    rules[(name + suffix).str()] = makeRule(emit);
    rules[(name + ".ftz" + suffix).str()] = makeRule(emit, /*ftz=*/true);
  };
  add("ex2.approx", "", widened(unary(Intrinsic::exp2)));
  add("lg2.approx", ".f", unary(Intrinsic::log2));
  add("sin.approx", ".f", unary(Intrinsic::sin));
  add("cos.approx", ".f", unary(Intrinsic::cos));
  add("rsqrt.approx", ".f", emitRsqrt);
  add("sqrt.approx", ".f", unary(Intrinsic::sqrt));
  add("sqrt", ".f", unary(Intrinsic::sqrt));
  Emitter divide = rounded(RoundedOperation::Divide, Rounding::Nearest);
  add("div.approx", ".f", divide);
  add("div.full", "", divide);
  add("rcp.approx", ".f", divide);
  rules["rsqrt.approx.d"] = makeRule(emitRsqrt);
  rules["lg2.approx.d"] = makeRule(unary(Intrinsic::log2));
  add("saturate", ".f", [](IRBuilder<> &builder, ArrayRef<Value *> x) {
    return saturate(builder, x[0]);
  });
}

static void addMinima(Rules &rules) {
  for (auto [name, plain, nan] :
       {std::tuple{"fmin", Intrinsic::minnum, Intrinsic::minimum},
        {"fmax", Intrinsic::maxnum, Intrinsic::maximum}}) {
    rules[(Twine(name) + ".d").str()] = makeRule(binary(plain));
    for (bool ftz : {false, true})
      for (StringRef type : {".f", ".f16", ".f16x2", ".bf16", ".bf16x2"}) {
        std::string base = (Twine(name) + (ftz ? ".ftz" : "")).str();
        rules[(base + type).str()] = makeRule(binary(plain), ftz);
        rules[(base + ".nan" + type).str()] = makeRule(binary(nan), ftz);
      }
  }
  for (StringRef type : {".f", ".d"}) {
    bool isF32 = type == ".f";
    for (auto [name, id] : {std::pair{"fabs", Intrinsic::fabs},
                            {"floor", Intrinsic::floor},
                            {"ceil", Intrinsic::ceil},
                            {"trunc", Intrinsic::trunc},
                            {"round", Intrinsic::roundeven}}) {
      rules[(Twine(name) + type).str()] = makeRule(unary(id));
      if (isF32)
        rules[(Twine(name) + ".ftz" + type).str()] =
            makeRule(unary(id), /*ftz=*/true);
    }
  }
  for (bool ftz : {false, true})
    rules[ftz ? "fabs.ftz" : "fabs"] = makeRule(unary(Intrinsic::fabs), ftz);
}

static Intrinsic::ID getIntegralRounding(Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return Intrinsic::roundeven;
  case Rounding::Zero:
    return Intrinsic::trunc;
  case Rounding::Down:
    return Intrinsic::floor;
  case Rounding::Up:
    return Intrinsic::ceil;
  }
  llvm_unreachable("all modes are above");
}

/// To the integer of the call's type; what does not fit becomes the nearest
/// that does.
static MathRule toInteger(Rounding rounding, bool isSigned, bool ftz) {
  return [=](IRBuilder<> &builder, CallInst &call) -> Value * {
    Value *x = call.getArgOperand(0);
    if (ftz)
      x = flush(builder, x);
    x = builder.CreateUnaryIntrinsic(getIntegralRounding(rounding), x);
    return builder.CreateIntrinsic(isSigned ? Intrinsic::fptosi_sat
                                            : Intrinsic::fptoui_sat,
                                   {call.getType(), x->getType()}, {x});
  };
}

static MathRule fromInteger(bool isSigned) {
  return [=](IRBuilder<> &builder, CallInst &call) {
    Value *x = call.getArgOperand(0);
    return isSigned ? builder.CreateSIToFP(x, call.getType())
                    : builder.CreateUIToFP(x, call.getType());
  };
}

/// To bf16 or f16, one or two; the first operand is the upper half.
static MathRule narrow(bool relu) {
  return [=](IRBuilder<> &builder, CallInst &call) -> Value * {
    Type *scalar = call.getType()->getScalarType();
    auto convert = [&](Value *x) {
      if (relu)
        x = builder.CreateBinaryIntrinsic(Intrinsic::maximum, x,
                                          ConstantFP::getZero(x->getType()));
      return builder.CreateFPTrunc(x, scalar);
    };
    if (call.arg_size() == 1)
      return convert(call.getArgOperand(0));
    Value *pair = PoisonValue::get(call.getType());
    for (unsigned i : {0, 1})
      pair = builder.CreateInsertElement(pair,
                                         convert(call.getArgOperand(1 - i)), i);
    return pair;
  };
}

static void addConversions(Rules &rules) {
  for (auto [mode, rounding] : roundings)
    for (bool isSigned : {true, false}) {
      StringRef u = isSigned ? "" : "u";
      for (StringRef integer : {"i", "ll"}) {
        std::string end = (u + integer + "." + mode).str();
        rules["d2" + end] = toInteger(rounding, isSigned, false);
        rules["f2" + end] = toInteger(rounding, isSigned, false);
        rules["f2" + end + ".ftz"] = toInteger(rounding, isSigned, true);
      }
    }
  for (bool isSigned : {true, false})
    for (StringRef integer : {"i", "ll"})
      for (StringRef type : {"f", "d"})
        rules[((isSigned ? "" : "u") + integer + "2" + type + ".rn").str()] =
            fromInteger(isSigned);
  for (StringRef name :
       {"f2bf16.rn", "ff2bf16x2.rn", "f2f16.rn", "ff2f16x2.rn"}) {
    rules[name] = narrow(false);
    rules[(name + ".relu").str()] = narrow(true);
  }
  auto truncate = [](IRBuilder<> &builder, ArrayRef<Value *> x) {
    return builder.CreateFPTrunc(x[0], builder.getFloatTy());
  };
  rules["d2f.rn"] = makeRule(truncate);
  rules["d2f.rn.ftz"] = makeRule(truncate, /*ftz=*/true);
}

static void addIntegers(Rules &rules) {
  rules["prmt"] = [](IRBuilder<> &builder, CallInst &call) -> Value * {
    return callRuntime(builder, functions::permuteBytes, call.getType(),
                       SmallVector<Value *>(call.args()), /*watches=*/true);
  };
  for (auto [name, isSigned] : {std::pair{"mulhi.i", true},
                                {"mulhi.ui", false},
                                {"mulhi.ll", true},
                                {"mulhi.ull", false}})
    rules[name] = [isSigned](IRBuilder<> &builder, CallInst &call) {
      unsigned bits = call.getType()->getIntegerBitWidth();
      Type *wide = builder.getIntNTy(2 * bits);
      auto widen = [&](Value *x) {
        return isSigned ? builder.CreateSExt(x, wide)
                        : builder.CreateZExt(x, wide);
      };
      Value *product = builder.CreateMul(widen(call.getArgOperand(0)),
                                         widen(call.getArgOperand(1)));
      return builder.CreateTrunc(builder.CreateLShr(product, bits),
                                 call.getType());
    };
}

const StringMap<MathRule> &isobath::simulator::getMathRules() {
  static const Rules rules = [] {
    Rules rules;
    addRounded(rules);
    addApproximations(rules);
    addMinima(rules);
    addConversions(rules);
    addIntegers(rules);
    return rules;
  }();
  return rules;
}
