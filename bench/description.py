#===- description.py - Model descriptions as the peers see them ----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Reads what the peers need of a description, and says which parameters they
# have. It refuses what they do not implement, and trusts the rest to have
# passed `isobath check`.
#
# Peers multiply by wider matrices than a weights file holds: roles that read
# the same mix share one, and so do the MLP's gate and up.
#
#===----------------------------------------------------------------------===//

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml


class Unsupported(Exception):
    """A description that the peers do not implement."""


@dataclass
class Model:
    """A model and its training settings, with defaults filled in."""

    name: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    hidden: int
    context: int
    norm_epsilon: float
    rope_base: float
    tied_head: bool
    kind: str
    block: int
    groups: list  # of roles: qkv, or qk and v, or q, k and v
    batch: int
    learning_rate: float
    weight_decay: float
    betas: tuple
    adam_epsilon: float
    clip: float
    seed: int

    @property
    def routed(self):
        return self.kind != "standard"

    @property
    def head_width(self):
        return self.width // self.heads

    def heads_of(self, role):
        return self.heads if role == "q" else self.kv_heads

    def sizes(self):
        """What two models must share for their times to be compared."""
        return (self.vocabulary, self.width, self.layers, self.heads,
                self.kv_heads, self.hidden, self.context, self.tied_head,
                self.batch)


def read_model(path):
    with open(path, encoding="utf-8-sig") as file:
        description = yaml.safe_load(file)
    model, train = description["model"], description.get("train", {})
    residual = model["residual"]
    routes = residual.get("routes", {"qkv": "learned"})
    for key, given, expected in [
            ("qk_norm", model.get("qk_norm", False), False),
            ("score", residual.get("score", "dot"), "dot"),
            ("depth_heads", residual.get("depth_heads", 1), 1),
            ("key_gain", residual.get("key_gain", False), False),
            ("extra_vector",
             model.get("controls", {}).get("extra_vector", False), False),
            ("accumulate", train.get("accumulate", 1), 1),
            *((f"routes.{group}", how, "learned")
              for group, how in routes.items())]:
        if given != expected:
            raise Unsupported(f"{path}: {key}: given {given}, expected "
                              f"{expected}: the peers implement nothing else")
    width = model["width"]
    # PyYAML reads 1e-6, which has no point, as a string.
    return Model(
        name=str(description.get("name", Path(path).stem)),
        vocabulary=model["vocabulary"],
        width=width,
        layers=model["layers"],
        heads=model["heads"],
        kv_heads=model.get("kv_heads", model["heads"]),
        hidden=model.get("hidden", (8 * width // 3 + 63) // 64 * 64),
        context=model["context"],
        norm_epsilon=float(model.get("norm_epsilon", 1e-6)),
        rope_base=float(model.get("rope_base", 10000.0)),
        tied_head=model.get("tied_head", True),
        kind=residual["kind"],
        block=1 if residual["kind"] == "full" else residual.get("block", 4),
        groups=sorted(routes, key="qkv".index),
        batch=train.get("batch", 8),
        learning_rate=float(train.get("learning_rate", 3e-3)),
        weight_decay=float(train.get("weight_decay", 0.1)),
        betas=tuple(float(beta) for beta in train.get("betas", (0.9, 0.95))),
        adam_epsilon=float(train.get("adam_epsilon", 1e-8)),
        clip=float(train.get("clip", 1.0)),
        seed=train.get("seed", 1),
    )


# ------------------------------------------------------------------ parameters


@dataclass
class Parameter:
    """A peer's parameter: tensors of a weights file, one below the other."""

    shape: list
    parts: dict  # name in a weights file -> shape there
    start: float  # the value, or for matrices the standard deviation, at first

    @property
    def is_matrix(self):
        return all(len(shape) == 2 for shape in self.parts.values())


def route_sites(model):
    """The name of every site in order, and the names of its queries."""
    sites = {}
    for l in range(model.layers):
        attn, mlp = f"layers.{l}.attn", f"layers.{l}.mlp"
        sites[attn] = [f"{attn}.route.{g}.query" for g in model.groups]
        sites[mlp] = [f"{mlp}.route.query"]
    sites["final"] = ["final.route.query"]
    return sites


def parameters(model):
    """Every parameter of a peer, by its name there."""
    D, V, F, d = model.width, model.vocabulary, model.hidden, model.head_width
    scaled = 0.02 / math.sqrt(2 * model.layers)
    table = {}

    def add(name, parts, start):
        first = next(iter(parts.values()))
        rows = sum(shape[0] for shape in parts.values())
        table[name] = Parameter([rows, *first[1:]], parts, start)

    add("embed.weight", {"embed.weight": [V, D]}, 0.02)
    for l in range(model.layers):
        attn, mlp = f"layers.{l}.attn", f"layers.{l}.mlp"
        add(f"{attn}.norm.weight", {f"{attn}.norm.weight": [D]}, 1.0)
        for group in model.groups:
            parts = {f"{attn}.{role}.weight": [model.heads_of(role) * d, D]
                     for role in group}
            add(f"{attn}.{group}.weight", parts, 0.02)
        add(f"{attn}.o.weight", {f"{attn}.o.weight": [D, D]}, scaled)
        add(f"{mlp}.norm.weight", {f"{mlp}.norm.weight": [D]}, 1.0)
        parts = {f"{mlp}.gate.weight": [F, D], f"{mlp}.up.weight": [F, D]}
        add(f"{mlp}.gate_up.weight", parts, 0.02)
        add(f"{mlp}.down.weight", {f"{mlp}.down.weight": [D, F]}, scaled)
    if model.routed:
        for site, queries in route_sites(model).items():
            table[f"{site}.route.queries"] = Parameter(
                [len(queries), D], {query: [D] for query in queries}, 0.0)
    add("final.norm.weight", {"final.norm.weight": [D]}, 1.0)
    if not model.tied_head:
        add("head.weight", {"head.weight": [V, D]}, 0.02)
    return table


def initial_values(model):
    """What a run starts from, in f32; not the same numbers as Isobath's."""
    random = np.random.default_rng(model.seed)
    values = {}
    for name, parameter in parameters(model).items():
        if parameter.is_matrix:
            value = random.standard_normal(parameter.shape, np.float32)
            values[name] = value * np.float32(parameter.start)
        else:
            values[name] = np.full(parameter.shape, parameter.start, np.float32)
    return values


def pack(model, tensors):
    """A peer's parameters out of the tensors of a weights file."""
    return {name: np.concatenate([tensors[part].reshape(-1)
                                  for part in parameter.parts])
            .reshape(parameter.shape)
            for name, parameter in parameters(model).items()}


def unpack(model, values):
    """The tensors of a weights file out of a peer's parameters."""
    tensors = {}
    for name, parameter in parameters(model).items():
        flat, begin = values[name].reshape(-1), 0
        for part, shape in parameter.parts.items():
            end = begin + math.prod(shape)
            tensors[part] = flat[begin:end].reshape(shape)
            begin = end
    return tensors


def batch(model):
    """Inputs and targets [B, T] of a step: `bench step` takes the same."""
    positions = np.arange(model.batch * model.context + 1, dtype=np.uint64)
    ids = positions * np.uint64(2654435761) % np.uint64(model.vocabulary)
    ids = ids.astype(np.int64)
    shape = [model.batch, model.context]
    return ids[:-1].reshape(shape), ids[1:].reshape(shape)
