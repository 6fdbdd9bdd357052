//===- TrainAttribute.h - Training settings as a module's attribute -------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way back from `net.train`; BuildModel.h declares the way there.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_TRAINATTRIBUTE_H
#define ISOBATH_LIB_FRONTEND_TRAINATTRIBUTE_H

#include "YamlTree.h"
#include "isobath/Frontend/ModelDescription.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace isobath {

/// A dictionary as a YAML mapping, every node at the position `where`.
YamlNode toYamlMap(mlir::DictionaryAttr dictionary, llvm::StringRef where);

/// Reads training settings from the mapping `train`, with `overrides` as for
/// parseModelDescription, of which only those of `train` are allowed. Missing
/// keys get their defaults.
llvm::Expected<TrainSection>
parseTrainSettings(YamlNode train, llvm::ArrayRef<std::string> overrides);

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_TRAINATTRIBUTE_H
