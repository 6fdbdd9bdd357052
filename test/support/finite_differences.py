#===- finite_differences.py - Are the gradients those of the loss? -------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Checks `isobath grad --precision f64` against its own loss: parameters are
# moved a little, and the change of the loss must be what the gradient says. It
# moves, by default, every tensor on its own in one direction of random signs
# and along one random coordinate; --whole N moves all tensors at once in N such
# directions instead, which costs far fewer runs and suits random models.
#
# Lengths are measured in the root mean square r_t of each tensor t, so that a
# step moves every element by a like part of its size. With g the gradient, |·|
# the Euclidean norm, u the direction (elements ±r_t, or one of them), h the
# step and ∂ the difference quotient of six points,
#
#     ∂ = (45 (L₊₁ − L₋₁) − 9 (L₊₂ − L₋₂) + (L₊₃ − L₋₃)) / 60h
#
# every direction must satisfy
#
#     |∂ − g·u| ≤ 1e-9 · r_t · max(|g_t|, 1e-4 · |g|) + 1e-14 / h
#
# (with --whole, r_t |g_t| is the norm over all tensors). Losses are near 4 and
# carry a rounding error of one or two units in the last place, 1e-15; the six
# of them give up to 2e-15 / h, and the last term allows five times that. The
# quotient's own error is h⁶ L⁽⁷⁾ / 140. At h = 1e-4 that is 1e-12 in most
# models, but narrow ones bend sharply where a norm divides by a small row. So a
# direction that fails is tried again with h / 4 and h / 16, where the
# quotient's own error is 4,096 and 16.8 million times smaller; the bound,
# rounding included, is then at most 1e-9 · r_t · |g_t| + 1.6e-9, and a wrong
# gradient stays wrong.
#
#===----------------------------------------------------------------------===//

import argparse
import math
import random
import sys
import tempfile
from array import array
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from commands import CommandError, run_json
from compare_gradients import FLOOR, norm
from tensor_files import Tensor, read_safetensors, write_safetensors

TOLERANCE = 1e-9
ROUNDING = 1e-14
REFINEMENTS = [1, 4, 16]
STENCIL = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}


@dataclass
class Direction:
    """A line through the parameters: t moves along signs[t] · scale[t]."""

    label: str
    signs: dict  # name -> a direction with elements −1, 0 and 1
    scale: dict  # name -> root mean square of the tensor


def root_mean_square(values):
    # A tensor of zeros (a query at the start) has no size of its own.
    return norm(values) / math.sqrt(len(values)) or 0.1


class Problem:
    """A model, a batch, and the loss as a function of the parameters."""

    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.directory = directory
        self.weights = read_safetensors(arguments.weights)
        self.scale = {n: root_mean_square(t.values)
                      for n, t in self.weights.items()}
        path = directory / "gradients.safetensors"
        self.run("start", self.weights, path)
        self.gradients = read_safetensors(path)
        self.norm = norm(
            x for t in self.gradients.values() for x in t.values)

    def run(self, label, weights, output):
        """The loss with `weights`, which are passed as F64: nothing rounds."""
        path = self.directory / f"{label}.weights.safetensors"
        write_safetensors(path, weights, "F64")
        printed = run_json([
            self.arguments.isobath, "grad", self.arguments.model,
            "--weights", path, "--data", self.arguments.data,
            "--batch", self.arguments.batch, "-o", output,
            "--device", self.arguments.device, "--precision", "f64"])
        path.unlink()
        value = printed.get("loss")
        if not isinstance(value, float):
            raise CommandError(f"grad printed the loss {value!r}")
        return value

    def loss_at(self, index, direction, step):
        """The loss after moving `step` along the `index`-th direction."""
        moved = dict(self.weights)
        for name, signs in direction.signs.items():
            distance = step * direction.scale[name]
            old = self.weights[name]
            moved[name] = Tensor(old.shape, array("d", (
                x + distance * sign for x, sign in zip(old.values, signs))))
        label = f"{index}{step:+g}"
        output = self.directory / f"{label}.gradients.safetensors"
        value = self.run(label, moved, output)
        output.unlink()
        return value

    def sign_direction(self, label, names, generator):
        return Direction(label, {
            n: [generator.choice((-1, 1)) for _ in self.weights[n].values]
            for n in names}, self.scale)

    def coordinate_direction(self, name, generator):
        count = len(self.weights[name].values)
        index = generator.randrange(count)
        signs = [0] * count
        signs[index] = 1
        return Direction(f"{name}[{index}]", {name: signs}, self.scale)

    def predicted(self, direction):
        """The loss's slope along the direction, and the scale of its error."""
        terms, squares = [], []
        for name, signs in direction.signs.items():
            scale = direction.scale[name]
            gradient = self.gradients[name].values
            terms += [scale * g * sign for g, sign in zip(gradient, signs)]
            squares.append((scale * norm(gradient)) ** 2)
        floor = FLOOR * self.norm * min(
            direction.scale[n] for n in direction.signs)
        return math.fsum(terms), max(math.sqrt(math.fsum(squares)), floor)


