//===- CheckReport.h - What `isobath check` says about a model ------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes, parameters and what every sublayer reads, taken from the module and
// not from a description: it is what will be compiled, and modules written by
// hand have a report too.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_FRONTEND_CHECKREPORT_H
#define ISOBATH_FRONTEND_CHECKREPORT_H

#include "isobath/Frontend/LoadModel.h"
#include "llvm/Support/JSON.h"

namespace isobath {

/// A report on one model.
struct CheckReport {
  /// A size by its name: `vocabulary`, `width`, …
  struct Size {
    std::string name;
    int64_t value;
  };
  /// Parameters that serve one purpose: `embedding`, `attention`, …
  struct ParameterGroup {
    std::string name;
    int64_t tensors;
    int64_t elements;
  };
  /// How one group of roles reads the sources of its site.
  struct Read {
    std::string group; ///< `qkv`, `qk`, `v`, …, `mlp`, `final`
    std::string rule;  ///< as in `routes:`, or `sum` without routes
  };
  /// A place where sources are read.
  struct Site {
    std::string name;
    std::vector<Read> reads;
    std::vector<std::string> sources;
  };
  /// A sum of sublayer outputs that is read as one source.
  struct Block {
    std::string
        name; ///< `block 0`, …; `partial` if it is still open at the end
    std::vector<std::string> sublayers;
  };

  std::string name;
  std::vector<Size> sizes;
  std::vector<ParameterGroup> parameters;
  std::vector<Site> sites;
  std::vector<Block> blocks;
  TrainSection train;

  /// The number of all parameters.
  int64_t parameterCount() const;
};

/// Reports on a loaded model.
CheckReport makeCheckReport(const LoadedModel &model);

/// Writes the report as text for people.
void printCheckReport(const CheckReport &report, llvm::raw_ostream &os);

/// The report as one JSON object: name, sizes {name: value}, parameters
/// {total, groups: [{name, tensors, elements}]}, sites [{name, sources, reads:
/// [{group, rule}]}], blocks [{name, sublayers}], train.
llvm::json::Object toJson(const CheckReport &report);

} // namespace isobath

#endif // ISOBATH_FRONTEND_CHECKREPORT_H
