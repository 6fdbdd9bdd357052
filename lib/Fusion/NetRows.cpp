//===- NetRows.cpp - What every net operation does to a row -------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op, in the order of the op definitions. Each follows the
// formula in the op's documentation; products and attention are a library's.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Fusion/RowKernelOpInterface.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace isobath::net;
using namespace isobath::fusion;

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}
static int64_t channels(Value value) {
  return tensorType(value).getShape().back();
}
/// The rows of `width` elements that a tensor consists of.
static int64_t countRows(Value value, int64_t width) {
  return tensorType(value).getNumElements() / width;
}

/// A width for rows of a tensor in which only the order of elements matters:
/// the last axis of activations and matrices, otherwise the largest chunk, of
/// whole cache lines if possible, that cuts both the tensor and its first
/// `also` elements into equal parts.
static int64_t chooseWidth(Value value, int64_t also = 0) {
  constexpr int64_t largestChunk = 4096, line = 16;
  int64_t rank = tensorType(value).getRank();
  if (rank == 2 || rank == 3)
    return channels(value);
  int64_t elements = std::gcd(tensorType(value).getNumElements(), also);
  int64_t step = elements % line == 0 ? line : 1;
  int64_t width = std::min(elements, largestChunk);
  while (elements % width != 0)
    width -= step;
  return width;
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

static void embedding(EmbeddingOp op, RowBuilder &k) {
  int64_t D = channels(op.getTable());
  k.setRows(countRows(op.getOutput(), D));
  Matrix table = k.matrix("table", op.getTable(), D);
  Scalars ids = k.scalars("ids", op.getIds());
  Matrix output = k.matrixOutput("output", op.getOutput(), D);
  output.store(table[ids.loadId(k.index(0))].load());
}

// A row is an id: its tokens are order[starts[id]] … order[starts[id + 1] − 1].
static void embeddingAdjoint(EmbeddingAdjointOp op, RowBuilder &k) {
  OpBuilder builder(op);
  auto groups = GroupTokensOp::create(builder, op.getLoc(), op.getIds(),
                                      builder.getI64IntegerAttr(op.getRows()));
  int64_t D = channels(op.getGradient());
  k.setRows(op.getRows());
  Matrix gradient = k.matrix("gradient", op.getGradient(), D);
  Vector starts = k.vector("starts", groups.getStarts());
  Vector order = k.vector("order", groups.getOrder());
  Matrix tableGradient =
      k.matrixOutput("table_gradient", op.getTableGradient(), D);
  Index id = k.row();
  Row total =
      k.carry(starts.id(id), starts.id(id + 1), k.filled(k.constant(0.0), D),
              [&](Index j, ArrayRef<Row> sum) -> SmallVector<Row> {
                return {sum[0] + gradient[order.id(j)].load()};
              })[0];
  tableGradient.store(total);
}

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

/// 1 / sqrt(mean(x²) + epsilon)
static Number reciprocalRms(RowBuilder &k, Row x, const APFloat &epsilon) {
  return rsqrt(dot(x, x) / k.constant(x.width()) +
               k.constant(epsilon.convertToDouble()));
}

static void rmsNorm(RMSNormOp op, RowBuilder &k) {
  int64_t n = channels(op.getWeight());
  k.setRows(countRows(op.getInput(), n));
  Matrix input = k.matrix("x", op.getInput(), n);
  Vector weight = k.vector("weight", op.getWeight());
  Matrix output = k.matrixOutput("y", op.getOutput(), n);
  Row x = input.load();
  Number rstd = reciprocalRms(k, x, op.getEpsilon());
  output.store(x * rstd * weight.load());
}

static void rmsNormAdjoint(RMSNormAdjointOp op, RowBuilder &k) {
  int64_t n = channels(op.getWeight());
  k.setRows(countRows(op.getInput(), n));
  Matrix input = k.matrix("x", op.getInput(), n);
  Vector weight = k.vector("weight", op.getWeight());
  Matrix gradient = k.matrix("g", op.getGradient(), n);
  Matrix inputGradient = k.matrixOutput("gx", op.getInputGradient(), n);
  Sum weightGradient = k.sumOutput("gweight", op.getWeightGradient());
  Row x = input.load(), g = gradient.load();
  Row a = g * weight.load();
  Number rstd = reciprocalRms(k, x, op.getEpsilon());
  Number shrink = rstd * rstd * rstd * dot(a, x) / k.constant(n);
  inputGradient.store(rstd * a - x * shrink);
  weightGradient.add(g * x * rstd);
}

//===----------------------------------------------------------------------===//
// Rotary position embedding
//===----------------------------------------------------------------------===//

/// cos φ for i < d/2, then sin φ, of every position: [T, d].
static void fillAngles(double base, int64_t T, int64_t d,
                       MutableArrayRef<float> angles) {
  int64_t half = d / 2;
  for (int64_t i = 0; i < half; ++i) {
    double frequency = std::exp(-2.0 / d * i * std::log(base));
    for (int64_t t = 0; t < T; ++t) {
      angles[t * d + i] = static_cast<float>(std::cos(t * frequency));
      angles[t * d + half + i] = static_cast<float>(std::sin(t * frequency));
    }
  }
}

// A row is one head of one token.
static void rotary(RotaryOp op, RowBuilder &k) {
  int64_t heads = op.getHeads(), d = channels(op.getInput()) / heads;
  int64_t T = tensorType(op.getInput()).getDimSize(1), half = d / 2;
  k.setRows(countRows(op.getInput(), d));
  Matrix input = k.matrix("x", op.getInput(), d);
  double base = op.getBase().convertToDouble();
  Matrix angles = k.table(
      "angles", op.getBaseAttr(), {T, d},
      [&](MutableArrayRef<float> values) { fillAngles(base, T, d, values); });
  Matrix output = k.matrixOutput("y", op.getOutput(), d);
  RowPlace angle = angles[k.row() / heads % T];
  Index low = k.index(0), high = k.index(half);
  Row cosine = angle.load(low, half), sine = angle.load(high, half);
  if (op.getInverse())
    sine = -sine;
  Row u = input.load(low, half), v = input.load(high, half);
  output.store(u * cosine - v * sine, low);
  output.store(v * cosine + u * sine, high);
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

static void crossEntropy(CrossEntropyOp op, RowBuilder &k) {
  int64_t V = channels(op.getLogits());
  k.setRows(countRows(op.getLogits(), V));
  Matrix logits = k.matrix("logits", op.getLogits(), V);
  Scalars targets = k.scalars("targets", op.getTargets());
  Scalars losses = k.scalarsOutput("losses", op.getLosses());
  Scalars lse = k.scalarsOutput("lse", op.getLse());
  Index only = k.index(0);
  Row row = logits.load();
  Number largest = maximum(row);
  Number logSumExp = largest + log(sum(exp(row - largest)));
  lse.store(logSumExp, only);
  // A target that does not count reads column 0, which is there.
  Index target = targets.loadId(only);
  Number wanted = first(logits.load(k.clampedToZero(target), 1));
  losses.store(
      k.select(k.isNegative(target), k.constant(0.0), logSumExp - wanted),
      only);
}

static void crossEntropyAdjoint(CrossEntropyAdjointOp op, RowBuilder &k) {
  int64_t V = channels(op.getLogits());
  k.setRows(countRows(op.getLogits(), V));
  Matrix logits = k.matrix("logits", op.getLogits(), V);
  Scalars targets = k.scalars("targets", op.getTargets());
  Scalars lse = k.scalars("lse", op.getLse());
  Scalars gradient = k.scalars("g", op.getGradient());
  Matrix output = k.matrixOutput("glogits", op.getLogitsGradient(), V);
  Index only = k.index(0), target = targets.loadId(only);
  Number g =
      k.select(k.isNegative(target), k.constant(0.0), gradient.load(only));
  Row probability = exp(logits.load() - lse.load(only));
  output.store(g * probability - k.oneHot(target, g, V));
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void elementwise(OpTy op, RowBuilder &k,
                        function_ref<Row(Row, Row)> combine) {
  int64_t width = chooseWidth(op.getOutput());
  k.setRows(countRows(op.getOutput(), width));
  Matrix left = k.matrix("a", op->getOperand(0), width);
  Matrix right = k.matrix("b", op->getOperand(1), width);
  Matrix output = k.matrixOutput("y", op.getOutput(), width);
  output.store(combine(left.load(), right.load()));
}

static void add(AddOp op, RowBuilder &k) {
  elementwise(op, k, [](Row left, Row right) { return left + right; });
}

static void multiply(MultiplyOp op, RowBuilder &k) {
  elementwise(op, k, [](Row left, Row right) { return left * right; });
}

static void scale(ScaleOp op, RowBuilder &k) {
  int64_t width = chooseWidth(op.getOutput());
  k.setRows(countRows(op.getOutput(), width));
  Matrix input = k.matrix("x", op.getInput(), width);
  Number factor = k.parameter("factor", op.getFactorAttr());
  Matrix output = k.matrixOutput("y", op.getOutput(), width);
  output.store(factor * input.load());
}

static void changeType(CastOp op, RowBuilder &k) {
  int64_t width = chooseWidth(op.getOutput());
  k.setRows(countRows(op.getOutput(), width));
  Matrix input = k.matrix("x", op.getInput(), width);
  Matrix output = k.matrixOutput("y", op.getOutput(), width);
  output.store(input.load());
}

static void addVector(AddVectorOp op, RowBuilder &k) {
  int64_t width = channels(op.getInput());
  k.setRows(countRows(op.getInput(), width));
  Matrix input = k.matrix("x", op.getInput(), width);
  Vector vector = k.vector("u", op.getVector());
  Matrix output = k.matrixOutput("y", op.getOutput(), width);
  output.store(input.load() + vector.load());
}

static void sumTokens(SumTokensOp op, RowBuilder &k) {
  int64_t width = channels(op.getInput());
  k.setRows(countRows(op.getInput(), width));
  Matrix input = k.matrix("x", op.getInput(), width);
  Sum output = k.sumOutput("y", op.getOutput());
  output.add(input.load());
}

static void broadcast(BroadcastOp op, RowBuilder &k) {
  int64_t width = chooseWidth(op.getOutput());
  k.setRows(countRows(op.getOutput(), width));
  Vector value = k.vector("value", op.getValue());
  Matrix output = k.matrixOutput("y", op.getOutput(), width);
  output.store(k.filled(value.number(k.index(0)), width));
}

static void swiglu(SwiGLUOp op, RowBuilder &k) {
  elementwise(op, k,
              [](Row gate, Row up) { return gate * sigmoid(gate) * up; });
}

static void swigluAdjoint(SwiGLUAdjointOp op, RowBuilder &k) {
  int64_t width = channels(op.getGate());
  k.setRows(countRows(op.getGate(), width));
  Matrix gates = k.matrix("gate", op.getGate(), width);
  Matrix ups = k.matrix("up", op.getUp(), width);
  Matrix gradient = k.matrix("g", op.getGradient(), width);
  Matrix gateGradient = k.matrixOutput("ggate", op.getGateGradient(), width);
  Matrix upGradient = k.matrixOutput("gup", op.getUpGradient(), width);
  Row gate = gates.load(), up = ups.load(), g = gradient.load();
  Row sigma = sigmoid(gate);
  Number one = k.constant(1.0);
  gateGradient.store(g * up * sigma * (one + gate * (one - sigma)));
  upGradient.store(g * gate * sigma);
}

//===----------------------------------------------------------------------===//
// Optimiser
//===----------------------------------------------------------------------===//

static void squaredNorm(SquaredNormOp op, RowBuilder &k) {
  int64_t width = chooseWidth(op.getInput());
  k.setRows(countRows(op.getInput(), width));
  Matrix input = k.matrix("x", op.getInput(), width);
  Sum output = k.sumOutput("y", op.getOutput());
  Row x = widened(input.load());
  output.add(k.filled(dot(x, x), 1));
}

static void adamw(AdamWOp op, RowBuilder &k) {
  // λ is one number a row: the matrices, which decay, end where a row does.
  int64_t width = chooseWidth(op.getParameters(), op.getDecayElements());
  k.setRows(countRows(op.getParameters(), width));
  Matrix parameters = k.matrix("parameters", op.getParameters(), width);
  Matrix gradient = k.matrix("gradient", op.getGradient(), width);
  Matrix first = k.matrix("first_moment", op.getFirstMoment(), width);
  Matrix second = k.matrix("second_moment", op.getSecondMoment(), width);
  Vector scalars = k.vector("scalars", op.getScalars());
  Matrix newParameters =
      k.matrixOutput("new_parameters", op.getNewParameters(), width);
  Matrix newFirst =
      k.matrixOutput("new_first_moment", op.getNewFirstMoment(), width);
  Matrix newSecond =
      k.matrixOutput("new_second_moment", op.getNewSecondMoment(), width);

  Number learningRate = scalars.number(k.index(0));
  Number clip = scalars.number(k.index(1));
  Number firstCorrection = scalars.number(k.index(2));
  Number secondCorrection = scalars.number(k.index(3));
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  Number lambda = k.select(k.isLess(k.row(), op.getDecayElements() / width),
                           k.constant(op.getWeightDecay().convertToDouble()),
                           k.constant(0.0));

  Row theta = parameters.load();
  Row g = clip * gradient.load();
  Row m = k.constant(beta1) * first.load() + k.constant(1 - beta1) * g;
  Row v = k.constant(beta2) * second.load() + k.constant(1 - beta2) * g * g;
  Row direction =
      (m / firstCorrection) / (sqrt(v / secondCorrection) +
                               k.constant(op.getEpsilon().convertToDouble()));
  newParameters.store(theta - learningRate * (direction + lambda * theta));
  newFirst.store(m);
  newSecond.store(v);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <typename OpTy, void (*Build)(OpTy, RowBuilder &)>
static void attach(MLIRContext *context) {
  OpTy::template attachInterface<RowModel<OpTy, Build>>(*context);
}

void isobath::fusion::registerNetRows(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NetDialect *) {
    attach<CastOp, changeType>(context);
    attach<EmbeddingOp, embedding>(context);
    attach<EmbeddingAdjointOp, embeddingAdjoint>(context);
    attach<RMSNormOp, rmsNorm>(context);
    attach<RMSNormAdjointOp, rmsNormAdjoint>(context);
    attach<RotaryOp, rotary>(context);
    attach<CrossEntropyOp, crossEntropy>(context);
    attach<CrossEntropyAdjointOp, crossEntropyAdjoint>(context);
    attach<AddOp, ::add>(context);
    attach<MultiplyOp, multiply>(context);
    attach<ScaleOp, scale>(context);
    attach<AddVectorOp, addVector>(context);
    attach<SumTokensOp, sumTokens>(context);
    attach<BroadcastOp, ::broadcast>(context);
    attach<SwiGLUOp, swiglu>(context);
    attach<SwiGLUAdjointOp, swigluAdjoint>(context);
    attach<SquaredNormOp, squaredNorm>(context);
    attach<AdamWOp, adamw>(context);
  });
}
