//===- Unit.cpp - A compiled unit, checked and typed ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads what the compiler's lib/Target/EmitUnit.cpp wrote. The order of the
// checks matters: the layout behind magic and version is known only when both
// are right.
//
//===----------------------------------------------------------------------===//

#include "isobath/runtime/unit.h"

#include "isobath/runtime/error.h"

#include <cassert>

namespace isobath::runtime {

void Entry::run(std::span<void *const> buffers) const {
  assert(buffers.size() == shape->buffers.size() &&
         "one pointer for each buffer of the signature");
  function(buffers.data());
  runsOn->finish();
}

static std::string hexadecimal(std::uint64_t value) {
  std::ostringstream stream;
  stream << "0x" << std::hex << value;
  return stream.str();
}

/// The manifest of a unit whose magic and version are right.
static std::string_view checkedManifest(const IsobathUnit *unit) {
  if (!unit)
    fail("compiled unit: given none, expected the symbol ",
         ISOBATH_UNIT_SYMBOL);
  if (unit->magic != ISOBATH_ABI_MAGIC)
    fail("compiled unit: given magic ", hexadecimal(unit->magic), ", expected ",
         hexadecimal(ISOBATH_ABI_MAGIC));
  if (unit->version != ISOBATH_ABI_VERSION)
    fail("compiled unit: given version ", unit->version, ", expected version ",
         ISOBATH_ABI_VERSION, "; compile the model again");
  return {unit->manifest, unit->manifestSize};
}

static IsobathEntryFunction findCode(const IsobathUnit &unit,
                                     const std::string &name) {
  for (std::uint32_t i = 0; i < unit.entryCount; ++i)
    if (unit.entries[i].name == name && unit.entries[i].run)
      return unit.entries[i].run;
  fail("compiled unit: given no code for the entry ", name,
       " of its manifest, expected one");
}

Unit::Unit(const IsobathUnit *unit, std::shared_ptr<void> owner,
           std::shared_ptr<Device> device)
    : owner(std::move(owner)),
      runsOn(device ? std::move(device) : std::make_shared<Device>()),
      description(parseManifest(checkedManifest(unit))) {
  checkCpu(description.cpu);
  for (const EntrySignature &signature : description.entries)
    entries.emplace_back(signature, findCode(*unit, signature.name), *runsOn);
  runsOn->loadCode({unit->deviceCode, unit->deviceCodeSize});
}

void Unit::setTrainSettings(const TrainSettings &settings) {
  description.train = settings;
}

bool Unit::hasEntry(std::string_view name) const {
  for (const Entry &entry : entries)
    if (entry.signature().name == name)
      return true;
  return false;
}

const Entry &Unit::entry(std::string_view name) const {
  std::string known;
  for (const Entry &entry : entries) {
    if (entry.signature().name == name)
      return entry;
    known += (known.empty() ? "" : ", ") + entry.signature().name;
  }
  fail("compiled unit: given no entry ", name, ", expected one of ",
       known.empty() ? "none" : known);
}

} // namespace isobath::runtime
