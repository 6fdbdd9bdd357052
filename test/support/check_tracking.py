#===- check_tracking.py - Training on one device follows another ----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Twenty steps, with micro-steps, checkpoints and evaluations, on the CPU and on
# the simulated device. Both add the same numbers in another order, so that
# losses differ by rounding: 1e-5 of a loss in f32, as for micro-steps. In bf16
# a number close to the middle between two of its neighbours may become the
# other one, 2^-8 away, which moves a loss by a small part of that.
#
#===----------------------------------------------------------------------===//

import argparse
import sys

from commands import CommandError
from training_runs import Bench, Failure, expect, metrics

# Adam divides by the root of the squared gradient: where the first is all
# rounding, so is the update. A larger ε keeps that out.
SETTINGS = {"steps": 20, "warmup": 3, "accumulate": 2, "adam_epsilon": 1e-3}
TOLERANCES = {"f32": 1e-5, "bf16": 2e-3}


def check(folder, precision):
    bench = Bench(folder, SETTINGS)
    options = ["--precision", precision]
    runs = [bench.train(device, "--device", device, *options)[0]
            for device in ["cpu", "simulated"]]
    losses = 0
    for one, other in zip(*map(metrics, runs), strict=True):
        expect(one["step"] == other["step"], "steps", one, other)
        for key in ["loss", "valid_loss"]:
            if key in one:
                losses += 1
                expect(abs(one[key] - other[key])
                       <= TOLERANCES[precision] * one[key], key, one, other)
    expect(losses > SETTINGS["steps"], "only", losses, "losses")
    first, *_, last = (line["loss"] for line in metrics(runs[1])
                       if "loss" in line)
    expect(last < first, "the loss did not fall:", first, last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--precision", choices=TOLERANCES, required=True)
    parser.add_argument("-o", "--output", required=True, help="a folder")
    arguments = parser.parse_args()
    try:
        check(arguments.output, arguments.precision)
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
