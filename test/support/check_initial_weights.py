#===- check_initial_weights.py - What training starts from ----------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# The weights of `isobath init`: a function of the seed and of the tensors'
# names alone, of the stated spread, equal between models wherever these share
# a tensor, and really those that `train` starts from.
#
#===----------------------------------------------------------------------===//

import json
import math

from commands import run_json
from small_models import random_ids, write_description
from tensor_files import read_safetensors, write_shard
from training_runs import expect, run_checks

RESIDUALS = {
    "standard": "{kind: standard}",
    "full": "{kind: full, query_init: normal}",
    "parent": "{kind: block, block: 3, query_init: normal}",
    "decoupled": "{kind: block, block: 3, query_init: normal, routes: {qk: "
                 "learned, v: learned}}",
    "fully": "{kind: block, block: 3, query_init: normal, query_std: 0.02, "
             "key_gain: true, routes: {q: learned, k: learned, v: learned}}",
}


def init(model, *options):
    weights = model.with_suffix(".safetensors")
    run_json(["isobath", "init", model, "-o", weights, *options])
    return weights


def spread(values):
    return math.sqrt(math.fsum(v * v for v in values) / len(values))


#===----------------------------------------------------------------------===#
# Checks
#===----------------------------------------------------------------------===#

def check_seed(folder):
    """The same seed gives the same bytes, another one other numbers."""
    model = write_description(folder / "model.yaml", {"seed": 5},
                              residual=RESIDUALS["fully"],
                              controls="{extra_vector: true}")
    weights = init(model)
    first, tensors = weights.read_bytes(), read_safetensors(weights)
    expect(init(model).read_bytes() == first, "a second call differs")
    expect(init(model, "--seed", "5").read_bytes() == first,
           "the seed of the description differs when it is given")
    others = read_safetensors(init(model, "--seed", "6"))
    for name, tensor in tensors.items():
        constant = name.endswith(("norm.weight", "gain", "extra.weight"))
        expect(constant == (tensor.values == others[name].values), name,
               "changes with the seed" if constant else
               "is the same for two seeds")


def check_spread(folder):
    """Standard deviations, ones and zeros as they are defined."""
    model = write_description(
        folder / "model.yaml", layers=2, width=32, hidden=64,
        tied_head="false", qk_norm="true", controls="{extra_vector: true}",
        residual="{kind: block, key_gain: true, query_init: normal, "
                 "query_std: 0.5, routes: {q: learned, k: learned, v: "
                 "learned}}")
    zero = write_description(
        folder / "zero.yaml", residual="{kind: full, query_init: zero}")
    tensors = read_safetensors(init(model))
    for name, tensor in tensors.items():
        if name.endswith(("norm.weight", "gain")):
            expect(set(tensor.values) == {1.0}, name, "is not all ones")
            continue
        if name.endswith("extra.weight"):
            expect(set(tensor.values) == {0.0}, name, "is not all zeros")
            continue
        wanted = 0.02
        if name.endswith(("attn.o.weight", "mlp.down.weight")):
            wanted = 0.02 / math.sqrt(2 * 2)
        elif name.endswith("query"):
            wanted = 0.5
        # Five standard errors of the spread, and of the mean.
        error = 5 * wanted / math.sqrt(2 * len(tensor.values))
        expect(abs(spread(tensor.values) - wanted) < error, name,
               "has the spread", spread(tensor.values), "expected", wanted)
        mean = math.fsum(tensor.values) / len(tensor.values)
        expect(abs(mean) < error * math.sqrt(2), name, "has the mean", mean)
        expect(len(set(tensor.values)) > 0.9 * len(tensor.values), name,
               "repeats its values")
    for name, tensor in read_safetensors(init(zero)).items():
        if name.endswith("query"):
            expect(set(tensor.values) == {0.0}, name, "is not all zeros")


def check_arms(folder):
    """Arms of a comparison start equal wherever they share."""
    arms = {name: read_safetensors(init(write_description(
        folder / f"{name}.yaml", layers=2, residual=residual)))
            for name, residual in RESIDUALS.items()}
    parent = arms["parent"]
    for arm, tensors in arms.items():
        for name, tensor in tensors.items():
            query = name.rpartition(".attn.route.")[0]
            if query and name.endswith("query"):
                name = f"{query}.attn.route.qkv.query"
            # Only this arm has gains.
            expect(name in parent or name.endswith("gain"), arm, "has", name)
            expect(name not in parent
                   or tensor.values == parent[name].values, arm, "has another",
                   name, "than the parent")
    expect(arms["standard"].keys() < parent.keys(), "standard has",
           arms["standard"].keys() - parent.keys())
    first, second = (parent[f"layers.{layer}.attn.route.qkv.query"].values
                     for layer in range(2))
    expect(first != second, "two layers have the same query")


def check_first_step(folder):
    """Training starts from these weights: its first loss and gradient norm are
    those of `grad` for the only window that there is."""
    model = write_description(folder / "model.yaml", {"batch": 1, "steps": 3,
                                                      "warmup": 0})
    (folder / "data").mkdir()
    shard = folder / "data" / "train_000000.bin"
    write_shard(shard, random_ids(7, seed=0))
    weights = init(model)
    gradients = folder / "gradients"
    summary = run_json(["isobath", "grad", model, "--weights", weights,
                        "--data", shard, "--batch", "1", "-o", gradients])
    run_json(["isobath", "train", model, "--data", shard.parent, "-o",
              folder / "run", "--steps", "1"])
    line = json.loads((folder / "run" / "metrics.jsonl").read_text())
    expect(line["loss"] == summary["loss"], "the first loss is", line["loss"],
           "expected", summary["loss"])
    norm = math.sqrt(math.fsum(v * v for tensor in
                               read_safetensors(gradients).values()
                               for v in tensor.values))
    expect(abs(line["grad_norm"] - norm) <= 1e-9 * norm, "the gradient's norm "
           "is", line["grad_norm"], "expected", norm)

    # Other weights are started from where they are given.
    other = init(model, "--seed", "9")
    loss = run_json(["isobath", "grad", model, "--weights", other, "--data",
                     shard, "--batch", "1", "-o", gradients])["loss"]
    run_json(["isobath", "train", model, "--data", shard.parent, "-o",
              folder / "given", "--steps", "1", "--weights", other])
    line = json.loads((folder / "given" / "metrics.jsonl").read_text())
    expect(line["loss"] == loss != summary["loss"], "the first loss from given "
           "weights is", line["loss"], "expected", loss)


def check_zero_queries(folder):
    """Queries of zero read the mean of the sources, which is the plain stream
    but for its length: where eps does not count, the norms take that away."""
    shard = folder / "shard.bin"
    write_shard(shard, random_ids(60, seed=1))
    losses = {}
    for name, residual in [
            ("standard", "{kind: standard}"),
            ("block", "{kind: block, block: 3, routes: {qk: learned, v: "
                      "learned}}"),
            ("full", "{kind: full}")]:
        model = write_description(folder / f"{name}.yaml", layers=2,
                                  norm_epsilon="1.0e-12", residual=residual)
        losses[name] = run_json(
            ["isobath", "eval", model, "--weights", init(model), "--data",
             shard, "--precision", "f64"])["loss"]
    for name, loss in losses.items():
        # eps is 1e-12 beside a mean square of at least 4e-4 / 5².
        expect(abs(loss - losses["standard"]) < 1e-7, name, "has the loss",
               loss, "expected", losses["standard"])


if __name__ == "__main__":
    run_checks([check_seed, check_spread, check_arms, check_first_step,
                check_zero_queries])
