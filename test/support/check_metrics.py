#===- check_metrics.py - The lines of metrics.jsonl and the summary -------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Trains a small model and holds every line that it writes against what a line
# is defined to be, and the summary against the lines.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import math
import sys

from commands import CommandError, run_json
from training_runs import Bench, Failure, checkpoints, expect

STEP_KEYS = ["step", "loss", "lr", "grad_norm", "tokens", "seconds"]


def cosine(peak, fraction, warmup, steps, step):
    if step <= warmup:
        return peak * step / warmup
    progress = (step - warmup) / (steps - warmup)
    return peak * (fraction + (1 - fraction) *
                   (1 + math.cos(math.pi * progress)) / 2)


def check(folder):
    bench = Bench(folder, {
        "batch": 3, "accumulate": 2, "steps": 20, "warmup": 4, "clip": 0.01,
        "learning_rate": 2e-3, "final_fraction": 0.25, "eval_every": 6,
        "eval_tokens": 20, "checkpoint_every": 3, "keep": 4})
    run, summary = bench.train("run", "--steps", 11)
    text = (run / "metrics.jsonl").read_text()
    expect(text.endswith("}\n"), "the last line has no end")
    lines = [json.loads(line) for line in text.splitlines()]
    steps = [line for line in lines if "valid_loss" not in line]
    expect([line["step"] for line in steps] == list(range(1, 12)), "steps")
    seconds = 0
    for line in steps:
        expect(list(line) == STEP_KEYS, "a step's keys are", list(line))
        step = line["step"]
        expect(line["tokens"] == step * 2 * 3 * 6, "tokens of step", step)
        rate = cosine(2e-3, 0.25, 4, 20, step)
        expect(abs(line["lr"] - rate) < 1e-12, "the rate of step", step, "is",
               line["lr"], "expected", rate)
        expect(line["seconds"] >= seconds, "time runs back in step", step)
        seconds = line["seconds"]
        expect(abs(line["loss"] - math.log(37)) < 0.3, "loss", line["loss"])
        # Before clipping, or it would never be above 0.01.
        expect(line["grad_norm"] > 0.1, "norm", line["grad_norm"])

    evaluations = [line for line in lines if "valid_loss" in line]
    expect([list(line) for line in evaluations] == [["step", "valid_loss"]] * 2,
           evaluations)
    expect([line["step"] for line in evaluations] == [6, 11], evaluations)
    expect(lines.index(evaluations[0]) == 6, "an evaluation is out of place")
    # Three are due by then, and the last of all.
    expect(checkpoints(run) == [3, 6, 9, 11], "checkpoints", checkpoints(run))

    expect(summary["steps"] == 11, summary)
    expect(summary["loss"] == steps[-1]["loss"], summary)
    expect(summary["valid_loss"] == evaluations[-1]["valid_loss"], summary)
    expect(summary["tokens_per_second"] > 0, summary)
    expect(summary["planned_bytes"] > 0, summary)

    # The evaluation is that of `eval` where it reads all of the data.
    whole, summary = bench.train("whole", "--set", "train.eval_tokens=0",
                                 "--steps", 1)
    loss = run_json(["isobath", "eval", bench.model, "--weights",
                     whole / "final.safetensors", "--data",
                     bench.data])["loss"]
    expect(summary["valid_loss"] == loss, "validation loss",
           summary["valid_loss"], "but eval finds", loss)


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
