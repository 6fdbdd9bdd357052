//===- Fibers.cpp - Stacks that code can be left on -----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fibers.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"
#include <sys/mman.h>

#if LLVM_ADDRESS_SANITIZER_BUILD
#include <sanitizer/common_interface_defs.h>
#endif

using namespace isobath::simulator;
namespace context = boost::context::detail;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

llvm::Error FiberStacks::reserve(std::size_t count, std::size_t needed) {
  std::size_t page = llvm::sys::Process::getPageSizeEstimate();
  if (needed > bytes)
    release();
  if (stacks.empty())
    bytes = llvm::alignTo(needed, page);
  while (stacks.size() < count) {
    void *mapped = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "not enough memory for " +
                                         llvm::Twine(count) + " stacks of " +
                                         llvm::Twine(bytes) + " bytes");
    mprotect(mapped, page, PROT_NONE);
    stacks.push_back(static_cast<std::byte *>(mapped) + page);
  }
  return llvm::Error::success();
}

void FiberStacks::release() {
  std::size_t page = llvm::sys::Process::getPageSizeEstimate();
  for (std::byte *stack : stacks)
    munmap(stack - page, bytes + page);
  stacks.clear();
}

//===----------------------------------------------------------------------===//
// Switches
//===----------------------------------------------------------------------===//

/// The sanitizer is told of every switch: the stack that is left keeps `saved`,
/// and `bottom` is that of the other one.
static void beginSwitch([[maybe_unused]] void **saved,
                        [[maybe_unused]] const void *bottom,
                        [[maybe_unused]] std::size_t bytes) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  __sanitizer_start_switch_fiber(saved, bottom, bytes);
#endif
}

static void endSwitch([[maybe_unused]] void *saved,
                      [[maybe_unused]] const void **oldBottom,
                      [[maybe_unused]] std::size_t *oldBytes) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  __sanitizer_finish_switch_fiber(saved, oldBottom, oldBytes);
#endif
}

void Fiber::enter(context::transfer_t from) {
  auto *fiber = static_cast<Fiber *>(from.data);
  endSwitch(nullptr, &fiber->outsideBottom, &fiber->outsideBytes);
  fiber->outside = from.fctx;
  fiber->run(fiber->data);
  llvm_unreachable("a fiber that has ended was resumed");
}

void Fiber::start(const FiberStacks &stacks, std::size_t index,
                  void (*function)(void *), void *argument) {
  bottom = stacks.getBottom(index);
  bytes = stacks.getBytes();
  run = function;
  data = argument;
  fakeStack = nullptr;
  inside = context::make_fcontext(bottom + bytes, bytes, enter);
}

void Fiber::resume() {
  void *saved = nullptr;
  beginSwitch(&saved, bottom, bytes);
  inside = context::jump_fcontext(inside, this).fctx;
  endSwitch(saved, nullptr, nullptr);
}

void Fiber::leave() {
  beginSwitch(&fakeStack, outsideBottom, outsideBytes);
  outside = context::jump_fcontext(outside, this).fctx;
  endSwitch(fakeStack, &outsideBottom, &outsideBytes);
}
