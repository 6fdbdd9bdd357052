//===- unit.h - A compiled unit, checked and typed ------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ side of abi.h: magic and version are checked before anything else is
// read, the manifest is parsed, and every entry of it is joined to its code.
// Buffers are buffers.h's business.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_RUNTIME_UNIT_H
#define ISOBATH_RUNTIME_UNIT_H

#include "isobath/runtime/abi.h"
#include "isobath/runtime/device.h"
#include "isobath/runtime/manifest.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace isobath::runtime {

/// One entry point.
class Entry {
public:
  Entry(const EntrySignature &signature, IsobathEntryFunction function,
        Device &device)
      : shape(&signature), function(function), runsOn(&device) {}

  const EntrySignature &signature() const { return *shape; }
  Device &device() const { return *runsOn; }
  /// Runs to the end of the device's work. `buffers[i]` is the signature's i-th
  /// buffer, as abi.h demands. Throws the Error of Device::finish().
  void run(std::span<void *const> buffers) const;

private:
  const EntrySignature *shape;
  IsobathEntryFunction function;
  Device *runsOn;
};

/// A loaded unit.
class Unit {
public:
  /// Checks `unit`, which stays valid for as long as `owner` lives (or for the
  /// whole program, where `owner` is null), and gives `device` its code.
  /// Without a device buffers are in the host's memory, as those of CPUs are.
  /// Throws Error on a wrong magic, a wrong version, a wrong manifest, on a
  /// machine that lacks instructions which the unit uses, on an entry without
  /// code, and on code that is not for the device.
  explicit Unit(const IsobathUnit *unit, std::shared_ptr<void> owner = nullptr,
                std::shared_ptr<Device> device = nullptr);
  Unit(const Unit &) = delete;
  Unit &operator=(const Unit &) = delete;

  const Manifest &manifest() const { return description; }
  /// Replaces the settings of a training run: what the command line asked for.
  void setTrainSettings(const TrainSettings &settings);

  Device &device() const { return *runsOn; }

  bool hasEntry(std::string_view name) const;
  /// Throws Error that lists the entries there are.
  const Entry &entry(std::string_view name) const;

private:
  std::shared_ptr<void> owner;
  std::shared_ptr<Device> runsOn;
  Manifest description;
  std::vector<Entry> entries; // one for each of description.entries
};

} // namespace isobath::runtime

#endif // ISOBATH_RUNTIME_UNIT_H
