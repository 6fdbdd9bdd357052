//===- FuzzModelDescription.cpp - Any bytes as a model description --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. The input is the text of a description and, each behind a
// byte 1, overrides. Whatever it is, the parser must give either one line of
// the promised form or a description that its canonical text gives back.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/ParseModelDescription.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"
#include <cstdio>
#include <cstdlib>

using namespace isobath;
using llvm::StringRef;

static void require(bool holds, const char *what, StringRef detail) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: %s\n", what, detail.str().c_str());
  std::abort();
}

static void checkMessage(StringRef message) {
  static const llvm::Regex form(
      "^(f\\.yaml:[0-9]+:[0-9]+|--set .*): .*: given .+, expected .+$");
  require(form.match(message) && !message.contains('\n'),
          "an error of another form", message);
}

static void checkRoundTrip(const ModelDescription &description) {
  std::string text = toCanonicalYaml(description);
  llvm::Expected<ModelDescription> again =
      parseModelDescription(text, "f.yaml");
  if (!again)
    require(false, "canonical text refused", llvm::toString(again.takeError()));
  require(*again == description, "another description came back", text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef input(reinterpret_cast<const char *>(data), size);
  llvm::SmallVector<StringRef> parts;
  input.split(parts, '\x01');
  std::vector<std::string> overrides;
  for (StringRef part : llvm::ArrayRef(parts).drop_front())
    overrides.push_back(part.str());
  llvm::Expected<ModelDescription> description =
      parseModelDescription(parts.front(), "f.yaml", overrides);
  if (description)
    checkRoundTrip(*description);
  else
    checkMessage(llvm::toString(description.takeError()));
  return 0;
}
