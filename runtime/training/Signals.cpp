//===- Signals.cpp - Being asked to stop ----------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handler may only touch lock-free atomics and call _exit().
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/signals.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace isobath::runtime {

static std::atomic<bool> deferring = false;
static std::atomic<int> received = 0;
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

static void handleStop(int signal) {
  if (!deferring || received != 0)
    ::_exit(128 + signal);
  received = signal;
}

void installStopHandlers() {
  struct sigaction action = {};
  action.sa_handler = handleStop;
  // Reads and writes go on: the run finishes its step.
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

DeferredStop::DeferredStop() {
  received = 0;
  deferring = true;
}

DeferredStop::~DeferredStop() { deferring = false; }

bool DeferredStop::requested() const { return received != 0; }

std::string_view DeferredStop::signalName() const {
  return received == SIGINT ? "SIGINT" : "SIGTERM";
}

} // namespace isobath::runtime
