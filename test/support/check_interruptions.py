#===- check_interruptions.py - Runs that are killed or asked to stop ------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# What a run leaves behind when a signal ends it at any instant, and that
# --resume goes on from there as if nothing had happened. A check never waits
# for a time to pass, only for the run to get somewhere; what is random is how
# much longer it may go on then.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from commands import CommandError
from training_runs import (Bench, Failure, checkpoints, expect, expect_same,
                           metrics)

KILLS = 20


class Process:
    """A training command in the background."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_until(self, condition):
        """Waits for `condition()`; false if the command ended first."""
        while not condition():
            if self.process.poll() is not None:
                return False
            time.sleep(0.001)
        return True

    def catches(self, number):
        """Whether the process has a handler for a signal now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        caught = int(status.split("SigCgt:")[1].split()[0], 16)
        return bool(caught >> (number - 1) & 1)

    def end(self, number):
        """Sends a signal; returns exit status, output and messages."""
        self.process.send_signal(number)
        output, messages = self.process.communicate()
        return self.process.returncode, output, messages


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def last_step(run):
    """The last step of which metrics.jsonl has a complete line."""
    lines = metrics(run) if (run / "metrics.jsonl").exists() else []
    return max((line["step"] for line in lines), default=0)


#===----------------------------------------------------------------------===#
# Checks
#===----------------------------------------------------------------------===#

def check_kills(folder):
    """Kills at random instants: a checkpoint is complete or absent, no step
    before the last one is lost, and in the end nothing has happened."""
    bench = Bench(folder, {"batch": 16, "steps": 400, "warmup": 100,
                           "checkpoint_every": 5, "eval_every": 7})
    whole, summary = bench.train("whole")
    chooser = random.Random(20)
    run, kills, rounds = bench.folder / "killed-0", 0, 0
    while kills < KILLS:
        # Up to the time of 15 steps with their checkpoints.
        seconds = metrics_seconds(whole) / 400 * 15 * chooser.random()
        before = size_of(run / "metrics.jsonl")
        process = Process(bench.command(run.name, "--resume", "--json"))
        # Every fourth time before the first step, or while the folder is made.
        early = kills % 4 == 0
        if process.wait_until(
                run.exists if early else
                lambda: size_of(run / "metrics.jsonl") > before):
            time.sleep(seconds)
        status, output, messages = process.end(signal.SIGKILL)
        if status == 0:
            # It was through before the signal came.
            expect(json.loads(output)["steps"] == 400, output)
            expect_same(whole, run)
            rounds += 1
            run = bench.folder / f"killed-{rounds}"
            continue
        expect(status == -signal.SIGKILL, "exit status", status, messages)
        kills += 1
        if not run.exists():
            continue
        saved = max(checkpoints(run), default=0)
        taken = last_step(run)
        # A step is taken when everything before it that is to be saved is.
        expect(saved >= (taken - 1) // 5 * 5, "the last checkpoint is of step",
               saved, "after step", taken)
    run, _ = bench.train(run.name, "--resume")
    expect_same(whole, run)
    print(f"{kills} kills, {rounds + 1} runs of 400 steps")


def metrics_seconds(run):
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return max(json.loads(line).get("seconds", 0) for line in lines)


def check_termination(folder):
    """SIGTERM and SIGINT: the step is finished and saved, the status is 0, and
    the run can be continued to the same bytes."""
    bench = Bench(folder, {"batch": 32, "steps": 200, "warmup": 60,
                           "checkpoint_every": 1000, "eval_every": 50,
                           "keep": 1})
    whole, _ = bench.train("whole")
    run = bench.folder / "stopped"
    for number in [signal.SIGTERM, signal.SIGINT]:
        before = size_of(run / "metrics.jsonl")
        process = Process(bench.command(run.name, "--resume", "--json"))
        expect(process.wait_until(
            lambda: size_of(run / "metrics.jsonl") > before),
               "the run was over before a signal came")
        status, output, messages = process.end(number)
        expect(status == 0, "exit status", status, messages)
        summary = json.loads(output)
        expect(summary["stopped"], "the run was over before a signal came")
        expect(f"stopped by {number.name} after step {summary['steps']}"
               in messages, messages)
        expect(checkpoints(run) == [summary["steps"]], "checkpoints",
               checkpoints(run), "expected one of step", summary["steps"])
        expect(last_step(run) == summary["steps"], "metrics of step",
               last_step(run))
        expect(not (run / "final.safetensors").exists(), "final weights")
    run, _ = bench.train(run.name, "--resume")
    expect_same(whole, run)


def check_nothing_saved(folder):
    """A signal while the model is compiled: 130 or 143, and no folder."""
    bench = Bench(folder, layers=8,
                  residual="{kind: full, routes: {q: learned, k: learned, "
                           "v: learned}}")
    for number, expected in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        process = Process(bench.command("run"))
        expect(process.wait_until(lambda: process.catches(number)),
               "the command was over before a signal came")
        status, output, messages = process.end(number)
        expect(status == expected, "exit status", status, messages)
        expect(not output, "standard output", output)
        expect(not (bench.folder / "run").exists(), "a folder was left")


CHECKS = {check.__name__.removeprefix("check_").replace("_", "-"): check
          for check in [check_kills, check_termination, check_nothing_saved]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("-o", "--output", required=True, help="a folder")
    arguments = parser.parse_args()
    try:
        CHECKS[arguments.check](arguments.output)
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
