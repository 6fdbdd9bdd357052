//===- LaunchReport.h - What a launch on the simulated device showed ------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Findings are errors of the kernel, counts are what it cost. Neither says how
// long the kernel would take on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_SIMULATOR_LAUNCHREPORT_H
#define ISOBATH_SIMULATOR_LAUNCHREPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace isobath::simulator {

/// Sizes of a grid or block, or the place of a block or thread in one.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  std::uint64_t count() const { return std::uint64_t(x) * y * z; }
  bool operator==(const Dim3 &) const = default;
};

/// `(x, y, z)`
std::string toString(const Dim3 &place);

enum class FindingKind {
  OutOfBounds,       ///< outside of every allocation, or of shared memory
  UseAfterFree,      ///< in an allocation that has been freed
  Misaligned,        ///< not at a multiple of what the instruction needs
  UninitializedRead, ///< of bytes that nothing has written
  SharedRace,        ///< two threads, one of them writes, nothing orders them
  GlobalRace,        ///< the same in global memory, within one launch
  BarrierDivergence, ///< not all threads reach the same barrier
  WarpDivergence,    ///< not all lanes of a mask reach the same operation
  ConstantWrite,     ///< to a variable that is constant
  Division,          ///< of integers, by 0 or with a result that does not fit
  Endless,           ///< a thread's loops do not end
  Trap,              ///< the kernel says itself that something is wrong
};

/// `out-of-bounds`, `shared-race`, … as reports name them.
llvm::StringRef toString(FindingKind kind);

/// One error of a kernel, at the first of its occurrences.
struct Finding {
  FindingKind kind = FindingKind::OutOfBounds;
  std::string message; ///< what happened, without the place
  std::string kernel;
  Dim3 block, thread;
  /// FILE:LINE:COLUMN where the IR has debug locations, else the instruction.
  std::string location;
  std::vector<std::string> notes; ///< one line each
  std::uint64_t occurrences = 1;  ///< at this location
};

/// Accesses of one direction to global memory. A request is one instruction of
/// a warp, a sector 32 bytes.
struct GlobalCounts {
  std::uint64_t bytes = 0; ///< that threads asked for
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  /// What the requests would have taken if their bytes lay together.
  std::uint64_t idealSectors = 0;
};

/// Accesses to shared memory. A wavefront is a pass over its 32 banks.
struct SharedCounts {
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;
  std::uint64_t wavefronts = 0;
  std::uint64_t idealWavefronts = 0; ///< without bank conflicts
};

struct LaunchCounts {
  GlobalCounts loads, stores; ///< atomic operations count as both
  SharedCounts shared;
  /// Sectors at their first access in the launch, as with a cache that holds
  /// everything and is empty at its start: read ones that had not been written,
  /// and written ones.
  std::uint64_t dramBytesRead = 0;
  std::uint64_t dramBytesWritten = 0;
  std::uint64_t barriers = 0;         ///< of blocks, once for each block
  std::uint64_t warpBarriers = 0;     ///< likewise, once for each warp
  std::uint64_t shuffles = 0;         ///< of warps
  std::uint64_t votes = 0;            ///< votes, matches, reductions, elections
  std::uint64_t matrixOperations = 0; ///< of warps: ldmatrix, mma
  std::uint64_t asyncCopies = 0;      ///< of threads
  std::uint64_t atomics = 0;          ///< of threads

  LaunchCounts &operator+=(const LaunchCounts &other);
};

/// What one instruction asked of memory, where that was not ideal.
struct SiteReport {
  std::string location;
  std::string space; ///< `global` or `shared`
  std::uint64_t requests = 0;
  std::uint64_t actual = 0; ///< sectors or wavefronts
  std::uint64_t ideal = 0;
};

struct LaunchReport {
  std::string kernel;
  Dim3 grid, block;
  std::uint64_t staticSharedBytes = 0;
  std::uint64_t dynamicSharedBytes = 0;
  std::uint64_t seed = 0;
  /// Not set if a finding stopped the launch: counts and results are then those
  /// of what had run.
  bool complete = true;
  std::vector<Finding> findings;
  LaunchCounts counts;
  /// Functions of NVIDIA's libdevice that the kernel's module calls and that
  /// were done by the host's C library: without a CUDA toolkit, there would be
  /// no code for a GPU.
  std::vector<std::string> libdeviceFunctions;
  std::vector<SiteReport> sites; ///< the worst first
};

/// One block of lines.
void printFinding(const Finding &finding, llvm::raw_ostream &os);

/// Findings and counts, for people.
void printLaunchReport(const LaunchReport &report, llvm::raw_ostream &os);

llvm::json::Object toJson(const LaunchReport &report);

} // namespace isobath::simulator

#endif // ISOBATH_SIMULATOR_LAUNCHREPORT_H
