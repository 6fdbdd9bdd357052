#===- random_model.py - Random models, weights and data for tests --------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Writes model.yaml, weights.safetensors and data.bin into a folder: a valid
# model description drawn from the whole space of configurations, weights far
# from initial values, and one batch of ids. A seed always gives the same files.
# Sizes are small, and every key is left out now and then where it has a
# default.
#
#===----------------------------------------------------------------------===//

import argparse
import math
import random
import sys
from array import array
from pathlib import Path

from tensor_files import SIZES, Tensor, write_safetensors, write_shard

FIXED = ["uniform", "newest", "embedding", "repeat"]


def divisors(n):
    return [i for i in range(1, n + 1) if n % i == 0]


def random_routes(r):
    groups = r.choice([["qkv"], ["qk", "v"], ["q", "k", "v"]])
    routes = {group: "learned" for group in groups}
    if "v" in routes and r.random() < 0.5:
        routes["v"] = r.choice(FIXED)
    # The order in which groups are written means nothing.
    return dict(r.sample(list(routes.items()), len(routes)))


def random_residual(r, width, layers):
    kind = r.choice(["standard", "full", "block", "block", "block"])
    residual = {"kind": kind}
    if kind == "standard":
        return residual
    if kind == "block":
        # From one sublayer to more than there are.
        residual["block"] = r.randint(1, 2 * layers + 2)
    residual["depth_heads"] = r.choice(divisors(width))
    residual["key_gain"] = r.random() < 0.5
    residual["query_init"] = r.choice(["zero", "normal"])
    residual["query_std"] = r.choice([0.02, "1e-1", "5.0e-2"])
    residual["routes"] = random_routes(r)
    return residual


def choose_score(r, residual):
    """Makes a quarter of all routed models static, with a generator of its own:
    the others do not depend on it."""
    if residual["kind"] == "standard" or r.random() < 0.75:
        return
    residual["score"] = "static"
    for key in ["depth_heads", "key_gain", "query_init", "query_std"]:
        del residual[key]
    if residual["routes"].get("v") == "repeat":
        residual["routes"]["v"] = "learned"


def random_description(r):
    """A description with every key of the model; see `forget_defaults`."""
    heads = r.randint(1, 4)
    # Narrower models bend so sharply that f32 no longer agrees with f64.
    width = heads * 2 * r.randint(math.ceil(4 / heads), 5)
    layers = r.randint(1, 3)
    return {
        "vocabulary": r.randint(2, 40),
        "width": width,
        "layers": layers,
        "heads": heads,
        "kv_heads": r.choice(divisors(heads)),
        "hidden": r.randint(1, 24),
        "context": r.randint(1, 9),
        "norm_epsilon": r.choice(["1.0e-6", "1e-6", "1e-5", "1e-3", "0.01"]),
        "rope_base": r.choice(["10000.0", "1e4", "100", "500.5"]),
        "tied_head": r.random() < 0.5,
        "qk_norm": r.random() < 0.5,
        "residual": random_residual(r, width, layers),
        "controls": {"extra_vector": r.random() < 0.5},
    }


def forget_defaults(r, model):
    """Leaves out, now and then, a key whose value is its default."""
    residual = model["residual"]
    defaults = [
        (model, "kv_heads", model["heads"]), (model, "norm_epsilon", "1.0e-6"),
        (model, "rope_base", "10000.0"), (model, "tied_head", True),
        (model, "qk_norm", False), (model, "controls", {"extra_vector": False}),
        (residual, "block", 4), (residual, "depth_heads", 1),
        (residual, "key_gain", False), (residual, "query_init", "zero"),
        (residual, "query_std", 0.02), (residual, "routes", {"qkv": "learned"}),
    ]
    for mapping, key, value in defaults:
        if mapping.get(key) == value and r.random() < 0.5:
            del mapping[key]


def yaml_lines(r, mapping, indent):
    """A mapping as YAML, its keys in any order, inner ones now and then in
    flow style."""
    for key, value in r.sample(list(mapping.items()), len(mapping)):
        if isinstance(value, bool):
            value = "true" if value else "false"
        if not isinstance(value, dict):
            yield f"{indent}{key}: {value}"
        elif r.random() < 0.5 and all(
                not isinstance(v, dict) for v in value.values()):
            inner = ", ".join(line.strip() for line in yaml_lines(r, value, ""))
            yield f"{indent}{key}: {{{inner}}}"
        else:
            yield f"{indent}{key}:"
            yield from yaml_lines(r, value, indent + "  ")


