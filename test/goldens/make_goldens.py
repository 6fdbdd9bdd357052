#===- make_goldens.py - Writes the goldens and checks the oracle ---------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# For every case of cases.py: a folder with a model description, random weights,
# a token shard, and what oracle.py computes from them. Before a case is written
# the oracle itself is checked: its gradients against finite differences of its
# loss, and the identities between configurations. Run by hand, with PyTorch,
# NumPy, safetensors and PyYAML; the tests only read the folders.
#
#   python make_goldens.py [--no-check] [CASE ...]
#
#===----------------------------------------------------------------------===//

import argparse
import json
import math
import random
import shutil
import struct
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

import cases
import oracle

HERE = Path(__file__).resolve().parent
STORAGE = {"F32": torch.float32, "BF16": torch.bfloat16}

TEST = """\
# RUN: %python %S/../../support/check_golden.py --isobath isobath --case %S \\
# RUN:   --device reference --precision f32
# RUN: %python %S/../../support/check_golden.py --isobath isobath --case %S \\
# RUN:   --device reference --precision f64
# RUN: %python %S/../../support/check_golden.py --isobath isobath --case %S \\
# RUN:   --device cpu --precision f32
# RUN: %python %S/../../support/check_golden.py --isobath isobath --case %S \\
# RUN:   --device simulated --precision f32
"""


# ------------------------------------------------------------- random inputs


def random_values(case, name, shape):
    """Values of one tensor, far from the initial ones, of (case, name) only.

    Python's generator is used since its numbers never change with a version.
    Matrices keep the size of what passes through them; queries are large enough
    to tell the sources apart, and small enough not to choose a single one.
    """
    generator = random.Random(f"isobath {case.name} {name}")
    count = math.prod(shape)
    normal = [generator.gauss(0.0, 1.0) for _ in range(count)]
    width = shape[-1]
    if name.endswith(("norm.weight", "route.gain")):
        values = [1 + 0.2 * max(-2.0, min(2.0, x)) for x in normal]
    elif name.endswith(".query"):
        std = 0 if case.zero_queries else min(0.5, 2 / math.sqrt(width))
        values = [std * x for x in normal]
    elif name.endswith(".mixture"):
        values = normal
    elif name.endswith("extra.weight"):
        values = [0.3 * x for x in normal]
    elif name == "embed.weight":
        zeros = case.zero_rows * width
        values = [0.0] * zeros + [case.embedding * x for x in normal[zeros:]]
    else:
        values = [x / math.sqrt(width) for x in normal]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def random_ids(case, model):
    """The ids of a shard: one batch, and then some that `grad` ignores.

    The last window of the evaluation is shorter than the context, unless that
    is one.
    """
    generator = random.Random(f"isobath {case.name} data.bin")
    count = case.batch * model.context + 1 + model.context // 2
    if case.ids == "repeated":
        return [generator.randrange(model.vocabulary) if i % 4 == 1 else 7
                for i in range(count)]
    ids = [generator.randrange(model.vocabulary) for _ in range(count)]
    # The first and the last id of the vocabulary occur, as inputs and targets.
    ids[0], ids[1] = model.vocabulary - 1, 0
    ids[-2], ids[-1] = 0, model.vocabulary - 1
    return ids


def write_shard(path, ids, wide):
    magic, version, letter = (20240801, 7, "I") if wide else (20240520, 1, "H")
    header = struct.pack("<256i", magic, version, len(ids), *[0] * 253)
    path.write_bytes(header + struct.pack(f"<{len(ids)}{letter}", *ids))


# --------------------------------------------------------- the oracle's check


def derivative(function, h):
    """f'(0) from six points; the error is h⁶·f⁽⁷⁾/140 and rounding."""
    def difference(k):
        return function(k * h) - function(-k * h)
    return (45 * difference(1) - 9 * difference(2) + difference(3)) / (60 * h)


def check_gradients(case, model, parameters, tokens, targets, gradients):
    """Finite differences of the loss, for every tensor: two coordinates and a
    direction of random signs. Returns the worst error relative to the bound's
    scale max(|g_t|, 1e-4 |g|).

    A step is 1e-4 of the tensor's root mean square: small steps, since narrow
    models bend sharply where a norm divides by a small row. Losses are rounded
    at about 1e-15, so a derivative at about 1e-15 / h; four times that is
    allowed on top of 1e-9.
    """
    generator = random.Random(f"isobath {case.name} directions")
    norm = math.sqrt(sum(g.square().sum().item() for g in gradients.values()))
    worst = 0.0
    for name, value in parameters.items():
        rms = value.square().mean().sqrt().item() or 0.1
        h = 1e-4 * rms
        scale = max(gradients[name].norm().item(), 1e-4 * norm)
        directions = [torch.tensor([generator.choice([-1.0, 1.0]) for _ in
                                    range(value.numel())],
                                   dtype=torch.float64).reshape(value.shape)]
        for _ in range(2):
            direction = torch.zeros_like(value).reshape(-1)
            direction[generator.randrange(value.numel())] = 1
            directions.append(direction.reshape(value.shape))
        for direction in directions:
            def at(step):
                moved = {**parameters, name: value + step * direction}
                return oracle.loss(model, moved, tokens, targets).item()
            expected = (gradients[name] * direction).sum().item()
            error = abs(derivative(at, h) - expected)
            if not error <= 1e-9 * scale + 4e-15 / h:
                sys.exit(f"error: {case.name}: {name}: the derivative is "
                         f"{expected!r}, finite differences differ by "
                         f"{error:.3g}, at most {1e-9 * scale:.3g} expected")
            worst = max(worst, error / scale)
    return worst


