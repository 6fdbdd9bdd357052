#===- training_runs.py - Folders of runs, taken apart and compared --------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# What tests of `isobath train` have in common: starting it, reading what it
# writes, and comparing two runs byte for byte, times aside.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import re
import sys
from pathlib import Path

from commands import CommandError, run_json
from small_models import SETTINGS, write_data, write_description
from tensor_files import read_safetensors

CHECKPOINT_FILES = ["optimizer.safetensors", "state.json",
                    "weights.safetensors"]


class Failure(Exception):
    """A run that is not what it has to be."""


def expect(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


def run_checks(checks, prepare=lambda folder: folder):
    """A script's main: runs the one of the functions check_… that the command
    line names, with what `prepare` makes of the folder that it gives."""
    by_name = {check.__name__.removeprefix("check_").replace("_", "-"): check
               for check in checks}
    parser = argparse.ArgumentParser()
    parser.add_argument("check", choices=by_name)
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="a folder")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True)
    try:
        by_name[arguments.check](prepare(arguments.output))
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")


class Bench:
    """A folder with a small model, data, and runs of it."""

    def __init__(self, folder, settings=None, data=None, **model):
        self.folder = Path(folder)
        self.data = write_data(self.folder / "data", **(data or {}))
        self.model = write_description(self.folder / "model.yaml",
                                       SETTINGS | (settings or {}), **model)

    def command(self, run, *options):
        """The words of a command that trains in the folder `run`."""
        return ["isobath", "train", str(self.model), "--data", str(self.data),
                "-o", str(self.folder / run), *map(str, options)]

    def train(self, run, *options):
        """Trains, and returns the folder of the run and the summary."""
        summary = run_json(self.command(run, *options))
        return self.folder / run, summary


def checkpoints(run):
    """The steps of a run's checkpoints, which must all be complete."""
    steps = []
    for path in sorted(Path(run).iterdir()):
        name = re.fullmatch(r"checkpoint-(\d{8})", path.name)
        if not name:
            continue
        steps.append(int(name[1]))
        files = sorted(file.name for file in path.iterdir())
        expect(files == CHECKPOINT_FILES, path, "holds", files)
        state = json.loads((path / "state.json").read_bytes())
        expect(state["step"] == steps[-1], path, "is of step", state["step"])
        for file in CHECKPOINT_FILES:
            if file.endswith(".safetensors"):
                read_safetensors(path / file)
    return steps


def metrics(run):
    """The complete lines of metrics.jsonl as objects without their times."""
    text = (Path(run) / "metrics.jsonl").read_bytes()
    lines = [json.loads(line) for line in text.split(b"\n")[:-1]]
    for line in lines:
        expect(line.pop("seconds", 0) >= 0, run, "has a negative time")
    return lines


def files(run):
    """Every file below `run` by its path in it."""
    return {path.relative_to(run): path for path in sorted(run.rglob("*"))
            if path.is_file()}


def expect_same(first, second):
    """Two folders of runs hold the same files with the same bytes, except for
    the times in metrics.jsonl."""
    left, right = files(first), files(second)
    expect(left.keys() == right.keys(), first, "and", second,
           "hold different files:", *(left.keys() ^ right.keys()))
    for name, path in left.items():
        if name.name == "metrics.jsonl":
            expect(metrics(first) == metrics(second), "the metrics of", first,
                   "and", second, "differ")
        else:
            expect(path.read_bytes() == right[name].read_bytes(), path, "and",
                   right[name], "differ")
