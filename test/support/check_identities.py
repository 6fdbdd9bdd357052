#===- check_identities.py - What must be equal, and what must not ---------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# The identities of routed models, through the commands that a user has:
# models that are the same function give the same bits, and a route that
# matters changes the loss when it is perturbed. Each check is one function.
#
#===----------------------------------------------------------------------===//

import argparse
import pathlib
import random
import sys

from commands import run_json
from tensor_files import read_safetensors, write_safetensors, write_shard

MODEL = """
model:
  vocabulary: 37
  width: 24
  layers: 3
  heads: 4
  kv_heads: 2
  hidden: 40
  context: 7
  residual: {{kind: {kind}, {block}routes: {routes}, query_init: normal,
             query_std: 0.7, depth_heads: 2, key_gain: true}}
"""


class Failure(Exception):
    """Two results that should have been equal, or different."""


class Bench:
    """Runs models of one family on one shard."""

    def __init__(self, isobath, folder, precision):
        self.isobath, self.precision = isobath, precision
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.shard = self.folder / "data.bin"
        chooser = random.Random(5)
        write_shard(self.shard, [chooser.randrange(37) for _ in range(15)],
                    wide=False)

    def model(self, name, routes, kind="block", block=3):
        path = self.folder / f"{name}.yaml"
        text = f"block: {block}, " if kind == "block" else ""
        path.write_text(MODEL.format(kind=kind, block=text, routes=routes))
        return path

    def weights(self, model):
        """The model's initial weights with gains, and all else, perturbed."""
        path = model.with_suffix(".init")
        run_json([self.isobath, "init", model, "-o", path])
        return read_safetensors(path)

    def run(self, model, tensors):
        """Loss and gradients of one batch, and the loss over the shard."""
        weights, found = model.with_suffix(".w"), model.with_suffix(".g")
        dtype = "F64" if self.precision == "f64" else "F32"
        write_safetensors(weights, tensors, dtype)
        options = ["--weights", weights, "--data", self.shard,
                   "--precision", self.precision]
        loss = run_json([self.isobath, "grad", model, *options, "--batch", "2",
                         "-o", found])["loss"]
        whole = run_json([self.isobath, "eval", model, *options])["loss"]
        return (loss, whole), read_safetensors(found)


def perturb(tensors, seed=3):
    """Moves every value, the same way for the same name."""
    for name, tensor in tensors.items():
        chooser = random.Random(f"{name} {seed}")
        for i, value in enumerate(tensor.values):
            tensor.values[i] = value + 0.1 * chooser.gauss(0, 1)
    return tensors


def retarget(tensors, rename):
    """The same values under the names that `rename` gives; a name may get
    several."""
    return {new: tensor for name, tensor in tensors.items()
            for new in rename(name)}


def check_equal(what, left, right):
    if left != right:
        raise Failure(f"{what}: losses {left} and {right}, expected equal bits")


def norm(values):
    return sum(value * value for value in values) ** 0.5


# Both sides round every intermediate tensor, in another order of additions. In
# f64 what is left is far below any wrong formula, in every tensor. In f32 the
# bound holds for all gradients together: in a tensor whose gradient is small
# because its terms cancel, their rounding remains.
TOLERANCES = {"f64": 1e-12, "f32": 1e-6}


def check_close(what, found, expected, precision):
    """Gradients agree relative to their norm."""
    if found.keys() != expected.keys():
        raise Failure(f"{what}: gradients of different tensors")
    total = norm(v for t in expected.values() for v in t.values)
    for name, tensor in expected.items():
        size = total if precision == "f32" else norm(tensor.values)
        error = norm(a - b for a, b in zip(found[name].values, tensor.values))
        if not error <= TOLERANCES[precision] * size:
            raise Failure(f"{what}: gradient of {name} differs by {error}, "
                          f"expected at most {TOLERANCES[precision] * size}")


def groups_to(groups):
    """Renames the parent's attention query to those of several groups."""
    def rename(name):
        if name.endswith("attn.route.qkv.query"):
            return [name.replace(".qkv.", f".{group}.") for group in groups]
        return [name]
    return rename


