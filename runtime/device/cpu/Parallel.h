//===- Parallel.h - Loops over threads ------------------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place where threads start. They are libgomp's, because oneDNN brings
// that library, and two OpenMP runtimes in one process would take twice the
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DEVICE_CPU_PARALLEL_H
#define ISOBATH_DEVICE_CPU_PARALLEL_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace isobath::runtime {

/// Calls `body(context, i)` once for each i in 0 … count-1, on threads()
/// threads, in no particular order, and returns when all are done. Which thread
/// takes which i differs from run to run, so a body must depend on i alone. A
/// loop inside a body runs on that body's thread; so does what a body asks of
/// oneDNN.
void parallelForEach(std::int64_t count,
                     void (*body)(void *context, std::int64_t i),
                     void *context);

template <typename Body> void parallelFor(std::int64_t count, Body &&body) {
  parallelForEach(
      count,
      [](void *context, std::int64_t i) {
        (*static_cast<std::remove_reference_t<Body> *>(context))(i);
      },
      &body);
}

/// Memory of the calling thread, aligned to 64 bytes and valid until its next
/// call. It is kept for the thread's life and grows to the largest request, so
/// that repeated work allocates nothing. Ends the process when memory runs out.
void *threadWorkspace(std::size_t bytes);

} // namespace isobath::runtime

#endif // ISOBATH_DEVICE_CPU_PARALLEL_H
