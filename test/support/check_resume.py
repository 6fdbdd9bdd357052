#===- check_resume.py - A run in pieces is the run in one piece -----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Trains once without a stop, and again in pieces with --steps and --resume;
# then every file of the two runs is compared byte for byte. The training data
# hold 15 windows and a step takes two or four of them, so that epochs end
# inside steps, and the first stop lies inside the warm-up.
#
#===----------------------------------------------------------------------===//

import argparse
import sys

from commands import CommandError
from training_runs import Bench, Failure, checkpoints, expect, expect_same

ROUTES = ("{kind: block, block: 1, key_gain: true, depth_heads: 2, query_init: "
          "normal, routes: {q: learned, k: learned, v: repeat}}")

# Settings of train and of the model, and options of the command.
VARIANTS = {
    "plain": ({}, {}, []),
    "accumulate": ({"accumulate": 2, "schedule": "linear", "clip": 0.5},
                   {"residual": ROUTES, "tied_head": "false",
                    "qk_norm": "true"}, []),
    "standard": ({"schedule": "constant", "clip": 0},
                 {"residual": "{kind: standard}"}, ["--precision", "f64"]),
}


def check(bench, options):
    whole, summary = bench.train("whole", *options)
    expect(summary["steps"] == 20 and not summary["stopped"], summary)
    expect(checkpoints(whole) == [15, 20], "checkpoints", checkpoints(whole))

    # As the saying goes: 20 = 10 + 10.
    _, summary = bench.train("halves", *options, "--steps", 10)
    expect(summary["steps"] == 10, summary)
    halves, _ = bench.train("halves", *options, "--resume")
    expect_same(whole, halves)

    # Inside the warm-up, next to the end of an epoch, and at the last but one
    # step; a command that has nothing left to do changes nothing.
    for last in [2, 8, 8, 19, 20]:
        pieces, summary = bench.train("pieces", *options, "--resume", "--steps",
                                      last)
        expect(summary["steps"] == last, summary)
    # Stops leave checkpoints where an unbroken run has none.
    expect(checkpoints(pieces) == [19, 20], "checkpoints", checkpoints(pieces))
    for run, name in [(pieces, "checkpoint-00000019"),
                      (whole, "checkpoint-00000015")]:
        for path in (run / name).iterdir():
            path.unlink()
        (run / name).rmdir()
    expect_same(whole, pieces)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("-o", "--output", required=True, help="a folder")
    arguments = parser.parse_args()
    settings, model, options = VARIANTS[arguments.variant]
    try:
        check(Bench(arguments.output, settings, **model), options)
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")
    print("the same bytes")


if __name__ == "__main__":
    main()
