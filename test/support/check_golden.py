#===- check_golden.py - Does isobath compute what a golden says? ---------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Runs `grad`, `eval` and, where the golden has its numbers, `routes` on one
# case of test/goldens, and compares what they print and write. Prints a line
# for each difference and one with the worst gradient; the exit status is 1 if
# anything differs.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from commands import CommandError, run_json
from compare_gradients import compare
from tensor_files import read_safetensors


@dataclass
class Tolerance:
    gradient: float  # as in compare_gradients.py
    loss: float  # relative
    route: float  # absolute: weights, entropies and divergences


TOLERANCES = {
    # The goldens are f64 themselves; both sides round at 1e-16, and the cases
    # amplify that at most a million times.
    "f64": Tolerance(gradient=1e-9, loss=1e-12, route=1e-10),
    # f32 rounds at 6e-8. Sums here have at most a few hundred terms, and a
    # gradient passes tens of operations: the oracle itself, run in f32, stays
    # within 2e-5 of these, and a wrong formula is off by 1e-2 or more.
    "f32": Tolerance(gradient=1e-4, loss=1e-5, route=2e-5),
    # bf16 rounds at 4e-3 wherever a source or a GEMM operand is stored. The
    # cases are small, so nothing averages out.
    "bf16": Tolerance(gradient=1e-1, loss=2e-2, route=5e-2),
}


class Checks:
    """Collects differences; a number that is not finite is always one."""

    def __init__(self):
        self.failures = []

    def close(self, what, found, expected, absolute):
        number = isinstance(found, (int, float)) and not isinstance(found, bool)
        if not number or not abs(found - expected) <= absolute:
            self.failures.append(f"{what}: {found!r}, expected {expected!r} "
                                 f"within {absolute:.3g}")

    def relative(self, what, found, expected, tolerance):
        self.close(what, found, expected, tolerance * abs(expected))

    def equal(self, what, found, expected):
        if found != expected or type(found) is not type(expected):
            self.failures.append(f"{what}: {found!r}, expected {expected!r}")


def check_gradients(checks, run, case, expected, tolerance, directory):
    output = directory / "gradients.safetensors"
    printed = run("grad", "--batch", expected["batch"], "-o", output)
    checks.relative("grad: loss", printed.get("loss"), expected["loss"],
                    tolerance.loss)
    checks.equal("grad: tokens", printed.get("tokens"), expected["tokens"])
    failures, worst, name = compare(
        read_safetensors(output),
        read_safetensors(case / "expected.safetensors"), tolerance.gradient,
        exact_zeros=True)
    checks.failures += [f"grad: {failure}" for failure in failures]
    return f"worst gradient {worst:.3g} ({name})"


def check_evaluation(checks, run, expected, tolerance):
    printed = run("eval")
    checks.relative("eval: loss", printed.get("loss"), expected["loss"],
                    tolerance.loss)
    # exp turns an absolute error of the loss into a relative one.
    checks.relative("eval: perplexity", printed.get("perplexity"),
                    expected["perplexity"],
                    2 * tolerance.loss * max(1, expected["loss"]))
    checks.equal("eval: tokens", printed.get("tokens"), expected["tokens"])


def find_site(sites, wanted):
    """The printed entry of a site; sites with one route have no group."""
    for site in sites:
        if site.get("name") == wanted["name"] and (
                wanted["group"] in (None, site.get("group"))):
            return site
    return None


def check_routes(checks, run, expected, tolerance):
    printed = run("routes")
    sites = printed.get("sites", [])
    checks.equal("routes: number of sites", len(sites), len(expected["sites"]))
    for wanted in expected["sites"]:
        what = f"routes: {wanted['name']} {wanted['group'] or ''}".rstrip()
        site = find_site(sites, wanted)
        if site is None:
            checks.failures.append(f"{what}: missing")
            continue
        checks.equal(f"{what}: number of sources",
                     len(site.get("sources", [])), wanted["sources"])
        weights = site.get("weights", [])
        checks.equal(f"{what}: number of weights", len(weights),
                     wanted["sources"])
        for i, (found, weight) in enumerate(zip(weights, wanted["weights"])):
            checks.close(f"{what}: weight {i}", found, weight, tolerance.route)
        # An entropy's slope is that of x log x, up to log of the sources more.
        checks.close(f"{what}: entropy", site.get("entropy"),
                     wanted["entropy"],
                     tolerance.route * (1 + math.log(wanted["sources"])))
    js = {entry.get("layer"): entry.get("value")
          for entry in printed.get("js", [])}
    checks.equal("routes: layers of js", sorted(js),
                 [entry["layer"] for entry in expected["js"]])
    for entry in expected["js"]:
        checks.close(f"routes: js of layer {entry['layer']}",
                     js.get(entry["layer"]), entry["value"], tolerance.route)


def main():
    parser = argparse.ArgumentParser(
        description="Compares isobath with one golden.")
    parser.add_argument("--isobath", required=True, help="path of the program")
    parser.add_argument("--case", required=True, type=Path,
                        help="folder of the golden")
    parser.add_argument("--device", default="reference")
    parser.add_argument("--precision", default="f32", choices=TOLERANCES)
    arguments = parser.parse_args()
    case, tolerance = arguments.case, TOLERANCES[arguments.precision]
    expected = json.loads((case / "expected.json").read_text())

    def run(verb, *options):
        return run_json([arguments.isobath, verb, case / "model.yaml",
                         "--weights", case / "weights.safetensors",
                         "--data", case / "data.bin", *options,
                         "--device", arguments.device,
                         "--precision", arguments.precision])

    checks = Checks()
    try:
        with tempfile.TemporaryDirectory() as directory:
            summary = check_gradients(checks, run, case, expected, tolerance,
                                      Path(directory))
        check_evaluation(checks, run, expected["eval"], tolerance)
        if "routes" in expected:
            check_routes(checks, run, expected["routes"], tolerance)
    except CommandError as problem:
        print(problem)
        return 1
    for failure in checks.failures:
        print(failure)
    print(f"{case.name}: {summary}, {len(checks.failures)} differences")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
