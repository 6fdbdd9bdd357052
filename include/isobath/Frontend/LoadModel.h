//===- LoadModel.h - A model from a file, as every command takes it -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model is a description (.yaml, .yml) or a module (.mlir); by its content
// where the file's name has another ending.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_LOADMODEL_H
#define ISOBATH_FRONTEND_LOADMODEL_H

#include "isobath/Frontend/BuildModel.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace isobath {

/// How a model is loaded.
struct LoadOptions {
  /// B; 0: `train.batch`, or that of a module that does not set it.
  int64_t batch = 0;
  /// Of parameters and arithmetic. Not set: f32 for a description, the type
  /// that it has for a module.
  std::optional<ElementType> elementType;
  /// Settings `key=value`. Only those of `train` can be set in a module.
  std::vector<std::string> overrides;
  /// Replaces `train.seed`.
  std::optional<int64_t> seed;
};

/// A model ready to be compiled.
struct LoadedModel {
  /// Has a function @model of the form that BuildModel.h gives, for the batch
  /// and the element type that were asked for.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  /// The settings of `net.train`, defaults filled in.
  TrainSection train;
  /// What `sourceText` is: `yaml` or `mlir`.
  std::string sourceFormat;
  /// The model as text, all overrides applied: canonical YAML, or the module as
  /// it was before batch and element type were changed.
  std::string sourceText;
};

/// Loads the model in the file `path`. The error is one line: that of
/// parseModelDescription for a description, `FILE:LINE:COLUMN: message` for a
/// module (the first message only), `FILE: message` for a file that cannot be
/// read.
llvm::Expected<LoadedModel> loadModel(mlir::MLIRContext &context,
                                      llvm::StringRef path,
                                      const LoadOptions &options = {});

/// The same for a text; `path` is used in messages and to tell its format.
llvm::Expected<LoadedModel> loadModelText(mlir::MLIRContext &context,
                                          llvm::StringRef text,
                                          llvm::StringRef path,
                                          const LoadOptions &options = {});

/// Loads a module that need not be a model: functions over tensors, in the file
/// `path`. Errors are those of loadModel for a module.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
loadFunctions(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace isobath

#endif // ISOBATH_FRONTEND_LOADMODEL_H