def directions(problem, arguments):
    generator = random.Random(arguments.seed)
    if arguments.whole:
        return [problem.sign_direction(f"all parameters, direction {i}",
                                       problem.weights, generator)
                for i in range(arguments.whole)]
    chosen = []
    for name in problem.weights:
        chosen.append(problem.sign_direction(name, [name], generator))
        chosen += [problem.coordinate_direction(name, generator)
                   for _ in range(arguments.coordinates)]
    return chosen


def check_at(problem, index, direction, step):
    """Returns (difference over its bound, a line that says what was found)."""
    quotient = math.fsum(
        sign * weight / step * problem.loss_at(
            index, direction, sign * k * step)
        for k, weight in STENCIL.items() for sign in (1, -1))
    slope, scale = problem.predicted(direction)
    error = abs(quotient - slope)
    bound = TOLERANCE * scale + ROUNDING / step
    ratio = error / bound if math.isfinite(error) else math.inf
    return ratio, (f"{direction.label}: the gradient says {slope!r}, the loss "
                   f"{quotient!r}; they differ by {error:.3g}, at most "
                   f"{bound:.3g} expected")


def check(problem, index, direction, step):
    """The best of the refinements; they stop at the first that passes."""
    best = (math.inf, f"{direction.label}: the gradient or the loss "
                      "is not finite")
    for divisor in REFINEMENTS:
        found = check_at(problem, index, direction, step / divisor)
        best = min(best, found, key=lambda pair: pair[0])
        if best[0] <= 1:
            break
    return best


def main():
    parser = argparse.ArgumentParser(
        description="Compares f64 gradients with differences of the loss.")
    parser.add_argument("--isobath", required=True, help="path of the program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--batch", required=True, type=int)
    parser.add_argument("--device", default="reference")
    parser.add_argument("--coordinates", type=int, default=1,
                        help="random coordinates of each tensor (default: 1)")
    parser.add_argument("--whole", type=int, default=0, metavar="N",
                        help="move all tensors at once, in N directions")
    parser.add_argument("--step", type=float, default=1e-4,
                        help="step, relative to the tensor (default: 1e-4)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2,
                        help="runs at the same time (default: 2)")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as directory, (
                ThreadPoolExecutor(arguments.jobs)) as pool:
            problem = Problem(arguments, Path(directory))
            unpaired = problem.gradients.keys() ^ problem.weights.keys()
            if unpaired:
                print(f"only weights or only gradients: {sorted(unpaired)}")
                return 1
            results = list(pool.map(
                lambda pair: check(problem, *pair, arguments.step),
                enumerate(directions(problem, arguments))))
    except CommandError as problem:
        print(problem)
        return 1
    failures = [line for ratio, line in results if not ratio <= 1]
    for line in failures:
        print(line)
    print(f"{len(results)} directions, worst difference "
          f"{max(ratio for ratio, _ in results):.3g} of its bound, "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
