#===- check_peers.py - Do the peers compute what Isobath computes? -------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Compares loss and gradients of every peer with those of Isobath's reference in
# f64, for small models with random weights far from initial ones. With g* the
# reference's gradient of a tensor and |·| the Euclidean norm,
#
#     |g − g*| ≤ tolerance · max(|g*|, 1e-4 · |all gradients|)
#
# for every tensor; the second term is there for those whose gradient is the
# small difference of large terms. The loss may differ by that tolerance too,
# relative to itself.
#
#===----------------------------------------------------------------------===//

import math
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from description import parameters, read_model
from processes import Failure, run_isobath, run_peer

# f64 tells whether the formulas are the same. What f32 and bf16 add is
# rounding, of 2^-24 and 2^-9 an operation, through three layers and back.
TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "bf16": 0.1}
# JAX's dot_product_attention takes its softmax in f32 whatever it is
# given, so that f64 only takes the rounding of everything else away.
JAX_F64 = 1e-5
SEQUENCES = 2

SIZES = """model:
  vocabulary: 61
  width: 32
  layers: 3
  heads: 4
  hidden: 48
  context: 24
"""
MODELS = {
    "standard": "  residual: {kind: standard}\n",
    "full": "  residual: {kind: full}\n",
    "block": "  kv_heads: 2\n  tied_head: false\n"
             "  residual: {kind: block, block: 4}\n",
    "rd": "  residual:\n    kind: block\n    block: 2\n"
          "    routes: {qk: learned, v: learned}\n",
    "three-groups": "  tied_head: false\n  residual:\n    kind: block\n"
                    "    block: 3\n"
                    "    routes: {q: learned, k: learned, v: learned}\n",
}


def random_weights(model):
    """Tensors of a weights file under which activations are of size 1."""
    random = np.random.default_rng(0)
    tensors = {}
    for parameter in parameters(model).values():
        for name, shape in parameter.parts.items():
            value = random.standard_normal(shape)
            if name.endswith("norm.weight"):
                value = 1 + 0.3 * value
            elif name != "embed.weight":
                value /= math.sqrt(shape[-1])
            tensors[name] = value
    return tensors


def write_shard(path, ids):
    """A token shard as Isobath reads it, of 16-bit ids."""
    header = np.zeros(256, "<i4")
    header[:3] = 20240520, 1, len(ids)
    with open(path, "wb") as file:
        file.write(header.tobytes() + ids.astype("<u2").tobytes())


def worst_difference(found, expected):
    """The largest |g − g*| / max(…) of all tensors, and its tensor's name."""
    if found.keys() != expected.keys():
        return math.inf, str(sorted(found.keys() ^ expected.keys()))
    total = math.sqrt(sum(float((g * g).sum()) for g in expected.values()))
    ratios = {}
    for name, wanted in expected.items():
        error = np.linalg.norm(found[name].astype(np.float64) - wanted)
        ratio = error / max(np.linalg.norm(wanted), 1e-4 * total)
        ratios[name] = ratio if math.isfinite(ratio) else math.inf
    name = max(ratios, key=ratios.get)
    return ratios[name], name


def write_case(tool, folder, text, threads, limit):
    """Fills a folder as peers read it; the loss that the reference finds."""
    folder.mkdir()
    path, weights, shard = (folder / name for name in (
        "model.yaml", "weights.safetensors", "data.bin"))
    path.write_text(text, encoding="utf-8")
    model = read_model(path)
    save_file(random_weights(model), weights)
    ids = np.random.default_rng(1).integers(
        model.vocabulary, size=SEQUENCES * model.context + 1)
    write_shard(shard, ids)
    np.save(folder / "ids.npy", ids)
    return run_isobath(
        tool, ["grad", path, "--device", "reference", "--precision", "f64",
               "--weights", weights, "--data", shard, "--batch", SEQUENCES,
               "-o", folder / "expected.safetensors"], threads, limit)["loss"]


def report(framework, precision, folder, found, wanted):
    """Prints how far a peer is from the reference; whether it is close."""
    loss = abs(found - wanted) / wanted
    ratio, name = worst_difference(
        load_file(folder / f"{precision}.safetensors"),
        load_file(folder / "expected.safetensors"))
    tolerance = (JAX_F64 if (framework, precision) == ("jax", "f64") else
                 TOLERANCES[precision])
    good = max(loss, ratio) <= tolerance
    print(f"{framework:15}  {precision:4}  {folder.name:12}  loss {loss:7.1e}  "
          f"gradients {ratio:7.1e} ({name})  {'passed' if good else 'FAILED'}",
          flush=True)
    return good


def check(tool, paths, frameworks, precisions, threads, limit):
    """Checks all peers on models, by default on one of every kind."""
    texts = {Path(path).stem: Path(path).read_text(encoding="utf-8-sig")
             for path in paths or []}
    texts = texts or {name: SIZES + rest for name, rest in MODELS.items()}
    print("differences from isobath --device reference --precision f64, "
          "relative; the gradients' largest", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        wanted = {}
        for name, text in texts.items():
            folder = Path(root) / name
            wanted[folder] = write_case(tool, folder, text, threads, limit)
        for framework in frameworks:
            try:
                found = run_peer(framework, [
                    "--gradients", *wanted, "--precision", "f64", *precisions],
                    threads, limit)
            except Failure as problem:
                print(f"{framework}: {problem}", flush=True)
                failed += 1
                continue
            failed += sum(
                not report(framework, precision, folder, loss, wanted[folder])
                for folder in wanted
                for precision, loss in found[str(folder)].items())
    print(f"{failed} failed" if failed else "all passed")
    return failed == 0
