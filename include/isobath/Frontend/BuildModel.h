//===- BuildModel.h - From a description to a module ----------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The module that every later stage starts from: one function
//
//     @model(%tokens: tensor<BxTxi32>, parameters…) -> tensor<BxTxVx…>
//
// in the dialects net and depth, and the settings of a training run as the
// module's attribute `net.train`. All that a weights file, an initialisation or
// a report needs is in it; nothing later looks at the description.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_BUILDMODEL_H
#define ISOBATH_FRONTEND_BUILDMODEL_H

#include "isobath/Frontend/ModelDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace isobath {

/// The type of parameters and activations.
enum class ElementType { f32, f64 };

/// What a module fixes and a description does not.
struct BuildOptions {
  int64_t batch = 0; ///< B; 0: the description's micro-batch.
  ElementType elementType = ElementType::f32;
};

/// Loads the dialects that a model is made of.
void loadModelDialects(mlir::MLIRContext &context);

/// Builds the module of a checked description. The result is verified.
mlir::OwningOpRef<mlir::ModuleOp>
buildModel(mlir::MLIRContext &context, const ModelDescription &description,
           const BuildOptions &options = {});

/// The settings of a training run as a dictionary with every key of the section
/// `train`, integers as i64, numbers as f64.
mlir::DictionaryAttr toTrainAttribute(mlir::MLIRContext &context,
                                      const TrainSection &train);

/// The floating-point type of an element type.
mlir::FloatType getFloatType(mlir::MLIRContext &context, ElementType type);

} // namespace isobath

#endif // ISOBATH_FRONTEND_BUILDMODEL_H
