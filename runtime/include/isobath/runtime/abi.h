//===- abi.h - What generated code and the runtime promise each other -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole contract between a compiled unit (JIT-compiled, or linked into a
// training binary) and the runtime. It is plain C. The compiler's side of it is
// lib/Target/EmitUnit.cpp: whoever changes a line here changes that file and
// ISOBATH_ABI_VERSION. The runtime checks magic and version before it touches
// anything else (runtime/device/Unit.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_ABI_H
#define ISOBATH_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The first eight bytes of every unit: "ISOBATH" and a zero, little-endian.
#define ISOBATH_ABI_MAGIC UINT64_C(0x00485441424F5349)

/// Raised whenever a unit made by an older compiler can no longer be run.
#define ISOBATH_ABI_VERSION UINT32_C(2)

/// The alignment, in bytes, of every buffer handed to an entry and of every
/// tensor inside the buffers `parameters`, `gradients` and `arena`.
#define ISOBATH_ABI_ALIGNMENT 64

/// Runs one entry of a unit.
///
/// `buffers[i]` is the i-th buffer that the manifest lists for this entry. The
/// caller allocates all of them in the memory of the unit's device, with at
/// least the bytes that the manifest states, aligned to ISOBATH_ABI_ALIGNMENT;
/// none may be null, and no two may overlap. Contents of `arena` mean nothing
/// before and after the call. The entry keeps no pointer after it returns,
/// allocates nothing, cannot fail, and may be called from any thread, but not
/// twice at once with a shared buffer. What it does it asks of the device
/// (device_calls.h), whose work may go on after it returns.
typedef void (*IsobathEntryFunction)(void *const *buffers);

/// One entry point: a name of the manifest and its code.
typedef struct IsobathEntry {
  const char *name; // zero-terminated
  IsobathEntryFunction run;
} IsobathEntry;

/// A compiled unit. A shared object, an object file or a JIT exports one, under
/// the name ISOBATH_UNIT_SYMBOL. All pointers live as long as the unit.
typedef struct IsobathUnit {
  uint64_t magic;   // ISOBATH_ABI_MAGIC
  uint32_t version; // ISOBATH_ABI_VERSION
  uint32_t entryCount;
  const IsobathEntry *entries; // [entryCount]
  /// A JSON object that describes the model, its parameters, its entries and
  /// their buffers; docs/manifest.md lists the keys. Not zero-terminated.
  const char *manifest;
  uint64_t manifestSize; // bytes
  /// The kernels of a device that is not the CPU, in a form that the device
  /// knows. Of size 0 where entries need none.
  const char *deviceCode;
  uint64_t deviceCodeSize; // bytes
} IsobathUnit;

#define ISOBATH_UNIT_SYMBOL "isobath_unit"

#ifdef __cplusplus
} // extern "C"
#endif

#endif // ISOBATH_RUNTIME_ABI_H
