//===- PrintExplainReport.cpp - What became of routes, as text and JSON ---===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scripts read the JSON; the text is for people and may change.
//
//===----------------------------------------------------------------------===//

#include "isobath/Driver/ExplainReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace isobath;
using llvm::StringRef;
using Site = ExplainReport::Site;
using Direction = ExplainReport::Direction;
using Bytes = ExplainReport::Bytes;

/// How one direction of a site's routes runs; `none` where none is left.
static StringRef getSchedule(const Direction &pass) {
  if (pass.routes == 0)
    return "none";
  return pass.routes > 1 ? "batched" : "each";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A count with separators: 4,889,088.
static std::string withSeparators(int64_t count) {
  return llvm::formatv("{0:N}", count).str();
}

static void printBytes(const Bytes &bytes, llvm::raw_ostream &os) {
  os << llvm::formatv(" {0,10} {1,10}", withSeparators(bytes.read),
                      withSeparators(bytes.written));
}

static void printTotal(StringRef name, unsigned width, const Bytes &forward,
                       const Bytes &backward, llvm::raw_ostream &os) {
  os << "  " << llvm::left_justify(name, width) << "                   "
     << "        ";
  printBytes(forward, os);
  os << "          ";
  printBytes(backward, os);
  os << '\n';
}

static void printSites(const ExplainReport &report, llvm::raw_ostream &os) {
  unsigned width = StringRef("compulsory minimum").size();
  for (const Site &site : report.sites)
    width = std::max<unsigned>(width, site.name.size());
  os << "bytes a token of the kernels that hold routes:\n"
     << "  " << llvm::left_justify("site", width) << "  sources  queries"
     << llvm::formatv("  {0,-8} {1,10} {2,10}", "forward", "read", "written")
     << llvm::formatv("  {0,-8} {1,10} {2,10}\n", "backward", "read",
                      "written");
  for (const Site &site : report.sites) {
    os << "  " << llvm::left_justify(site.name, width)
       << llvm::formatv("  {0,7}  {1,7}", site.sources, site.queries);
    for (const Direction *pass : {&site.forward, &site.backward}) {
      os << llvm::formatv("  {0,-8}", getSchedule(*pass));
      printBytes(pass->token, os);
    }
    os << '\n';
  }
  const auto &forward = report.forward, &backward = report.backward;
  printTotal("all", width, forward.counted, backward.counted, os);
  printTotal("compulsory minimum", width, forward.minimum, backward.minimum,
             os);
  printTotal("plain residual", width, forward.plain, backward.plain, os);
}

/// What a pass decides about.
static StringRef getSubject(StringRef pass) {
  return llvm::StringSwitch<StringRef>(pass)
      .Case("isobath-share-routes", "routes")
      .Case("isobath-batch-routes", "forward")
      .Case("isobath-batch-adjoints", "backward")
      .Case("isobath-fuse-rows", "kernels")
      .Default(pass);
}

static StringRef getVerdict(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("Shared", "shared")
      .Case("NotShared", "not shared")
      .Case("Batched", "batched")
      .Case("NotBatched", "not batched")
      .Case("Fused", "fused")
      .Default(name);
}

/// Remarks that say the same of other sites are one line.
static void printRemarks(const ExplainReport &report, llvm::raw_ostream &os) {
  llvm::MapVector<std::tuple<StringRef, StringRef, StringRef>,
                  llvm::SmallVector<StringRef>>
      lines;
  for (const ExplainReport::Remark &remark : report.remarks)
    lines[{remark.pass, remark.name, remark.text}].push_back(remark.sites);
  os << "what the passes did and did not:\n";
  for (const auto &[line, sites] : lines) {
    auto [pass, name, text] = line;
    os << "  " << getSubject(pass) << ' ' << getVerdict(name) << ": " << text;
    if (!sites.front().empty())
      os << ": " << llvm::join(sites, "; ");
    os << '\n';
  }
}

/// `1.03`, or `-` where there is nothing to compare with.
static std::string formatRatio(double actual, double ideal) {
  return ideal > 0 ? llvm::formatv("{0:F2}", actual / ideal).str() : "-";
}

static int64_t getSum(const Bytes &bytes) { return bytes.read + bytes.written; }

static void printDeviceKernels(const ExplainReport &report,
                               llvm::raw_ostream &os) {
  unsigned width = 6;
  for (const ExplainReport::DeviceKernel &kernel : report.deviceKernels)
    width = std::max<unsigned>(width, kernel.name.size());
  os << "bytes of DRAM that one gradient's kernels move, beside what they "
        "must:\n"
     << "  " << llvm::left_justify("kernel", width)
     << "  launches    compulsory       counted  ratio  sectors  banks\n";
  for (const ExplainReport::DeviceKernel &kernel : report.deviceKernels) {
    int64_t compulsory = kernel.compulsory ? getSum(*kernel.compulsory) : 0;
    os << "  " << llvm::left_justify(kernel.name, width)
       << llvm::formatv("  {0,8}  {1,12}  {2,12}  {3,5}  {4,7}  {5,5}\n",
                        kernel.launches,
                        kernel.compulsory ? withSeparators(compulsory) : "-",
                        withSeparators(getSum(kernel.counted)),
                        formatRatio(getSum(kernel.counted), compulsory),
                        formatRatio(kernel.sectors, kernel.idealSectors),
                        formatRatio(kernel.wavefronts, kernel.idealWavefronts));
  }
}

void isobath::printExplainReport(const ExplainReport &report,
                                 llvm::raw_ostream &os) {
  os << report.name << '\n';
  printSites(report, os);
  os << "planned: " << withSeparators(report.plannedBytes) << " bytes, "
     << withSeparators(report.activationBytes)
     << " of them activations kept for the backward pass\n"
     << "kernels: " << report.kernels << '\n'
     << llvm::formatv("compiled in {0:F0} ms\n", report.compileMilliseconds);
  if (const auto &measured = report.measurement)
    os << llvm::formatv("routes of a step: measured {0:F3} ms; moving their "
                        "bytes at {1:F1} GB/s would take {2:F3} ms\n",
                        measured->milliseconds, measured->bandwidth / 1e9,
                        measured->predictedMilliseconds);
  if (!report.deviceKernels.empty())
    printDeviceKernels(report, os);
  printRemarks(report, os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object toJson(const Bytes &bytes) {
  return llvm::json::Object{{"read_bytes", bytes.read},
                            {"written_bytes", bytes.written}};
}

static llvm::json::Object toJson(const Direction &pass) {
  llvm::json::Object object = ::toJson(pass.token);
  object["schedule"] = getSchedule(pass);
  object["once"] = ::toJson(pass.once);
  return object;
}

static llvm::json::Object toJson(const Site &site) {
  std::string schedule = "none";
  if (site.forward.routes > 0)
    schedule = ("forward=" + getSchedule(site.forward) +
                ",backward=" + getSchedule(site.backward))
                   .str();
  return llvm::json::Object{
      {"name", site.name},
      {"sources", site.sources},
      {"queries", site.queries},
      {"schedule", schedule},
      {"read_bytes", site.forward.token.read + site.backward.token.read},
      {"written_bytes",
       site.forward.token.written + site.backward.token.written},
      {"forward", ::toJson(site.forward)},
      {"backward", ::toJson(site.backward)}};
}

static llvm::json::Object toJson(const ExplainReport::DeviceKernel &kernel) {
  llvm::json::Object object{{"name", kernel.name},
                            {"launches", kernel.launches},
                            {"counted", ::toJson(kernel.counted)},
                            {"sectors", kernel.sectors},
                            {"ideal_sectors", kernel.idealSectors},
                            {"wavefronts", kernel.wavefronts},
                            {"ideal_wavefronts", kernel.idealWavefronts}};
  if (kernel.compulsory)
    object["compulsory"] = ::toJson(*kernel.compulsory);
  return object;
}

static llvm::json::Object toJson(const ExplainReport::Total &total) {
  llvm::json::Object object = ::toJson(total.counted);
  object["minimum"] = ::toJson(total.minimum);
  object["plain"] = ::toJson(total.plain);
  return object;
}

llvm::json::Object isobath::toJson(const ExplainReport &report) {
  llvm::json::Array sites, remarks;
  for (const Site &site : report.sites)
    sites.push_back(::toJson(site));
  for (const ExplainReport::Remark &remark : report.remarks)
    remarks.push_back(llvm::json::Object{{"pass", remark.pass},
                                         {"name", remark.name},
                                         {"sites", remark.sites},
                                         {"text", remark.text}});
  llvm::json::Object object{
      {"name", report.name},
      {"planned_bytes", report.plannedBytes},
      {"activation_bytes", report.activationBytes},
      {"kernels", report.kernels},
      {"compile_ms", report.compileMilliseconds},
      {"sites", std::move(sites)},
      {"totals", llvm::json::Object{{"forward", ::toJson(report.forward)},
                                    {"backward", ::toJson(report.backward)}}},
      {"remarks", std::move(remarks)}};
  if (const auto &measured = report.measurement)
    object["measured"] =
        llvm::json::Object{{"route_ms", measured->milliseconds},
                           {"predicted_ms", measured->predictedMilliseconds},
                           {"bytes_per_second", measured->bandwidth}};
  if (!report.deviceKernels.empty()) {
    llvm::json::Array kernels;
    for (const ExplainReport::DeviceKernel &kernel : report.deviceKernels)
      kernels.push_back(::toJson(kernel));
    object["device_kernels"] = std::move(kernels);
  }
  return object;
}
