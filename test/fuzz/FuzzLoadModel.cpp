//===- FuzzLoadModel.cpp - Any bytes as a module --------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target; start it with a module that `isobath compile
// --emit=model` wrote. Whatever the text is, loading must give one line or a
// model whose source gives it back.
//
//===----------------------------------------------------------------------===//

#include "isobath/Frontend/CheckReport.h"
#include <cstdio>
#include <cstdlib>

using namespace isobath;

static void require(bool holds, const char *what, const std::string &detail) {
  if (holds)
    return;
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

static std::string print(const LoadedModel &model) {
  std::string text;
  llvm::raw_string_ostream(text) << *model.module;
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  llvm::Expected<LoadedModel> model = loadModelText(context, text, "f.mlir");
  if (!model) {
    std::string message = llvm::toString(model.takeError());
    require(!message.empty() && message.find('\n') == std::string::npos,
            "an error of more or less than one line", message);
    return 0;
  }
  toJson(makeCheckReport(*model));
  llvm::Expected<LoadedModel> again =
      loadModelText(context, model->sourceText, "f.mlir");
  if (!again)
    require(false, "its own source refused", llvm::toString(again.takeError()));
  require(print(*again) == print(*model), "another model came back",
          model->sourceText);
  return 0;
}
