//===- EntryContract.h - The buffers that each entry takes --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of entries in docs/manifest.md as a check.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_DEVICE_ENTRYCONTRACT_H
#define ISOBATH_RUNTIME_DEVICE_ENTRYCONTRACT_H

#include "isobath/runtime/manifest.h"

namespace isobath::runtime {

/// Throws Error when an entry that the runtime knows lacks a buffer, has one
/// that the runtime would not fill, or gives one another type or shape than
/// docs/manifest.md. Entries with other names are not looked at.
void checkEntryContract(const EntrySignature &entry, const Manifest &manifest);

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_DEVICE_ENTRYCONTRACT_H
