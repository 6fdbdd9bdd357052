//===- RuntimeFunctions.cpp - What compiled kernels call ------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"
#include "Block.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cfenv>
#include <cmath>

using namespace isobath::simulator;

static Thread &toThread(ThreadState *state) {
  return *static_cast<Thread *>(state);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void plainAccess(ThreadState *state, void *address, std::uint32_t site) {
  Thread &thread = toThread(state);
  checkAccess(thread, address, thread.block->launch.sites[site].bytes, site);
}

static void maskedAccess(ThreadState *state, void *address,
                         std::uint64_t elements, std::uint32_t site) {
  Thread &thread = toThread(state);
  const Site &accessed = thread.block->launch.sites[site];
  // All 64 elements are as a vector without a mask.
  checkAccess(thread, address, accessed.bytes, site, elements);
}

static void rangeAccess(ThreadState *state, void *address, std::uint64_t bytes,
                        std::uint32_t site) {
  checkRange(toThread(state), address, bytes, site);
}

static void localAccess(ThreadState *state, const void *address,
                        const void *variable, std::uint64_t variableBytes,
                        std::uint64_t bytes, std::uint32_t site) {
  checkLocal(toThread(state), address, variable, variableBytes, bytes, site);
}

static std::uint32_t memorySpace(ThreadState *state, const void *address) {
  return static_cast<std::uint32_t>(findSpace(toThread(state), address));
}

static void asyncCopy(ThreadState *state, std::byte *shared,
                      const std::byte *global, std::uint32_t bytes,
                      std::uint32_t readBytes, std::uint32_t site) {
  beginAsyncCopy(toThread(state), shared, global, bytes, readBytes, site);
}

static void asyncCommit(ThreadState *state) { ++toThread(state).copyGroup; }

static void asyncWait(ThreadState *state, std::uint32_t groups) {
  waitForCopies(toThread(state), groups);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

static void iteration(ThreadState *state, std::uint32_t site) {
  Thread &thread = toThread(state);
  thread.block->iterate(thread, site);
}

static void warpOperation(ThreadState *state, std::uint32_t site,
                          std::uint32_t operation, std::uint32_t mask,
                          std::uint32_t *words) {
  Thread &thread = toThread(state);
  thread.block->operateWarp(thread, site, static_cast<WarpOperation>(operation),
                            mask, words);
}

static std::uint32_t barrier(ThreadState *state, std::uint32_t site,
                             std::uint32_t id, std::uint32_t count,
                             std::uint32_t kind, std::uint32_t predicate) {
  Thread &thread = toThread(state);
  return thread.block->arriveAtBarrier(
      thread, site, id, count, static_cast<BarrierKind>(kind), predicate != 0);
}

static void division(ThreadState *state, std::uint32_t undefined,
                     std::uint32_t site) {
  if (!undefined)
    return;
  Thread &thread = toThread(state);
  Launch &launch = thread.block->launch;
  launch.find(FindingKind::Division, thread, site,
              "a division by 0, or of the least number by -1");
  launch.stop();
}

static void trap(ThreadState *state, std::uint32_t site) {
  Thread &thread = toThread(state);
  Launch &launch = thread.block->launch;
  launch.find(FindingKind::Trap, thread, site,
              "the kernel stops itself, as after a failed assertion");
  launch.stop();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static int toMode(std::uint32_t rounding) {
  switch (static_cast<Rounding>(rounding)) {
  case Rounding::Nearest:
    return FE_TONEAREST;
  case Rounding::Zero:
    return FE_TOWARDZERO;
  case Rounding::Down:
    return FE_DOWNWARD;
  case Rounding::Up:
    return FE_UPWARD;
  }
  llvm_unreachable("all modes are above");
}

/// Volatile keeps the arithmetic between the changes of the mode.
template <typename Real>
static Real rounded(std::uint32_t operation, std::uint32_t rounding, Real x,
                    Real y, Real z) {
  int before = std::fegetround();
  std::fesetround(toMode(rounding));
  volatile Real a = x, b = y, c = z, result = 0;
  switch (static_cast<RoundedOperation>(operation)) {
  case RoundedOperation::Add:
    result = a + b;
    break;
  case RoundedOperation::Multiply:
    result = a * b;
    break;
  case RoundedOperation::Fma:
    result = std::fma(a, b, c);
    break;
  case RoundedOperation::Divide:
    result = a / b;
    break;
  case RoundedOperation::Sqrt:
    result = std::sqrt(a);
    break;
  }
  std::fesetround(before);
  return result;
}

/// prmt.b32: every hexadecimal digit of the selector picks a byte of {b, a}, or
/// with its highest bit the sign of one.
static std::uint32_t permuteBytes(std::uint32_t a, std::uint32_t b,
                                  std::uint32_t selector) {
  std::uint64_t bytes = a | std::uint64_t(b) << 32;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    std::uint32_t digit = selector >> (4 * i) & 15;
    std::uint8_t byte = bytes >> (8 * (digit & 7));
    if (digit & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= std::uint32_t(byte) << (8 * i);
  }
  return result;
}

/// What LLVM calls to round f32 to bf16 where the processor has no instruction
/// for it, or none that keeps subnormals. The result is in the low half of the
/// register that an f32 would be in.
static float truncateToBf16(float value) {
  std::uint32_t bits = llvm::bit_cast<std::uint32_t>(value);
  bool isNan = (bits & 0x7fffffff) > 0x7f800000;
  std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return llvm::bit_cast<float>((isNan ? bits | 0x400000 : rounded) >> 16);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

template <typename Signature> static void *toPointer(Signature *function) {
  return reinterpret_cast<void *>(function);
}

static float rsqrt32(float x) { return 1 / std::sqrt(x); }
static double rsqrt64(double x) { return 1 / std::sqrt(x); }

namespace {
struct LibdeviceFunction {
  llvm::StringRef name;
  void *function;
};
} // namespace

#define ISOBATH_LIBDEVICE(NAME)                                                \
  {"__nv_" #NAME "f", toPointer<float(float)>(NAME##f)}, {                     \
    "__nv_" #NAME, toPointer<double(double)>(NAME)                             \
  }
#define ISOBATH_LIBDEVICE2(NAME)                                               \
  {"__nv_" #NAME "f", toPointer<float(float, float)>(NAME##f)}, {              \
    "__nv_" #NAME, toPointer<double(double, double)>(NAME)                     \
  }

/// Those that MLIR lowers its math dialect to.
static const LibdeviceFunction libdevice[] = {
    ISOBATH_LIBDEVICE(exp),
    ISOBATH_LIBDEVICE(exp2),
    ISOBATH_LIBDEVICE(expm1),
    ISOBATH_LIBDEVICE(log),
    ISOBATH_LIBDEVICE(log2),
    ISOBATH_LIBDEVICE(log10),
    ISOBATH_LIBDEVICE(log1p),
    ISOBATH_LIBDEVICE(sin),
    ISOBATH_LIBDEVICE(cos),
    ISOBATH_LIBDEVICE(tan),
    ISOBATH_LIBDEVICE(asin),
    ISOBATH_LIBDEVICE(acos),
    ISOBATH_LIBDEVICE(atan),
    ISOBATH_LIBDEVICE(sinh),
    ISOBATH_LIBDEVICE(cosh),
    ISOBATH_LIBDEVICE(tanh),
    ISOBATH_LIBDEVICE(asinh),
    ISOBATH_LIBDEVICE(acosh),
    ISOBATH_LIBDEVICE(atanh),
    ISOBATH_LIBDEVICE(cbrt),
    ISOBATH_LIBDEVICE(erf),
    ISOBATH_LIBDEVICE(erfc),
    ISOBATH_LIBDEVICE(sqrt),
    ISOBATH_LIBDEVICE(fabs),
    ISOBATH_LIBDEVICE(floor),
    ISOBATH_LIBDEVICE(ceil),
    ISOBATH_LIBDEVICE(round),
    ISOBATH_LIBDEVICE(rint),
    ISOBATH_LIBDEVICE(trunc),
    ISOBATH_LIBDEVICE2(pow),
    ISOBATH_LIBDEVICE2(atan2),
    ISOBATH_LIBDEVICE2(fmod),
    ISOBATH_LIBDEVICE2(copysign),
    ISOBATH_LIBDEVICE2(fmin),
    ISOBATH_LIBDEVICE2(fmax),
    {"__nv_fmaf", toPointer<float(float, float, float)>(fmaf)},
    {"__nv_fma", toPointer<double(double, double, double)>(fma)},
    {"__nv_rsqrtf", toPointer(rsqrt32)},
    {"__nv_rsqrt", toPointer(rsqrt64)},
    {"__nv_fast_expf", toPointer<float(float)>(expf)},
    {"__nv_fast_logf", toPointer<float(float)>(logf)},
    {"__nv_fast_log2f", toPointer<float(float)>(log2f)},
    {"__nv_fast_log10f", toPointer<float(float)>(log10f)},
    {"__nv_fast_sinf", toPointer<float(float)>(sinf)},
    {"__nv_fast_cosf", toPointer<float(float)>(cosf)},
    {"__nv_fast_tanf", toPointer<float(float)>(tanf)},
    {"__nv_fast_powf", toPointer<float(float, float)>(powf)},
};

#undef ISOBATH_LIBDEVICE
#undef ISOBATH_LIBDEVICE2

namespace isobath::simulator {
void *findLibdeviceFunction(llvm::StringRef name) {
  for (const LibdeviceFunction &entry : libdevice)
    if (entry.name == name)
      return entry.function;
  return nullptr;
}
} // namespace isobath::simulator

std::vector<std::pair<llvm::StringRef, void *>>
isobath::simulator::getRuntimeFunctions() {
  std::vector<std::pair<llvm::StringRef, void *>> table = {
      {functions::access, toPointer(plainAccess)},
      {functions::maskedAccess, toPointer(maskedAccess)},
      {functions::rangeAccess, toPointer(rangeAccess)},
      {functions::localAccess, toPointer(localAccess)},
      {functions::division, toPointer(division)},
      {functions::iteration, toPointer(iteration)},
      {functions::warpOperation, toPointer(warpOperation)},
      {functions::barrier, toPointer(barrier)},
      {functions::asyncCopy, toPointer(asyncCopy)},
      {functions::asyncCommit, toPointer(asyncCommit)},
      {functions::asyncWait, toPointer(asyncWait)},
      {functions::memorySpace, toPointer(memorySpace)},
      {functions::trap, toPointer(trap)},
      {functions::rounded32, toPointer(&rounded<float>)},
      {functions::rounded64, toPointer(&rounded<double>)},
      {functions::permuteBytes, toPointer(permuteBytes)},
      {"__truncsfbf2", toPointer(truncateToBf16)},
  };
  for (const LibdeviceFunction &entry : libdevice)
    table.push_back({entry.name, entry.function});
  return table;
}
