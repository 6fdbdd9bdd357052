//===- ChunkHead.cpp - The logits of some tokens at a time --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The head is the product that makes logits, and all that reads these. Of the
// logits nothing is left but numbers and rows of D channels a token, and a sum
// over tokens: the gradient of the weight.
//
//===----------------------------------------------------------------------===//

#include "isobath/Dialect/Net/NetOps.h"
#include "isobath/Planning/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace isobath {
#define GEN_PASS_DEF_CHUNKHEAD
#include "isobath/Planning/Passes.h.inc"
} // namespace isobath

using namespace mlir;
using namespace isobath;
using namespace isobath::net;

namespace {

struct ChunkHead : isobath::impl::ChunkHeadBase<ChunkHead> {
  using ChunkHeadBase::ChunkHeadBase;
  void runOnOperation() override;

private:
  void runOnProduct(net::LinearOp product);
};

/// A product and all that reads its logits.
struct Head {
  LinearOp product;
  CrossEntropyOp loss;
  CrossEntropyAdjointOp adjoint; // null: nothing asks for gradients
  CastOp cast;                   // of the logits' gradient; null: none
  SmallVector<LinearInputAdjointOp, 1> inputAdjoints;
  SmallVector<LinearWeightAdjointOp, 1> weightAdjoints;

  SmallVector<Operation *> getOps() const;
};

} // namespace

