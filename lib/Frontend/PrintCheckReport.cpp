//===- PrintCheckReport.cpp - A report on a model, as text and JSON -------===//
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

#include "isobath/Frontend/CheckReport.h"
#include "isobath/Frontend/ParseModelDescription.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace isobath;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A count with separators: 4,889,088.
static std::string withSeparators(int64_t count) {
  return llvm::formatv("{0:N}", count).str();
}

static std::string describeReads(const CheckReport::Site &site) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator;
  for (const CheckReport::Read &read : site.reads)
    os << separator << read.group << ' ' << read.rule;
  return text;
}

/// The length of the longest text, as a column's width.
template <typename Range, typename Text>
static unsigned columnWidth(const Range &range, Text text) {
  size_t width = 0;
  for (const auto &item : range)
    width = std::max(width, StringRef(text(item)).size());
  return width;
}

static void printParameters(const CheckReport &report, llvm::raw_ostream &os) {
  int64_t total = report.parameterCount();
  os << "parameters: " << withSeparators(total) << '\n';
  unsigned width = columnWidth(report.parameters,
                               [](const auto &group) { return group.name; });
  for (const CheckReport::ParameterGroup &group : report.parameters) {
    double share = 100.0 * group.elements / total;
    os << "  " << llvm::left_justify(group.name, width)
       << llvm::formatv("  {0,14}  {1,6:F1} %  in {2} tensor{3}\n",
                        withSeparators(group.elements), share, group.tensors,
                        group.tensors == 1 ? "" : "s");
  }
}

void isobath::printCheckReport(const CheckReport &report,
                               llvm::raw_ostream &os) {
  os << report.name << '\n' << "sizes:";
  llvm::ListSeparator separator(",");
  for (const CheckReport::Size &size : report.sizes)
    os << separator << ' ' << size.name << ' ' << size.value;
  os << '\n';
  printParameters(report, os);

  os << "reads:\n";
  unsigned nameWidth =
      columnWidth(report.sites, [](const auto &site) { return site.name; });
  unsigned readWidth = columnWidth(report.sites, describeReads);
  for (const CheckReport::Site &site : report.sites)
    os << "  " << llvm::left_justify(site.name, nameWidth) << "  "
       << llvm::left_justify(describeReads(site), readWidth) << "  "
       << llvm::join(site.sources, ", ") << '\n';
  if (report.blocks.empty())
    return;
  os << "blocks:\n";
  for (const CheckReport::Block &block : report.blocks)
    os << "  " << block.name << ": " << llvm::join(block.sublayers, " + ")
       << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Object toJson(const CheckReport::Site &site) {
  llvm::json::Array reads;
  for (const CheckReport::Read &read : site.reads)
    reads.push_back(
        llvm::json::Object{{"group", read.group}, {"rule", read.rule}});
  return llvm::json::Object{{"name", site.name},
                            {"sources", llvm::json::Array(site.sources)},
                            {"reads", std::move(reads)}};
}

llvm::json::Object isobath::toJson(const CheckReport &report) {
  llvm::json::Object sizes;
  for (const CheckReport::Size &size : report.sizes)
    sizes[size.name] = size.value;
  llvm::json::Array groups, sites, blocks;
  for (const CheckReport::ParameterGroup &group : report.parameters)
    groups.push_back(llvm::json::Object{{"name", group.name},
                                        {"tensors", group.tensors},
                                        {"elements", group.elements}});
  for (const CheckReport::Site &site : report.sites)
    sites.push_back(::toJson(site));
  for (const CheckReport::Block &block : report.blocks)
    blocks.push_back(
        llvm::json::Object{{"name", block.name},
                           {"sublayers", llvm::json::Array(block.sublayers)}});
  return llvm::json::Object{
      {"name", report.name},
      {"sizes", std::move(sizes)},
      {"parameters", llvm::json::Object{{"total", report.parameterCount()},
                                        {"groups", std::move(groups)}}},
      {"sites", std::move(sites)},
      {"blocks", std::move(blocks)},
      {"train", toJson(report.train)}};
}
