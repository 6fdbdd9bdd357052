#===- check_accumulation.py - Micro-steps add up to the large batch -------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Four micro-steps of one sequence take the same windows as one step of four,
# so two runs differ by rounding only.
#
#===----------------------------------------------------------------------===//

import argparse
import math
import sys

from commands import CommandError
from tensor_files import read_safetensors
from training_runs import Bench, Failure, expect, metrics

# Adam divides by the root of the squared gradient: where the first is all
# rounding, so is the update. A larger ε keeps that out.
SETTINGS = {"steps": 5, "warmup": 0, "adam_epsilon": 1e-3}


def norm(values):
    return math.sqrt(math.fsum(v * v for v in values))


def check(folder):
    bench = Bench(folder, SETTINGS | {"batch": 4})
    large, _ = bench.train("large")
    small, _ = bench.train("small", "--set", "train.batch=1", "--set",
                           "train.accumulate=4")
    for one, other in zip(metrics(large), metrics(small), strict=True):
        expect(one.get("tokens") == other.get("tokens"), "tokens", one, other)
        for key in ["loss", "grad_norm", "valid_loss"]:
            if key in one:
                expect(abs(one[key] - other[key]) < 1e-5 * one[key], key, one,
                       other)
    expected = read_safetensors(large / "final.safetensors")
    for name, tensor in read_safetensors(small / "final.safetensors").items():
        wanted = expected[name].values
        error = norm(a - b for a, b in zip(tensor.values, wanted))
        expect(error <= 1e-4 * norm(wanted), name, "differs by", error, "of",
               norm(wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", required=True, help="a folder")
    arguments = parser.parse_args()
    try:
        check(arguments.output)
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
