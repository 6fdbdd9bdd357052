//===- DescriptionRules.h - Rules between the values of a description -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the limits of single keys in ModelSchema.h cannot say.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_DESCRIPTIONRULES_H
#define ISOBATH_LIB_FRONTEND_DESCRIPTIONRULES_H

#include "SchemaReader.h"
#include "isobath/Frontend/ModelDescription.h"

namespace isobath {

/// Checks a model whose defaults are filled in. `origins` holds the keys that
/// were given; sizes are checked for micro-steps of `batch` sequences.
llvm::Error checkModelRules(const ModelSection &model, int64_t batch,
                            const Origins &origins);

/// Checks training settings.
llvm::Error checkTrainRules(const TrainSection &train, const Origins &origins);

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_DESCRIPTIONRULES_H
