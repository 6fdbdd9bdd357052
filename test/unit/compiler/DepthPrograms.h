//===- DepthPrograms.h - Text of small functions with routes --------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TEST_UNIT_COMPILER_DEPTHPROGRAMS_H
#define ISOBATH_TEST_UNIT_COMPILER_DEPTHPROGRAMS_H

#include <string>

namespace isobath::test {

/// A route over sources [2, 3, 8].
struct RouteShape {
  int queries = 1;
  int closed = 2;
  bool hasPartial = false;
  int heads = 1;
  std::string type = "f64";
  double epsilon = 1e-2;
};

/// `name(queries…, closed sources…, partial) -> mixes…`, and after the mixes
/// the weights where they are asked for.
std::string routeFunction(const std::string &name, const RouteShape &shape,
                          bool withWeights = false);

/// The same function in two phases, one merge for each query; `shape` must have
/// a partial. The weights are those of the partial, one tensor a query.
std::string twoPhaseFunction(const std::string &name, const RouteShape &shape,
                             bool withWeights = false);

} // namespace isobath::test

#endif // ISOBATH_TEST_UNIT_COMPILER_DEPTHPROGRAMS_H
