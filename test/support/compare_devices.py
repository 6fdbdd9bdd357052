#===- compare_devices.py - Devices against the reference -----------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Gradients of random models on the device `cpu`, or another, in f32 and bf16,
# beside those of the reference; with --schedules also under all schedules of
# routes that can be forced. With |·| the Euclidean norm, per tensor:
#
#     |g − g*| ≤ max(t · |g*|, a · |G*|)
#                + k · max(|g*| · |G* − F*| / |G*|, |g* − f*|)
#
# with g* the reference's gradient in that type, f* the one in f64, G* and F*
# those of all tensors together; t is 1e-5 for f32 and 2e-2 for bf16, a 1e-8 and
# 2e-6, both far below the rounding of a number as large as |G*|; k is 1 and 4. Both
# devices round at the same places, but add in another order, and so round
# differently now and then; a sum that falls close to the middle between two
# bf16 numbers becomes the other one, by 2^-8, and whatever is computed from it
# moves too. That does not weigh more than all roundings together, which is the
# second term: the effect of rounding on the whole gradient, in relation to this
# tensor, whose own may be smaller because errors happen to cancel in it. The
# first term is there where they cancel everywhere.
#
# In bf16 the few numbers of a query move by a handful of such roundings, in
# sizes that differ from run to run: of 200 random models, the worst tensor of
# ten was beyond once what the reference's own rounding is, by up to 2.2 times
# but for one model of six tokens. So k is 4 there, and the whole gradient, where
# that evens out, is held to more: its distance from F* is at most 3 times the
# reference's (1.0 in the median of these models, 2.4 at most). What is wrong and
# not rounded differently is caught in f32, where all code but the roundings is
# the same.
#
#===----------------------------------------------------------------------===//

import argparse
import subprocess
import sys
from array import array
from pathlib import Path

from commands import CommandError, run_json
from compare_gradients import norm
from tensor_files import Tensor, read_safetensors

BATCH = 2
TOLERANCES = {"f32": (1e-5, 1e-8, 1), "bf16": (2e-2, 2e-6, 4)} # t, a and k
WHOLE = 3 # of the distance of the reference's bf16 gradient from f64's
FORCED = [f"forward={forward},backward={backward}"
          for forward in ["each", "batched"]
          for backward in ["each", "batched"]]

# Levels of x86-64 processors by a flag of /proc/cpuinfo that comes with each.
LEVELS = {"x86-64": "sse2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}


def gradients(folder, device, precision, schedule=None):
    path = folder / f"{device}.{precision}"
    options = ["--schedule", schedule] if schedule else []
    run_json(["isobath", "grad", folder / "model.yaml", "--weights",
              folder / "weights.safetensors", "--data", folder / "data.bin",
              "--batch", str(BATCH), "-o", path, "--device", device,
              "--precision", precision, *options])
    return read_safetensors(path)


def levels_of_machine():
    flags = Path("/proc/cpuinfo").read_text().split()
    return [level for level, flag in LEVELS.items() if flag in flags]


def gradients_of_program(folder, processor, precision):
    """The same from a training binary for `processor`."""
    path = folder / f"{processor}.{precision}"
    program = folder / f"program.{processor}.{precision}"
    subprocess.run(["isobath", "compile", folder / "model.yaml", "--cpu",
                    processor, "--precision", precision, "--set",
                    f"train.batch={BATCH}", "-o", program], check=True)
    run_json([program, "grad", "--weights", folder / "weights.safetensors",
              "--data", folder / "data.bin", "--batch", str(BATCH), "-o",
              path])
    return read_safetensors(path)


def join_mixtures(tensors):
    """One tensor of all static mixtures: each has a handful of numbers that add
    up to zero, too few for the effects of rounding to bf16 to even out."""
    joined = {n: t for n, t in tensors.items() if not n.endswith(".mixture")}
    values = array("d", (x for n in sorted(tensors.keys() - joined.keys())
                         for x in tensors[n].values))
    return {**joined, "mixtures": Tensor([len(values)], values)}


def distance(first, second):
    return norm(a - b for a, b in zip(first.values, second.values))


def worst_ratio(found, expected, unrounded, precision):
    """The largest |g − g*| over its bound, and the tensor's name."""
    total = norm(x for t in expected.values() for x in t.values)
    apart = norm(x - y for n, t in expected.items()
                 for x, y in zip(t.values, unrounded[n].values))
    relative, absolute, factor = TOLERANCES[precision]
    worst = (0.0, "none")
    if precision == "bf16":
        error = norm(x - y for n, t in found.items()
                     for x, y in zip(t.values, unrounded[n].values))
        worst = (error / (WHOLE * apart), "the whole gradient")
    for name, wanted in expected.items():
        size = norm(wanted.values)
        rounding = max(size * apart / total, distance(wanted, unrounded[name]))
        bound = max(relative * size, absolute * total) + factor * rounding
        error = distance(found[name], wanted)
        # Not a number is never small enough.
        ratio = error / bound if bound else (0.0 if error == 0 else 1e9)
        if not ratio <= worst[0]:
            worst = (ratio, name)
    return worst


def check(folder, seed, device, schedules, processors):
    """Lines that say what differs for one random model: on `device`, also under
    `schedules`, or, where `processors` are given, on theirs."""
    subprocess.run([sys.executable, Path(__file__).with_name("random_model.py"),
                    "--seed", str(seed), "--storage", "F32", "-o", folder],
                   check=True)
    exact = gradients(folder, "reference", "f64")
    failures = []
    for precision in TOLERANCES:
        expected = gradients(folder, "reference", precision)
        results = {name: gradients_of_program(folder, name, precision)
                   for name in processors}
        if not processors:
            results = {schedule or device: gradients(folder, device, precision,
                                                     schedule)
                       for schedule in [None, *schedules]}
        for where, found in results.items():
            place = f"seed {seed}, {where}, {precision}"
            if found.keys() != expected.keys():
                failures.append(f"{place}: other tensors")
                continue
            three = [found, expected, exact]
            if precision == "bf16":
                three = map(join_mixtures, three)
            ratio, name = worst_ratio(*three, precision)
            if not ratio <= 1:
                failures.append(f"{place}: {name} differs by {ratio:.3g} of "
                                "what is allowed")
    return failures


def main():
    parser = argparse.ArgumentParser(
        description="Compares gradients of random models with the reference's.")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--device", default="cpu",
                        help="another than the reference")
    parser.add_argument("--schedules", action="store_true",
                        help="also those that can be forced")
    parser.add_argument("--levels", action="store_true",
                        help="compile training binaries for each level of "
                             "x86-64 processors that this machine runs")
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="a folder")
    arguments = parser.parse_args()
    processors = levels_of_machine() if arguments.levels else []
    failures = []
    try:
        for seed in range(arguments.first, arguments.first + arguments.count):
            failures += check(arguments.output / str(seed), seed,
                              arguments.device,
                              FORCED if arguments.schedules else [],
                              processors)
    except CommandError as problem:
        sys.exit(f"error: {problem}")
    for line in failures:
        print(line)
    print(f"{arguments.count} random models, {len(failures)} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
