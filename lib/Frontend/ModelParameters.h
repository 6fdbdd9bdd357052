//===- ModelParameters.h - The trained tensors of a model -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, shapes and initial values: what a weights file of the model holds.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_LIB_FRONTEND_MODELPARAMETERS_H
#define ISOBATH_LIB_FRONTEND_MODELPARAMETERS_H

#include "isobath/Frontend/ModelDescription.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace isobath {

/// A trained tensor.
struct ModelParameter {
  enum class Start { zeros, ones, normal };

  std::string name;
  llvm::SmallVector<int64_t, 2> shape; // a matrix [out, in] or a vector
  Start start = Start::zeros;
  double std = 0;  // of a normal start
  std::string key; // of its random numbers; empty: the name
};

/// All of them, embedding first, layer by layer, head last.
std::vector<ModelParameter> listParameters(const ModelSection &model);

/// The groups of an attention sublayer's routes that have a query of their own,
/// the group with q first.
llvm::SmallVector<llvm::StringRef, 3> learnedGroups(const RoutesTable &routes);

} // namespace isobath

#endif // ISOBATH_LIB_FRONTEND_MODELPARAMETERS_H
