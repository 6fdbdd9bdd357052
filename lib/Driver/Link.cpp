//===- Link.cpp - From an object to a training binary ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Link.h"
#include "ExternalTool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace isobath;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// In the order in which the linker resolves them: each needs the later ones.
static constexpr llvm::StringLiteral archiveNames[] = {
    "libIsobathMain.a", "libIsobathCommands.a", "libIsobathCpu.a",
    "libIsobathCpuSizes.a", "libIsobathRuntime.a"};

Expected<std::string>
isobath::findLinker(const std::vector<std::string> &candidates) {
  for (const std::string &name : candidates)
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError(
      "linker: given no C++ compiler in PATH, expected one of " +
      llvm::join(candidates, ", ") + "; --linker names another");
}

Expected<std::string> isobath::findArchives() {
  static const char anchor = 0; // an address of this program
  std::string program =
      llvm::sys::fs::getMainExecutable(nullptr, const_cast<char *>(&anchor));
  StringRef prefix =
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(program));
  std::string archives = inFolder(prefix, "lib");
  for (StringRef name : archiveNames)
    if (!llvm::sys::fs::exists(inFolder(archives, name)))
      return llvm::createStringError(
          archives + ": given no " + name +
          ", expected the runtime's archives beside this program");
  return archives;
}

Expected<std::string> isobath::linkTrainingBinary(StringRef object,
                                                  const LinkOptions &options) {
  llvm::ErrorOr<std::string> linker =
      llvm::sys::findProgramByName(options.linker);
  if (!linker || !llvm::sys::fs::can_execute(*linker))
    return llvm::createStringError("linker: given '" + options.linker +
                                   "', expected a C++ compiler that can be "
                                   "run");
  Expected<TemporaryFolder> folder = TemporaryFolder::create();
  if (!folder)
    return folder.takeError();
  std::string objectPath = folder->file("unit.o");
  std::string program = folder->file("program");
  if (Error error = writeFile(objectPath, object))
    return error;
  std::vector<std::string> command{*linker, "-o", program, objectPath};
  for (StringRef name : archiveNames)
    command.push_back(inFolder(options.archives, name));
  llvm::append_range(command, options.arguments);
  if (Error error = runTool("linker", *folder, command))
    return error;
  return readFile(program);
}
