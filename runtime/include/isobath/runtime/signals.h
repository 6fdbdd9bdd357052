//===- signals.h - Being asked to stop ------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SIGINT and SIGTERM end the process at once, with status 130 or 143, except
// while a DeferredStop lives: then the first one is only noted, so that a run
// can finish its step and save it, and the second one ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_SIGNALS_H
#define ISOBATH_RUNTIME_SIGNALS_H

#include <string_view>

namespace isobath::runtime {

/// Makes both signals behave as above. Called once, early in main().
void installStopHandlers();

class DeferredStop {
public:
  DeferredStop();
  DeferredStop(const DeferredStop &) = delete;
  DeferredStop &operator=(const DeferredStop &) = delete;
  ~DeferredStop();

  /// Whether a signal has come.
  bool requested() const;
  /// Its name: SIGINT or SIGTERM.
  std::string_view signalName() const;
};

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_SIGNALS_H
