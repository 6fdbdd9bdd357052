//===- ExternalTool.cpp - Other programs that make files ---------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExternalTool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace isobath;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

std::string isobath::inFolder(StringRef folder, StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static Error failAt(const llvm::Twine &path, std::error_code error) {
  return llvm::createStringError(path + ": " + error.message());
}

Expected<std::string> isobath::readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failAt(path, buffer.getError());
  return (*buffer)->getBuffer().str();
}

Error isobath::writeFile(StringRef path, StringRef contents) {
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

Expected<TemporaryFolder> TemporaryFolder::create() {
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("isobath", folder))
    return failAt("a temporary folder", error);
  return TemporaryFolder(folder.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (!path.empty())
    (void)llvm::sys::fs::remove_directories(path);
}

/// The line of a program's messages that says most.
static StringRef findComplaint(StringRef messages) {
  llvm::SmallVector<StringRef> lines;
  messages.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.contains("error"))
      return line;
  return lines.empty() ? "it says nothing" : lines.front();
}

Error isobath::runTool(StringRef kind, const TemporaryFolder &folder,
                       llvm::ArrayRef<std::string> command) {
  llvm::SmallVector<StringRef> arguments(command.begin(), command.end());
  std::string messages = folder.file("messages");
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
    return llvm::createStringError(kind + ": " + command.front() +
                                   " cannot be run: " + failure);
  Expected<std::string> text = readFile(messages);
  if (!text)
    return text.takeError();
  return llvm::createStringError(kind + ": " + command.front() +
                                 " failed with status " + llvm::Twine(status) +
                                 ": " + findComplaint(*text));
}
