#===- check_device_bytes.py - What a GPU's kernels move -------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Reads `isobath explain --device simulated --json` and checks every kernel that
# holds a route: its DRAM bytes are the compulsory ones, plus at most 5 % for
# what a launch needs beside rows (tables, partial sums, ends of sectors); each
# request takes no more sectors than its bytes need; and its passes over the
# banks of shared memory are at most 10 % more than without conflicts.
#
#===----------------------------------------------------------------------===//

import json
import sys

from training_runs import Failure, expect


def size(counted):
    return counted["read_bytes"] + counted["written_bytes"]


def main():
    kernels = json.load(sys.stdin)["device_kernels"]
    routes = [kernel for kernel in kernels if "compulsory" in kernel and any(
        op in kernel["name"] for op in ["route", "partial", "merge", "extend"])]
    try:
        expect(len(routes) >= int(sys.argv[1]), "only", len(routes),
               "kernels with routes")
        for kernel in kernels:
            expect(kernel["launches"] > 0, kernel["name"], "was not launched")
        for kernel in routes:
            name, compulsory = kernel["name"], size(kernel["compulsory"])
            expect(compulsory <= size(kernel["counted"]) <= 1.05 * compulsory,
                   name, "moves", size(kernel["counted"]), "bytes of",
                   compulsory)
            expect(kernel["sectors"] == kernel["ideal_sectors"] > 0, name,
                   "has", kernel["sectors"], "sectors of",
                   kernel["ideal_sectors"])
            expect(kernel["wavefronts"] <= 1.1 * kernel["ideal_wavefronts"],
                   name, "has", kernel["wavefronts"], "wavefronts of",
                   kernel["ideal_wavefronts"])
    except Failure as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