def sum_queries(gradients, groups):
    """Gradients of role queries as the one of the parent's query."""
    merged = {}
    for name, tensor in gradients.items():
        for group in groups:
            if name.endswith(f"attn.route.{group}.query"):
                name = name.replace(f".{group}.query", ".qkv.query")
        if name in merged:
            for i, value in enumerate(tensor.values):
                merged[name].values[i] += value
        else:
            merged[name] = tensor
    return merged


def check_tied(bench):
    """Role-decoupled models with equal queries are their parent."""
    parent = bench.model("parent", "{qkv: learned}")
    tensors = perturb(bench.weights(parent))
    losses, gradients = bench.run(parent, tensors)
    for name, groups in [("two", ["qk", "v"]), ("three", ["q", "k", "v"])]:
        routes = "{" + ", ".join(f"{group}: learned" for group in groups) + "}"
        model = bench.model(name, routes)
        found, other = bench.run(model, retarget(tensors, groups_to(groups)))
        check_equal(f"{routes} with equal queries", found, losses)
        check_close(routes, sum_queries(other, groups), gradients,
                    bench.precision)


def check_repeat(bench):
    """A repeated route gives what the tied route gives."""
    parent = bench.model("parent", "{qkv: learned}")
    tensors = perturb(bench.weights(parent))
    losses, gradients = bench.run(parent, tensors)
    model = bench.model("repeat", "{qk: learned, v: repeat}")
    found, other = bench.run(model, retarget(tensors, groups_to(["qk"])))
    check_equal("v: repeat", found, losses)
    check_close("v: repeat", sum_queries(other, ["qk"]), gradients,
                bench.precision)


def check_full(bench):
    """Blocks of one sublayer are full attention residuals."""
    routes = "{qk: learned, v: learned}"
    one = bench.model("one", routes, block=1)
    tensors = perturb(bench.weights(one))
    losses, gradients = bench.run(one, tensors)
    found, other = bench.run(bench.model("full", routes, kind="full"), tensors)
    check_equal("kind: full", found, losses)
    check_close("kind: full", other, gradients, bench.precision)


def check_value_query(bench):
    """Perturbing only a value query changes the loss; its gradient is not
    zero."""
    model = bench.model("value", "{qk: learned, v: learned}")
    tensors = perturb(bench.weights(model))
    (loss, _), gradients = bench.run(model, tensors)
    name = "layers.1.attn.route.v.query"
    if not any(gradients[name].values):
        raise Failure(f"the gradient of {name} is zero")
    tensors[name].values[0] += 0.5
    (other, _), _ = bench.run(model, tensors)
    if loss == other:
        raise Failure(f"perturbing {name} leaves the loss at {loss}")


def check_first_block(bench):
    """The first block reaches the logits through the final route alone: here
    no later sublayer puts out anything, whatever it reads."""
    model = bench.model("first", "{qk: learned, v: learned}", block=2)
    tensors = perturb(bench.weights(model))
    for name, tensor in tensors.items():
        silent = name.endswith("attn.o.weight") or name.endswith("down.weight")
        if silent and not name.startswith("layers.0."):
            for i in range(len(tensor.values)):
                tensor.values[i] = 0.0
    (loss, _), gradients = bench.run(model, tensors)
    name = "layers.0.mlp.down.weight"
    if not any(gradients[name].values):
        raise Failure(f"the gradient of {name} is zero")
    tensors[name].values[0] += 0.5
    (other, _), _ = bench.run(model, tensors)
    if loss == other:
        raise Failure(f"perturbing {name} leaves the loss at {loss}")


CHECKS = {check.__name__.removeprefix("check_"): check
          for check in [check_tied, check_repeat, check_full,
                        check_value_query, check_first_block]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--isobath", default="isobath")
    parser.add_argument("--precision", default="f32", choices=["f32", "f64"])
    parser.add_argument("-o", "--output", required=True, help="a folder")
    arguments = parser.parse_args()
    bench = Bench(arguments.isobath, arguments.output, arguments.precision)
    try:
        CHECKS[arguments.check](bench)
    except Failure as failure:
        print(f"error: {failure}")
        return 1
    print(f"{arguments.check}: as it must be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
