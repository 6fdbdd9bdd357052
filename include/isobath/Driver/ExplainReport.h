//===- ExplainReport.h - What `isobath explain` says about a model --------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What became of each site's routes in `gradient`, and the bytes that the
// kernels move that hold them. Bytes are counted from the kernels' loads and
// stores and not from the formula by which schedules are chosen. All bytes are
// for one token, but for what a call moves once, however many tokens there are:
// parameters and their gradients.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DRIVER_EXPLAINREPORT_H
#define ISOBATH_DRIVER_EXPLAINREPORT_H

#include "isobath/Frontend/CheckReport.h"
#include "mlir/IR/Remarks.h"

namespace isobath {

/// A report on one model, collected stage by stage.
struct ExplainReport {
  struct Bytes {
    int64_t read = 0;
    int64_t written = 0;
  };
  /// The forward or the backward pass of a site's routes.
  struct Direction {
    int64_t routes = 0; ///< that read together, the site's own among them
    Bytes token;
    Bytes once;
  };
  struct Site {
    std::string name;
    int64_t sources = 0;
    int64_t queries = 0; ///< or mixtures; after equal ones became one
    Direction forward;
    Direction backward;
  };
  /// What the passes of one direction move together.
  struct Total {
    Bytes counted;
    Bytes minimum; ///< see addRoutes
    Bytes plain;   ///< see addRoutes
  };
  struct Remark {
    std::string pass;
    std::string name;
    std::string sites;
    std::string text;
  };

  /// The kernels that hold routes, all together, in one training step.
  struct Measurement {
    double bandwidth; ///< bytes that are read in a second
    double predictedMilliseconds;
    double milliseconds;
  };

  /// One kernel in all its calls in `gradient`, on the simulated device.
  struct DeviceKernel {
    std::string name; ///< of the device's function
    uint64_t launches = 0;
    /// What its loads and stores must move, each element once; nothing if that
    /// depends on data, or for the second stage of a sum, which no kernel of
    /// rows stands for.
    std::optional<Bytes> compulsory;
    /// Sectors that the launches touch first, each launch for itself.
    Bytes counted;
    /// Of all accesses: sectors, and passes over the banks of shared memory,
    /// beside how few they could be.
    uint64_t sectors = 0, idealSectors = 0;
    uint64_t wavefronts = 0, idealWavefronts = 0;
  };

  std::string name;
  std::vector<Site> sites;
  Total forward;
  Total backward;
  std::vector<Remark> remarks;
  int64_t plannedBytes = 0;
  int64_t activationBytes = 0; ///< see addArena
  int64_t kernels = 0;
  double compileMilliseconds = 0;
  std::optional<Measurement> measurement;
  std::vector<DeviceKernel> deviceKernels;
};

/// A report with the names of the sites and how many sources each has.
ExplainReport beginExplainReport(const CheckReport &model);

/// Remarks are collected in `report`, which outlives `context`.
void collectRemarks(mlir::MLIRContext &context, ExplainReport &report);

/// Adds what the routes of the derived entries must move, where an element of a
/// source is stored in `sourceBytes`:
///
///   minimum, forward: every source is read once for all routes over the same
///   closed sources, every partial once, and every query's mix is written once;
///   backward: every source and partial is read and its gradient written once,
///   likewise; a gradient that other routes have added to is read; and each
///   mix's gradient is read once.
///
///   plain: a residual without routes, at as many sites. Forward, the residual
///   and a sublayer's output are read, their sum and its norm written;
///   backward, the norm's gradient, the sum and the sum's gradient are read and
///   the latter written.
void addRoutes(ExplainReport &report, mlir::ModuleOp step, int64_t sourceBytes);

/// Adds which routes are batched. Where every sublayer is a block, neighbours
/// do older sources together, and the backward minimum is what is left of it
/// then.
void addSchedules(ExplainReport &report, mlir::ModuleOp routed,
                  int64_t sourceBytes);

/// Adds the bytes that kernels move. A call that holds the routes of several
/// sites counts in equal parts at each. Fails, with a diagnostic, if a kernel's
/// loads depend on data.
mlir::LogicalResult addKernels(ExplainReport &report, mlir::ModuleOp kernels);

/// Adds a DeviceKernel with its compulsory bytes for each row kernel that
/// `gradient` calls.
void addDeviceKernels(ExplainReport &report, mlir::ModuleOp kernels);

/// Adds the bytes of activations: what lies in the arena of `gradient` when the
/// loss's gradient is first used and is used again later.
void addArena(ExplainReport &report, mlir::ModuleOp planned);

/// Writes the report as text for people.
void printExplainReport(const ExplainReport &report, llvm::raw_ostream &os);

/// The report as one JSON object.
llvm::json::Object toJson(const ExplainReport &report);

} // namespace isobath

#endif // ISOBATH_DRIVER_EXPLAINREPORT_H
