#!/usr/bin/env python3
#===- plot_routes.py - Depth distributions as a small text plot ----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Reads the object that `isobath routes --json` prints and draws, for a few of
# the attention sublayers, how much each group reads of every source.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import sys

BAR = 30  # characters for a weight of 1


def bar(weight):
    """A weight from 0 to 1 as a bar with eighths of a character."""
    eighths = round(weight * BAR * 8)
    rest = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + rest


def choose(layers, count):
    """At most `count` of the layers, the first and the last among them."""
    if len(layers) <= count:
        return layers
    return [layers[round(i * (len(layers) - 1) / (count - 1))]
            for i in range(count)]


def plot(report, count):
    sites = {}
    for site in report["sites"]:
        if site["name"].endswith(".attn") and len(site["sources"]) > 1:
            sites.setdefault(site["name"], []).append(site)
    for name in choose(list(sites), count):
        print(name)
        groups = sites[name]
        width = max(len(source) for source in groups[0]["sources"])
        for group in groups:
            for i, source in enumerate(group["sources"]):
                label = group["group"] if i == 0 else ""
                weight = group["weights"][i]
                print(f"  {label:4}{source:{width}}  {weight:.2f} "
                      f"{bar(weight)}".rstrip())


def main():
    parser = argparse.ArgumentParser(
        description="Draws depth distributions that isobath routes --json "
                    "prints.")
    parser.add_argument("report", nargs="?", type=argparse.FileType(),
                        default=sys.stdin, help="the object (default: stdin)")
    parser.add_argument("--layers", type=int, default=3,
                        help="sublayers to draw (default: %(default)s)")
    arguments = parser.parse_args()
    plot(json.load(arguments.report), max(arguments.layers, 2))


if __name__ == "__main__":
    main()
