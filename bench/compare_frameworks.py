#!/usr/bin/env python3
#===- compare_frameworks.py - Steps of Isobath, PyTorch and JAX ----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Times a training step of the same models in Isobath and in its peers, one
# program after the other, and prints ratios. With --check it compares what they
# compute instead. README.md says what the numbers mean.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import os
import platform
import sys

from processes import (BENCH, FRAMEWORKS, Failure, missing, run_isobath,
                       run_peer)

try:
    import check_peers
    from description import Unsupported, read_model
except ModuleNotFoundError as absent:
    sys.exit(f"error: {absent.name}: no such package; "
             "pip install numpy safetensors pyyaml")

# Isobath's two measurements differ by more where something else was running.
STEADY = 0.1


def machine():
    """What ran this: the processor, and what of it matters for bf16."""
    name, flags = platform.processor(), []
    with open("/proc/cpuinfo", encoding="ascii") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            elif key.strip() == "flags":
                flags = value.split()
    wide = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
            if flag in flags]
    return {"processor": name, "processors": os.cpu_count(), "flags": wide,
            "load": os.getloadavg()[0]}


def progress(text):
    print(text, file=sys.stderr, flush=True)


def measure(options, path, model, precision):
    """A row for each program on one model in one precision."""
    def isobath():
        return run_isobath(
            options.isobath, ["bench", "step", path, "--precision", precision,
                              "--steps", options.steps],
            options.threads, options.limit)

    def peer(framework):
        return run_peer(framework, [path, "--precision", precision, "--steps",
                                    options.steps],
                        options.threads, options.limit)

    def row(framework, action):
        progress(f"{model.name}, {precision}: {framework}")
        result = {"model": model.name, "precision": precision,
                  "framework": framework}
        try:
            return {**result, **action()}
        except Failure as problem:
            return {**result, "error": str(problem)}

    rows = [row("isobath", isobath)]
    rows += [row(name, lambda name=name: peer(name))
             for name in options.frameworks]
    first = rows[0]
    again = row("isobath", isobath) if options.frameworks else first
    if "error" in again:
        rows[0] = again
    elif "error" not in first:
        both = [first["step_ms"], again["step_ms"]]
        rows[0] = {**first, "step_ms": sum(both) / 2, "both_ms": both}
        for other in rows:
            if "step_ms" in other:
                other["ratio"] = other["step_ms"] / rows[0]["step_ms"]
    return rows


def ratios_to_standard(models, rows):
    """Rows with the time of each routed model over that of the standard one."""
    times = {(r["model"], r["precision"], r["framework"]): r["step_ms"]
             for r in rows if "step_ms" in r}
    found = []
    for base in models:
        for model in models:
            if base.routed or not model.routed or (
                    base.sizes() != model.sizes()):
                continue
            for name, precision, framework in times:
                key = (base.name, precision, framework)
                if name == model.name and key in times:
                    ratio = times[name, precision, framework] / times[key]
                    found.append({"model": model.name, "standard": base.name,
                                  "precision": precision,
                                  "framework": framework, "ratio": ratio})
    return found


class Number(str):
    """A cell that is a number, or that a number is missing from."""

    def __new__(cls, value, digits):
        return super().__new__(
            cls, "-" if value is None else f"{value:.{digits}f}")


def print_table(titles, rows):
    """Prints columns as wide as they need to be, numbers at the right."""
    cells = [[str(cell) for cell in row] for row in [titles, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(titles))]
    numbers = [all(isinstance(row[i], Number) for row in rows)
               for i in range(len(titles))]
    for row in cells:
        print("  ".join(cell.rjust(width) if number else cell.ljust(width)
                        for cell, width, number in zip(row, widths, numbers)
                        ).rstrip())
    print()


def print_report(options, rows, ratios):
    info = machine()
    print(f"{info['processor']}, {' '.join(info['flags'])}; {options.threads} "
          f"threads; medians of {options.steps} steps\n")
    print_table(
        ["model", "precision", "framework", "ms per step", "to Isobath"],
        [[r["model"], r["precision"], r["framework"],
          Number(r.get("step_ms"), 1), Number(r.get("ratio"), 2)]
         for r in rows])
    if ratios:
        print_table(
            ["model", "precision", "framework", "to standard"],
            [[r["model"], r["precision"], r["framework"],
              Number(r["ratio"], 2)] for r in ratios])
    for r in rows:
        shown = f"{r['model']}, {r['precision']}, {r['framework']}"
        if "error" in r:
            print(f"{shown}: {r['error']}")
        elif "both_ms" in r and (
                max(r["both_ms"]) > (1 + STEADY) * min(r["both_ms"])):
            print(f"{shown}: {r['both_ms'][0]:.1f} ms before the others and "
                  f"{r['both_ms'][1]:.1f} ms after: not a quiet machine")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Time a training step in Isobath, PyTorch and JAX.")
    parser.add_argument("--isobath", metavar="TOOL",
                        default=BENCH.parent / "build/release/bin/isobath",
                        help="default: build/release/bin/isobath")
    parser.add_argument("--model", nargs="+", action="extend", metavar="FILE",
                        help="descriptions; default: models/standard.yaml and "
                        "models/rd.yaml, or with --check small models")
    parser.add_argument("--precision", nargs="+", choices=["f32", "bf16"],
                        default=["f32", "bf16"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5,
                        help="steps to take the median of, after warming up")
    parser.add_argument("--frameworks", nargs="*", choices=list(FRAMEWORKS),
                        default=list(FRAMEWORKS))
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS",
                        help="stop a program after so long; default: 1800")
    parser.add_argument("--check", action="store_true",
                        help="compare loss and gradients, and time nothing")
    parser.add_argument("--json", action="store_true",
                        help="print one JSON object")
    options = parser.parse_args()
    available = len(os.sched_getaffinity(0))
    if not 1 <= options.threads <= available:
        parser.error(f"--threads: given {options.threads}, expected 1 to "
                     f"{available}, the processors of this process")
    if options.steps < 1:
        parser.error(f"--steps: given {options.steps}, expected 1 or more")
    return options


def main():
    options = parse_arguments()
    for name in list(options.frameworks):
        package = missing(name)
        if package:
            progress(f"{name}: left out: no package {package}")
            options.frameworks.remove(name)
    if options.check:
        good = check_peers.check(
            options.isobath, options.model, options.frameworks,
            options.precision, options.threads, options.limit)
        return 0 if good else 1
    paths = options.model or [BENCH / "models" / f"{name}.yaml"
                              for name in ("standard", "rd")]
    models = [read_model(path) for path in paths]
    rows = [row for path, model in zip(paths, models)
            for precision in options.precision
            for row in measure(options, path, model, precision)]
    ratios = ratios_to_standard(models, rows)
    if options.json:
        print(json.dumps({"machine": machine(), "threads": options.threads,
                          "steps": options.steps, "results": rows,
                          "to_standard": ratios}))
    else:
        print_report(options, rows, ratios)
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failure, Unsupported, OSError) as problem:
        sys.exit(f"error: {problem}")
