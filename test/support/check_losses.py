#===- check_losses.py - The losses that the quick start printed ----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Insists that the validation losses which scripts/quickstart stored for a run
# are in given ranges.
#
#     check_losses.py RUN --before LOW:HIGH --after LOW:HIGH
#
#===----------------------------------------------------------------------===//

import argparse
import json
import pathlib
import sys


def limits(text):
    low, high = text.split(":")
    return float(low), float(high)


def check(path, low, high):
    loss = json.loads(path.read_text(encoding="utf-8"))["loss"]
    print(f"{path}: {loss}")
    # Not true of a loss that is not a number either.
    if not low < loss < high:
        sys.exit(f"error: {path}: loss {loss}, expected between {low} and "
                 f"{high}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--before", type=limits, required=True)
    parser.add_argument("--after", type=limits, required=True)
    arguments = parser.parse_args()
    run = arguments.run
    check(run.with_name(run.name + "-initial.safetensors.loss.json"),
          *arguments.before)
    check(run / "final.safetensors.loss.json", *arguments.after)


if __name__ == "__main__":
    main()
