//===- Link.cpp - From an object to a training binary ---------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/Link.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace isobath;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// In the order in which the linker resolves them: each needs the later ones.
static constexpr llvm::StringLiteral archiveNames[] = {
    "libIsobathMain.a", "libIsobathCommands.a", "libIsobathRuntime.a",
    "libIsobathCpu.a", "libIsobathCpuSizes.a"};

static std::string inFolder(StringRef folder, StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static Error failAt(const llvm::Twine &path, std::error_code error) {
  return llvm::createStringError(path + ": " + error.message());
}

static Expected<std::string> readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failAt(path, buffer.getError());
  return (*buffer)->getBuffer().str();
}

static Error writeFile(StringRef path, StringRef contents) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return failAt(path, error);
  stream << contents;
  stream.close();
  if (stream.has_error()) {
    error = stream.error();
    stream.clear_error();
    return failAt(path, error);
  }
  return Error::success();
}

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

/// The line of a compiler's messages that says most.
static StringRef findComplaint(StringRef messages) {
  llvm::SmallVector<StringRef> lines;
  messages.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.contains("error"))
      return line;
  return lines.empty() ? "it says nothing" : lines.front();
}

/// Runs the compiler in `folder`, whose file "messages" gets what it says.
static Error runLinker(StringRef folder, llvm::ArrayRef<std::string> command) {
  llvm::SmallVector<StringRef> arguments(command.begin(), command.end());
  std::string messages = inFolder(folder, "messages");
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(command.front(), arguments,
                                         /*Env=*/std::nullopt, redirects,
                                         /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &failure);
  if (status == 0)
    return Error::success();
  if (!failure.empty()) // it was not run, or crashed
    return llvm::createStringError("linker: " + command.front() +
                                   " cannot be run: " + failure);
  Expected<std::string> text = readFile(messages);
  if (!text)
    return text.takeError();
  return llvm::createStringError("linker: " + command.front() +
                                 " failed with status " + llvm::Twine(status) +
                                 ": " + findComplaint(*text));
}

Expected<std::string> isobath::linkTrainingBinary(StringRef object,
                                                  const LinkOptions &options) {
  llvm::ErrorOr<std::string> linker =
      llvm::sys::findProgramByName(options.linker);
  if (!linker || !llvm::sys::fs::can_execute(*linker))
    return llvm::createStringError("linker: given '" + options.linker +
                                   "', expected a C++ compiler that can be "
                                   "run");
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("isobath", folder))
    return failAt("a temporary folder", error);
  llvm::scope_exit remove(
      [&] { (void)llvm::sys::fs::remove_directories(folder); });

  std::string objectPath = inFolder(folder, "unit.o");
  std::string program = inFolder(folder, "program");
  if (Error error = writeFile(objectPath, object))
    return error;
  std::vector<std::string> command{*linker, "-o", program, objectPath};
  for (StringRef name : archiveNames)
    command.push_back(inFolder(options.archives, name));
  llvm::append_range(command, options.arguments);
  if (Error error = runLinker(folder, command))
    return error;
  return readFile(program);
}