SmallVector<Operation *> Head::getOps() const {
  SmallVector<Operation *> ops{product, loss};
  if (adjoint)
    ops.push_back(adjoint);
  if (cast)
    ops.push_back(cast);
  ops.append(inputAdjoints.begin(), inputAdjoints.end());
  ops.append(weightAdjoints.begin(), weightAdjoints.end());
  return ops;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// Adds the products that read the logits' gradient; whether nothing else does.
static bool findProducts(Value gradient, Head &head) {
  for (OpOperand &use : gradient.getUses()) {
    if (use.getOperandNumber() != 0)
      return false;
    if (auto product = dyn_cast<LinearInputAdjointOp>(use.getOwner())) {
      head.inputAdjoints.push_back(product);
      continue;
    }
    // A gradient in bf16 would be rounded with each chunk.
    auto product = dyn_cast<LinearWeightAdjointOp>(use.getOwner());
    if (!product ||
        product.getWeightGradient().getType().getElementType().isBF16())
      return false;
    head.weightAdjoints.push_back(product);
  }
  return true;
}

/// The head that `product` begins, if its logits do not leave it. Other
/// products stay as they are.
static std::optional<Head> findHead(LinearOp product) {
  Head head;
  head.product = product;
  for (Operation *user : product->getUsers()) {
    if (auto loss = dyn_cast<CrossEntropyOp>(user); loss && !head.loss)
      head.loss = loss;
    else if (auto adjoint = dyn_cast<CrossEntropyAdjointOp>(user);
             adjoint && !head.adjoint)
      head.adjoint = adjoint;
    else
      return std::nullopt;
  }
  if (!head.loss)
    return std::nullopt;
  if (!head.adjoint)
    return head;
  if (head.adjoint.getLse() != head.loss.getLse() ||
      head.adjoint.getTargets() != head.loss.getTargets())
    return std::nullopt;
  Value gradient = head.adjoint.getLogitsGradient();
  if (gradient.hasOneUse()) {
    head.cast = dyn_cast<CastOp>(*gradient.user_begin());
    if (head.cast)
      gradient = head.cast.getOutput();
  }
  if (!findProducts(gradient, head))
    return std::nullopt;
  return head;
}

/// The place where all that the head reads is there and nothing that it makes
/// has been read, or null.
static Operation *findPlace(const Head &head) {
  SmallVector<Operation *> ops = head.getOps();
  Operation *last = *llvm::max_element(
      ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (!llvm::is_contained(ops, user) && user->isBeforeInBlock(last))
        return nullptr;
  return last;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The tokens of a chunk; at least as many as there are: no chunks.
static int64_t chooseSize(int64_t tokens, int64_t vocabulary) {
  // Much less than the model, and more than the caches hold.
  constexpr int64_t chunkBytes = int64_t(32) << 20;
  // With every chunk the weight is read twice, and its gradient read and
  // written. On two cores with AVX2, D = 768 and V = 50,257, the products take
  // 1 % longer with chunks of 256 tokens, 13 % with 128, and 36 % with 64.
  constexpr int64_t fewest = 256;
  // Rows that the library's kernels take at a time.
  constexpr int64_t step = 64;
  constexpr int64_t logitBytes = sizeof(float);
  auto fitting = static_cast<int64_t>(
      llvm::alignDown(chunkBytes / logitBytes / vocabulary, step));
  int64_t most = std::max(fewest, fitting);
  // As few as that makes, of the same size.
  int64_t count = llvm::divideCeil(tokens, most);
  return llvm::alignTo(llvm::divideCeil(tokens, count), step);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// The head, chunk by chunk, in front of `place`.
class HeadChunks {
public:
  HeadChunks(Head &head, Operation *place)
      : head(head), builder(place), inputGradients(head.inputAdjoints.size()) {
    for (LinearWeightAdjointOp adjoint : head.weightAdjoints)
      sums.push_back(adjoint.getSum());
  }

  void add(int64_t first, int64_t count);
  /// Puts what the chunks made in the place of what the head made.
  void finish();

private:
  Value take(Value whole) {
    Value &part = taken[whole];
    if (!part)
      part = TakeTokensOp::create(builder, whole.getLoc(), whole, first, count);
    return part;
  }
  /// `type` with the chunk's tokens.
  Type ofChunk(RankedTensorType type) {
    return type.clone({1, count, type.getShape().back()});
  }
  void addAdjoint(Value logits, Value targets, Value lse);
  void join(Value whole, ValueRange parts);

  Head &head;
  OpBuilder builder;
  int64_t first = 0, count = 0;       // the chunk's tokens
  llvm::DenseMap<Value, Value> taken; // by what of
  SmallVector<Value> losses, lse;
  SmallVector<SmallVector<Value>> inputGradients; // of each product
  SmallVector<Value> sums;                        // likewise
};
} // namespace

void HeadChunks::add(int64_t firstToken, int64_t tokens) {
  first = firstToken;
  count = tokens;
  taken.clear();
  LinearOp product = head.product;
  auto logits = LinearOp::create(builder, product.getLoc(),
                                 ofChunk(product.getOutput().getType()),
                                 take(product.getInput()), product.getWeight());
  Value targets = take(head.loss.getTargets());
  auto loss =
      CrossEntropyOp::create(builder, head.loss.getLoc(), logits, targets);
  losses.push_back(loss.getLosses());
  lse.push_back(loss.getLse());
  if (head.adjoint)
    addAdjoint(logits, targets, loss.getLse());
}

void HeadChunks::addAdjoint(Value logits, Value targets, Value lse) {
  CrossEntropyAdjointOp adjoint = head.adjoint;
  Value gradient =
      CrossEntropyAdjointOp::create(builder, adjoint.getLoc(), logits, targets,
                                    lse, take(adjoint.getGradient()));
  if (CastOp cast = head.cast)
    gradient = CastOp::create(builder, cast.getLoc(),
                              ofChunk(cast.getOutput().getType()), gradient);
  for (auto [product, parts] :
       llvm::zip_equal(head.inputAdjoints, inputGradients))
    parts.push_back(LinearInputAdjointOp::create(
        builder, product.getLoc(),
        ofChunk(product.getInputGradient().getType()), gradient,
        product.getWeight()));
  for (auto [product, sum] : llvm::zip_equal(head.weightAdjoints, sums))
    sum = LinearWeightAdjointOp::create(
        builder, product.getLoc(), product.getWeightGradient().getType(),
        gradient, take(product.getInput()), sum);
}

void HeadChunks::join(Value whole, ValueRange parts) {
  // What only the head has read is not needed as a whole.
  SmallVector<Operation *> ops = head.getOps();
  if (llvm::all_of(whole.getUsers(), [&](Operation *user) {
        return llvm::is_contained(ops, user);
      }))
    return;
  int64_t sequences = cast<RankedTensorType>(whole.getType()).getDimSize(0);
  whole.replaceAllUsesWith(
      JoinTokensOp::create(builder, whole.getLoc(), parts, sequences));
}

void HeadChunks::finish() {
  join(head.loss.getLosses(), losses);
  join(head.loss.getLse(), lse);
  for (auto [product, parts] :
       llvm::zip_equal(head.inputAdjoints, inputGradients))
    join(product.getInputGradient(), parts);
  for (auto [product, sum] : llvm::zip_equal(head.weightAdjoints, sums))
    product.getWeightGradient().replaceAllUsesWith(sum);
  SmallVector<Operation *> ops = head.getOps();
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void ChunkHead::runOnProduct(LinearOp product) {
  std::optional<Head> head = findHead(product);
  if (!head)
    return;
  RankedTensorType type = product.getOutput().getType();
  int64_t total = countTokens(type);
  int64_t size =
      tokens > 0 ? tokens : chooseSize(total, type.getShape().back());
  Operation *place = findPlace(*head);
  if (size >= total || !place)
    return;
  HeadChunks chunks(*head, place);
  for (int64_t first = 0; first < total; first += size)
    chunks.add(first, std::min(size, total - first));
  chunks.finish();
}

void ChunkHead::runOnOperation() {
  for (auto entry : getOperation().getOps<func::FuncOp>())
    if (entry.isPublic() && entry.getBody().hasOneBlock())
      for (auto product : llvm::to_vector(entry.getOps<LinearOp>()))
        runOnProduct(product);
}
