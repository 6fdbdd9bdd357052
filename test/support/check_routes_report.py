#===- check_routes_report.py - What isobath routes reports ----------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Holds the object that `isobath routes --json` prints against what its fields
# are defined to be, for weights that are far from initial ones.
#
#===----------------------------------------------------------------------===//

import argparse
import math
import random
import sys
from pathlib import Path

from commands import CommandError, run_json
from small_models import random_ids, write_description
from tensor_files import read_safetensors, write_safetensors, write_shard
from training_runs import Failure, expect

# Two layers, blocks of three sublayers: the sources of each site.
SOURCES = {
    "layers.0.attn": ["embedding"],
    "layers.0.mlp": ["embedding", "partial"],
    "layers.1.attn": ["embedding", "partial"],
    "layers.1.mlp": ["embedding", "block 0"],
    "final": ["embedding", "block 0", "partial"],
}


def report(folder, routes, moved=True):
    """The report of a model with these routes, on weights of which `moved`
    says whether their queries are large."""
    model = write_description(
        folder / "model.yaml", layers=2,
        residual=f"{{kind: block, block: 3, depth_heads: 2, routes: {routes}}}")
    weights = folder / "weights"
    run_json(["isobath", "init", model, "-o", weights])
    tensors = read_safetensors(weights)
    for name, tensor in tensors.items() if moved else []:
        chooser = random.Random(name)
        for i, value in enumerate(tensor.values):
            tensor.values[i] = value + 0.5 * chooser.gauss(0, 1)
    write_safetensors(weights, tensors, "F32")
    write_shard(folder / "shard.bin", random_ids(40, 4))
    result = run_json(["isobath", "routes", model, "--weights", weights,
                       "--data", folder / "shard.bin"])
    check_sites(result["sites"])
    return result


def check_sites(sites):
    """Names, sources, weights and entropies of any report."""
    expect({site["name"] for site in sites} == SOURCES.keys(), "sites", sites)
    for site in sites:
        name, weights = site["name"], site["weights"]
        expect(site["sources"] == SOURCES[name], name, "reads",
               site["sources"])
        expect(len(weights) == len(site["sources"]), site)
        expect(all(weight >= 0 for weight in weights), site)
        expect(abs(math.fsum(weights) - 1) < 1e-6, name, "weighs", weights)
        limit = math.log(len(weights))
        expect(-1e-9 <= site["entropy"] <= limit + 1e-6, name, "has entropy",
               site["entropy"], "of", limit, "at most")
        if len(weights) == 1:
            expect(weights == [1] and site["entropy"] == 0, site)
        # The mean of entropies is below the entropy of the mean.
        mixed = -math.fsum(w * math.log(w) for w in weights if w > 0)
        expect(site["entropy"] <= mixed + 1e-6, name, "has entropy",
               site["entropy"], "but its mean weights", mixed)


def groups(result):
    return {site["group"] for site in result["sites"]
            if site["name"].endswith(".attn")}


def divergences(result):
    layers = [entry["layer"] for entry in result["js"]]
    values = [entry["value"] for entry in result["js"]]
    expect(all(0 <= value <= math.log(2) + 1e-9 for value in values), values)
    return dict(zip(layers, values, strict=True))


def check(folder):
    decoupled = report(folder, "{qk: learned, v: learned}")
    expect(groups(decoupled) == {"qk", "v"}, groups(decoupled))
    js = divergences(decoupled)
    # One source leaves nothing to differ in.
    expect(js[0] == 0 and js[1] > 1e-3 and len(js) == 2, js)

    fully = report(folder, "{q: learned, k: learned, v: learned}")
    expect(groups(fully) == {"q", "k", "v"}, groups(fully))
    expect(divergences(fully)[1] > 1e-3, fully["js"])

    repeat = report(folder, "{qk: learned, v: repeat}")
    expect(divergences(repeat) == {0: 0, 1: 0}, repeat["js"])

    tied = report(folder, "{qkv: learned}")
    expect(groups(tied) == {"qkv"} and not tied["js"], tied["js"])

    # A fixed route is a distribution too: here, all of the last source.
    newest = report(folder, "{qk: learned, v: newest}")
    for site in newest["sites"]:
        if site["group"] == "v":
            expect(site["weights"] == [0] * (len(site["sources"]) - 1) + [1],
                   site)
    expect(divergences(newest)[1] > 1e-3, newest["js"])

    # Zero queries read all sources alike.
    initial = report(folder, "{qk: learned, v: uniform}", moved=False)
    expect(divergences(initial)[1] < 1e-9, initial["js"])
    for site in initial["sites"]:
        share = 1 / len(site["weights"])
        expect(all(abs(weight - share) < 1e-6 for weight in site["weights"]),
               site)
        expect(abs(site["entropy"] + math.log(share)) < 1e-6, site)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="a folder")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True)
    try:
        check(arguments.output)
    except (CommandError, Failure) as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
