//===- DepthPrograms.cpp - Text of small functions with routes ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DepthPrograms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <vector>

using namespace isobath::test;

namespace {
/// The types and lists that both functions are made of.
struct Parts {
  explicit Parts(const RouteShape &shape)
      : vector(llvm::formatv("tensor<8x{0}>", shape.type)),
        source(llvm::formatv("tensor<2x3x8x{0}>", shape.type)),
        settings(llvm::formatv("{{epsilon = {0:E} : f64}", shape.epsilon)) {
    for (int i = 0; i < shape.queries; ++i)
      queries.push_back("%w" + std::to_string(i));
    for (int i = 0; i < shape.closed; ++i)
      closed.push_back("%s" + std::to_string(i));
  }

  /// [Q, B, T, h, N]
  static std::string distribution(int queries, int heads, int sources,
                                  const std::string &type) {
    return llvm::formatv("tensor<{0}x2x3x{1}x{2}x{3}>", queries, heads, sources,
                         type);
  }

  std::string header(const std::string &name, const RouteShape &shape,
                     const std::vector<std::string> &resultTypes) const {
    std::vector<std::string> arguments;
    for (const std::string &query : queries)
      arguments.push_back(query + ": " + vector);
    for (const std::string &one : closed)
      arguments.push_back(one + ": " + source);
    if (shape.hasPartial)
      arguments.push_back("%p: " + source);
    return llvm::formatv("func.func @{0}({1}) -> ({2}) {{\n", name,
                         llvm::join(arguments, ", "),
                         llvm::join(resultTypes, ", "));
  }

  static std::string returns(const std::vector<std::string> &results,
                             const std::vector<std::string> &types) {
    return llvm::formatv("return {0} : {1}\n}\n", llvm::join(results, ", "),
                         llvm::join(types, ", "));
  }

  std::vector<std::string> queries, closed;
  std::string vector, source, settings;
};
} // namespace

static std::vector<std::string> number(const std::string &prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(prefix + std::to_string(i));
  return names;
}

std::string isobath::test::routeFunction(const std::string &name,
                                         const RouteShape &shape,
                                         bool withWeights) {
  Parts parts(shape);
  int sources = shape.closed + shape.hasPartial;
  std::vector<std::string> results = number("%h", shape.queries);
  std::vector<std::string> types(shape.queries, parts.source);
  std::string outputs = llvm::join(results, ", ") + ", %a, %l, %r";
  if (withWeights) {
    results.push_back("%a");
    types.push_back(
        Parts::distribution(shape.queries, shape.heads, sources, shape.type));
  }
  return parts.header(name, shape, types) +
         llvm::formatv("{0} = depth.route queries({1} : {2}) "
                       "closed({3} : {4}) {5} heads({6}) {7}\n",
                       outputs, llvm::join(parts.queries, ", "), parts.vector,
                       llvm::join(parts.closed, ", "), parts.source,
                       shape.hasPartial ? "partial(%p : " + parts.source + ")"
                                        : std::string(),
                       shape.heads, parts.settings)
             .str() +
         Parts::returns(results, types);
}

std::string isobath::test::twoPhaseFunction(const std::string &name,
                                            const RouteShape &shape,
                                            bool withWeights) {
  Parts parts(shape);
  std::vector<std::string> results = number("%h", shape.queries);
  std::vector<std::string> types(shape.queries, parts.source);
  if (withWeights)
    for (const std::string &weights : number("%a", shape.queries)) {
      results.push_back(weights);
      types.push_back(Parts::distribution(1, shape.heads, 1, shape.type));
    }
  std::string text =
      parts.header(name, shape, types) +
      llvm::formatv("{0}, %lse, %l, %r = depth.partial queries({1} : {2}) "
                    "closed({3} : {4}) heads({5}) {6}\n",
                    llvm::join(number("%o", shape.queries), ", "),
                    llvm::join(parts.queries, ", "), parts.vector,
                    llvm::join(parts.closed, ", "), parts.source, shape.heads,
                    parts.settings)
          .str();
  for (int i = 0; i < shape.queries; ++i)
    text += llvm::formatv(
                "%h{0}, %a{0}, %l{0}, %r{0} = depth.merge "
                "queries(%w{0} : {1}) mixes(%o{0} : {2}) partial(%p : {2}) "
                "lse(%lse : tensor<{3}x2x3x{4}x{5}>) "
                "{{epsilon = {6:E} : f64, first_query = {0} : i64}\n",
                i, parts.vector, parts.source, shape.queries, shape.heads,
                shape.type, shape.epsilon)
                .str();
  return text + Parts::returns(results, types);
}
