#===- compare_gradients.py - Are two files of gradients equal enough? ----===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Compares two safetensors files tensor by tensor. With g* the expected tensor
# and |·| the Euclidean norm, every tensor must satisfy
#
#     |g − g*| ≤ tolerance · max(|g*|, 1e-4 · |all expected gradients|)
#
# The second term is there for tensors whose gradient is the small difference of
# large terms. NaN and infinity fail, and so do missing, extra and wrongly
# shaped tensors. Prints a line for each failing tensor and one with the worst
# ratio of |g − g*| to the maximum above; the exit status is 1 if anything
# failed.
#
#===----------------------------------------------------------------------===//

import argparse
import math
import sys

from tensor_files import read_safetensors

FLOOR = 1e-4


def norm(values):
    return math.sqrt(math.fsum(x * x for x in values))


def compare(found, expected, tolerance, exact_zeros=False):
    """Compares dictionaries of tensors; returns (failures, worst, its name).

    With `exact_zeros`, a query or gain of a route whose expected gradient is
    exactly zero (there was one source) must be exactly zero.
    """
    failures = []
    worst, worst_name = 0.0, "none"
    total = norm(x for t in expected.values() for x in t.values)
    if not math.isfinite(total):
        failures.append("the expected gradients are not finite")
    for name in expected.keys() - found.keys():
        failures.append(f"{name}: missing")
    for name in found.keys() - expected.keys():
        failures.append(f"{name}: not expected")
    for name, wanted in expected.items():
        if name not in found:
            continue
        given = found[name]
        if given.shape != wanted.shape:
            failures.append(f"{name}: shape {given.shape}, expected "
                            f"{wanted.shape}")
            continue
        bad = sum(not math.isfinite(x) for x in given.values)
        if bad:
            failures.append(f"{name}: {bad} of {len(given.values)} values are "
                            "not finite")
            worst, worst_name = math.inf, name
            continue
        if exact_zeros and ".route." in name and not any(wanted.values) and (
                any(given.values)):
            failures.append(f"{name}: norm {norm(given.values):.3g}, expected "
                            "exactly zero")
        error = norm(a - b for a, b in zip(given.values, wanted.values))
        size = norm(wanted.values)
        scale = max(size, FLOOR * total)
        # Gradients that are all zero allow no error at all.
        ratio = error / scale if scale else (math.inf if error else 0.0)
        if not ratio <= tolerance:
            failures.append(f"{name}: differs by {ratio:.3g}, at most "
                            f"{tolerance:.3g} expected (norm {size:.3g} of "
                            f"{total:.3g})")
        if not ratio <= worst:
            worst, worst_name = ratio, name
    return sorted(failures), worst, worst_name


def main():
    parser = argparse.ArgumentParser(
        description="Compares two safetensors files of gradients.")
    parser.add_argument("found")
    parser.add_argument("expected")
    parser.add_argument("--tolerance", type=float, default=1e-4,
                        help="default: 1e-4, for f32 arithmetic")
    parser.add_argument("--exact-zeros", action="store_true",
                        help="routes with one source must give exactly 0")
    arguments = parser.parse_args()
    failures, worst, name = compare(read_safetensors(arguments.found),
                                    read_safetensors(arguments.expected),
                                    arguments.tolerance, arguments.exact_zeros)
    for failure in failures:
        print(failure)
    print(f"worst ratio {worst:.3g} ({name}), tolerance "
          f"{arguments.tolerance:.3g}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
