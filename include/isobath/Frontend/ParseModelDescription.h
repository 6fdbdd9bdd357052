//===- ParseModelDescription.h - A model description as YAML --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading a model description from text, with every rule checked, and writing
// it back in one canonical form. It reads no files: the caller does.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_PARSEMODELDESCRIPTION_H
#define ISOBATH_FRONTEND_PARSEMODELDESCRIPTION_H

#include "isobath/Frontend/ModelDescription.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace isobath {

/// Reads the model description `text`, the content of the file `fileName`
/// (used in messages and for the default name only).
///
/// `overrides` are settings `key=value` with dotted keys (`train.steps=100`,
/// `model.residual.routes={qk: learned, v: learned}`), applied in order before
/// anything is checked; each value is YAML, and a mapping replaces the whole
/// section.
///
/// The error is one line, `FILE:LINE:COLUMN: key: given X, expected Y`, with
/// lines and columns (in characters) counted from 1, or
/// `--set KEY: key: given X, expected Y` when an override is at fault.
llvm::Expected<ModelDescription>
parseModelDescription(llvm::StringRef text, llvm::StringRef fileName,
                      llvm::ArrayRef<std::string> overrides = {});

/// Writes every key that applies, in a fixed order. Reading the result gives
/// back exactly `description`.
std::string toCanonicalYaml(const ModelDescription &description);

/// The section `train` as JSON, every key filled in.
llvm::json::Object toJson(const TrainSection &train);

/// The shortest decimal form of `value` that reads back as the same number,
/// always with a point or an exponent, as YAML and JSON allow it.
std::string formatNumber(double value);

} // namespace isobath

#endif // ISOBATH_FRONTEND_PARSEMODELDESCRIPTION_H