def source_counts(model):
    """How many sources each site reads, in the order in which they run."""
    residual = model["residual"]
    block = 1 if residual["kind"] == "full" else residual["block"]
    return [1 + -(-sublayer // block) for sublayer in
            range(2 * model["layers"] + 1)]


def shapes(model):
    """The name and shape of every parameter of a description."""
    V, D, F = model["vocabulary"], model["width"], model["hidden"]
    d = D // model["heads"]
    KV = model["kv_heads"] * d
    residual = model["residual"]
    result = {"embed.weight": [V, D], "final.norm.weight": [D]}
    if not model["tied_head"]:
        result["head.weight"] = [V, D]
    routed = residual["kind"] != "standard"
    static = residual.get("score") == "static"
    learned, gains = [], []
    counts = source_counts(model) if routed else []
    # A query of D elements, or a mixture of one for each source.
    parameter = "mixture" if static else "query"
    if routed:
        learned = [f"attn.route.{group}"
                   for group, how in residual["routes"].items()
                   if how == "learned"] + ["mlp.route"]
        result[f"final.route.{parameter}"] = [counts[-1] if static else D]
    if routed and residual.get("key_gain"):
        gains = ["attn.route.gain", "mlp.route.gain"]
        result["final.route.gain"] = [D]
    for l in range(model["layers"]):
        layer = {
            "attn.norm.weight": [D], "mlp.norm.weight": [D],
            "attn.q.weight": [D, D], "attn.k.weight": [KV, D],
            "attn.v.weight": [KV, D], "attn.o.weight": [D, D],
            "mlp.gate.weight": [F, D], "mlp.up.weight": [F, D],
            "mlp.down.weight": [D, F],
        }
        if model["qk_norm"]:
            layer |= {"attn.q_norm.weight": [d], "attn.k_norm.weight": [d]}
        layer |= {f"{route}.{parameter}":
                  [counts[2 * l + (route == "mlp.route")] if static else D]
                  for route in learned}
        layer |= {gain: [D] for gain in gains}
        if model["controls"]["extra_vector"]:
            layer["attn.extra.weight"] = [D]
        result |= {f"layers.{l}.{n}": shape for n, shape in layer.items()}
    return result


def random_tensor(r, name, shape):
    """Values large enough that every parameter matters to the loss."""
    if name.endswith(("norm.weight", "gain")):
        mean, std = 1.0, 0.15
    elif name.endswith(("query", "mixture")):
        mean, std = 0.0, 0.5
    elif name.endswith("extra.weight"):
        mean, std = 0.0, 0.3
    elif name == "embed.weight":
        mean, std = 0.0, 0.5
    else:
        mean, std = 0.0, 1 / math.sqrt(shape[-1])
    return Tensor(shape, array(
        "d", (r.gauss(mean, std) for _ in range(math.prod(shape)))))


def write_model(directory, seed, batch, storage):
    """Writes the three files of one seed."""
    r = random.Random(f"isobath random model {seed}")
    model = random_description(r)
    choose_score(random.Random(f"isobath score {seed}"), model["residual"])
    names = shapes(model)
    directory.mkdir(parents=True, exist_ok=True)
    write_safetensors(
        directory / "weights.safetensors",
        {n: random_tensor(r, n, names[n]) for n in r.sample(list(names),
                                                            len(names))},
        storage)
    ids = [r.randrange(model["vocabulary"])
           for _ in range(batch * model["context"] + 1)]
    write_shard(directory / "data.bin", ids, wide=r.random() < 0.25)
    forget_defaults(r, model)
    text = "\n".join(yaml_lines(r, {"name": f"random-{seed}", "model": model},
                                ""))
    (directory / "model.yaml").write_text(f"# seed {seed}\n{text}\n")


def main():
    parser = argparse.ArgumentParser(
        description="Writes a random model, its weights and a batch.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--batch", type=int, default=2,
                        help="sequences in data.bin (default: 2)")
    parser.add_argument("--storage", choices=SIZES, default="F32",
                        help="type of the weights file (default: F32)")
    parser.add_argument("-o", "--output", type=Path, required=True,
                        metavar="DIR")
    arguments = parser.parse_args()
    write_model(arguments.output, arguments.seed, arguments.batch,
                arguments.storage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