def require(condition, case, what):
    if not condition:
        sys.exit(f"error: {case.name}: {what}")


def check_identities(case, model, parameters, tokens, targets):
    """Identities between configurations, as far as this case has a partner."""
    if not model.routed:
        return
    expected = oracle.logits(model, parameters, tokens)

    def same(other, weights, what):
        found = oracle.logits(other, weights, tokens)
        require(torch.equal(found, expected), case, what)

    learned = model.learned_groups()
    if model.score == "dot" and learned == ["qkv"]:
        # Decoupled roles with equal queries are the parent, and the parent's
        # gradient is the sum over roles.
        _, whole = oracle.gradients(model, parameters, tokens, targets)
        for routes in (cases.RD, cases.THREE):
            split = replace(model, routes=routes)
            weights = {n: parameters[n.replace(f".{g}.query", ".qkv.query")]
                       for g in routes for n in oracle.parameter_shapes(split)
                       if f".{g}.query" in n}
            weights = {**parameters, **weights}
            same(split, weights, f"{routes} with equal queries is not qkv")
            shapes = oracle.parameter_shapes(split)
            weights = {n: weights[n] for n in shapes}
            _, parts = oracle.gradients(split, weights, tokens, targets)
            for n, g in whole.items():
                total = parts.get(n)
                if total is None:
                    total = sum(parts[n.replace("qkv", r)] for r in routes)
                require(torch.allclose(total, g, rtol=1e-9, atol=1e-12), case,
                        f"{n}: gradients of roles do not add up")
    if model.routes.get("v") == "repeat":
        tied = dict(model.routes)
        del tied["v"]
        if list(tied) == ["qk"]:
            weights = {n.replace(".qk.", ".qkv."): p
                       for n, p in parameters.items()}
            same(replace(model, routes={"qkv": "learned"}), weights,
                 "repeat is not tied")
        else:
            weights = dict(parameters)
            for l in range(model.layers):
                site = f"layers.{l}.attn.route"
                weights[f"{site}.v.query"] = weights[f"{site}.q.query"]
            same(replace(model, routes=cases.THREE), weights,
                 "repeat is not the route of q")
    if model.block == 1:
        other = replace(model, kind="block" if model.kind == "full" else "full")
        same(other, parameters, "block: 1 is not full")


# ------------------------------------------------------------------ one case


def make(case, check):
    folder = HERE / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "model.yaml").write_text(cases.model_text(case))
    (folder / "golden.test").write_text(TEST)
    model = oracle.read_model(folder / "model.yaml")

    save_file({name: random_values(case, name, shape).to(STORAGE[case.storage])
               for name, shape in oracle.parameter_shapes(model).items()},
              folder / "weights.safetensors")
    # Start from the values as they are stored.
    stored = load_file(folder / "weights.safetensors")
    parameters = {name: stored[name].double()
                  for name in oracle.parameter_shapes(model)}

    ids = random_ids(case, model)
    write_shard(folder / "data.bin", ids, case.wide)
    B, T = case.batch, model.context
    tokens = torch.tensor(ids[:B * T]).reshape(B, T)
    targets = torch.tensor(ids[1:B * T + 1]).reshape(B, T)

    loss, gradients = oracle.gradients(model, parameters, tokens, targets)
    summary = "not checked"
    if check:
        check_identities(case, model, parameters, tokens, targets)
        worst = check_gradients(case, model, parameters, tokens, targets,
                                gradients)
        summary = f"finite differences within {worst:.1e}"
    save_file(gradients, folder / "expected.safetensors")

    scores = oracle.logits(model, parameters, tokens)
    eval_loss, eval_tokens = oracle.evaluate(model, parameters, ids)
    expected = {
        "batch": B,
        "loss": loss,
        "tokens": B * T,
        "logits": {"sum": scores.sum().item(),
                   "first": scores.reshape(-1)[:4].tolist()},
        "eval": {"loss": eval_loss, "perplexity": math.exp(eval_loss),
                 "tokens": eval_tokens},
    }
    if case.routes:
        expected["routes"] = oracle.route_report(model, parameters, ids)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    return summary


def main():
    parser = argparse.ArgumentParser(
        description="Writes the goldens and checks the oracle.")
    parser.add_argument("cases", nargs="*", metavar="CASE",
                        help="cases to make (default: all)")
    parser.add_argument("--no-check", action="store_true",
                        help="do not check the oracle")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    known = {case.name: case for case in cases.CASES}
    for name in arguments.cases or known:
        if name not in known:
            sys.exit(f"error: no case is named {name}")
        start = time.monotonic()
        summary = make(known[name], not arguments.no_check)
        print(f"{name}: {summary}, {time.monotonic() - start:.1f} s",
              flush=True)


if __name__ == "__main__":
    main()
