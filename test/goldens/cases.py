#===- cases.py - The configurations that have goldens --------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# A table, and the text of a model description made from a row of it. What a
# case computes is oracle.py's business; which files it gets, make_goldens.py's.
#
#===----------------------------------------------------------------------===//

from dataclasses import dataclass, field

# Every case starts from this model: three layers with blocks of two sublayers,
# so that the final route reads four sources, and sizes that no vector length
# divides.
BASE = {
    "vocabulary": 29, "width": 12, "layers": 3, "heads": 2, "hidden": 20,
    "context": 6,
}
BLOCK = {"kind": "block", "block": 2}


@dataclass
class Case:
    name: str
    why: str  # what breaks if this case fails
    model: dict = field(default_factory=dict)  # over BASE
    residual: dict = field(default_factory=lambda: dict(BLOCK))
    controls: dict = field(default_factory=dict)
    batch: int = 2
    storage: str = "F32"  # of the weights file
    wide: bool = False  # a shard of 32-bit ids
    routes: bool = False  # expect the numbers of the command `routes`
    # The scale of random weights: see make_goldens.py.
    embedding: float = 0.4
    zero_queries: bool = False
    zero_rows: int = 0  # rows of the embedding that are exactly zero
    ids: str = "random"  # or repeated: mostly one


def block(size=2, **more):
    return {"kind": "block", "block": size, **more}


def routed(name, why, *groups, **more):
    """A case of one row of the table of routes; groups like v=uniform."""
    routes = dict(g.split("=") if "=" in g else (g, "learned") for g in groups)
    residual = block(routes=routes, **more.pop("residual", {}))
    return Case(name, why, residual=residual, **more)


RD = {"qk": "learned", "v": "learned"}
THREE = {"q": "learned", "k": "learned", "v": "learned"}

CASES = [
    # Residual kinds and blocks.
    Case("standard", "the plain residual", residual={"kind": "standard"}),
    Case("full", "one sublayer in each block", residual={"kind": "full"},
         routes=True),
    Case("block-one", "block: 1 is full", residual=block(1)),
    Case("block-three", "a block closed between attention and MLP",
         residual=block(3)),
    Case("block-short-last", "the last block is short", residual=block(4),
         routes=True),
    Case("block-oversized", "a block longer than the model",
         residual=block(9), routes=True),
    Case("full-three-groups", "full with decoupled roles",
         residual={"kind": "full", "routes": THREE}),

    # Every row of the table of routes.
    routed("routes-qkv", "the parent", "qkv", routes=True),
    routed("routes-qk-v", "role-decoupled", "qk", "v", routes=True),
    routed("routes-q-k-v", "fully decoupled", "q", "k", "v", routes=True),
    routed("routes-qk-uniform", "fixed values: mean", "qk", "v=uniform",
           routes=True),
    routed("routes-qk-newest", "fixed values: last source", "qk", "v=newest",
           routes=True),
    routed("routes-qk-embedding", "fixed values: embedding", "qk",
           "v=embedding", routes=True),
    routed("routes-qk-repeat", "duplicated execution", "qk", "v=repeat",
           routes=True),
    routed("routes-q-k-uniform", "three groups, mean", "q", "k", "v=uniform"),
    routed("routes-q-k-newest", "three groups, last source", "q", "k",
           "v=newest"),
    routed("routes-q-k-embedding", "three groups, embedding", "q", "k",
           "v=embedding"),
    routed("routes-q-k-repeat", "v repeats the route of q, not of k", "q", "k",
           "v=repeat", routes=True),

    # Controls and initial values.
    Case("standard-extra-vector", "u reaches values without routes",
         residual={"kind": "standard"}, controls={"extra_vector": True}),
    Case("qkv-extra-vector", "u reaches v alone", residual=block(),
         controls={"extra_vector": True}),
    routed("rd-extra-vector", "u after the norm of the value route", "qk", "v",
           controls={"extra_vector": True}),
    routed("query-normal", "query_init changes no arithmetic", "qk", "v",
           residual={"query_init": "normal", "query_std": 0.05}),
    routed("queries-zero", "a query of zeros gives the mean", "qk", "v",
           zero_queries=True, routes=True),

    # Depth heads: never the number of attention heads, which is 3 here.
    routed("depth-heads-2", "two depth heads", "qk", "v", model={"heads": 3},
           residual={"depth_heads": 2}, routes=True),
    routed("depth-heads-4", "four depth heads", "q", "k", "v",
           model={"heads": 3}, residual={"depth_heads": 4}, routes=True),
    routed("depth-heads-newest", "two depth heads beside a fixed route", "qk",
           "v=newest", model={"heads": 3}, residual={"depth_heads": 2},
           routes=True),
    routed("depth-heads-12", "a depth head for every channel", "qkv",
           model={"heads": 3}, residual={"depth_heads": 12}),

    # Static mixtures.
    routed("static-qk-v", "a mixture for each group and site", "qk", "v",
           residual={"score": "static"}, routes=True),
    Case("static-full", "mixtures over every sublayer",
         residual={"kind": "full", "score": "static"}, routes=True),
    routed("static-q-k-uniform", "mixtures beside a fixed route", "q", "k",
           "v=uniform", residual={"score": "static"}, batch=3),

    # Key gains.
    routed("gain-qkv", "one gain, one route", "qkv",
           residual={"key_gain": True}),
    routed("gain-three-groups", "one gain shared by three routes", "q", "k",
           "v", residual={"key_gain": True}, routes=True),
    routed("gain-repeat", "the gain acts in the repeated route", "qk",
           "v=repeat", residual={"key_gain": True}),
    routed("gain-uniform", "the gain leaves the mean alone", "qk", "v=uniform",
           residual={"key_gain": True}),
    routed("gain-newest", "the gain leaves the last source alone", "qk",
           "v=newest", residual={"key_gain": True}),
    routed("gain-embedding", "the gain leaves the embedding alone", "q", "k",
           "v=embedding", residual={"key_gain": True}),
    routed("gain-depth-heads", "gains by channel group", "qk", "v",
           model={"heads": 3},
           residual={"key_gain": True, "depth_heads": 6}),

    # The rest of the network.
    Case("grouped-heads", "two query heads for each key/value head",
         model={"width": 16, "heads": 4, "kv_heads": 2}),
    routed("grouped-heads-one", "one key/value head", "qk", "v",
           model={"heads": 3, "kv_heads": 1}),
    Case("untied-head", "a head of its own", model={"tied_head": False}),
    Case("qk-norm", "norms before rotary", model={"qk_norm": True}),
    routed("qk-norm-grouped", "norms of grouped heads", "qk", "v",
           model={"width": 16, "heads": 4, "kv_heads": 2, "qk_norm": True}),
    Case("rope-base", "the base of the angles", model={"rope_base": 100.0,
                                                       "context": 11}),
    Case("hidden-default", "hidden is 64 where width is 12",
         model={"hidden": None, "layers": 1}),
    Case("epsilon-large", "epsilon is the one given, everywhere",
         model={"norm_epsilon": "1e-2", "qk_norm": True}),

    # Shapes and storage.
    routed("width-130", "no size is a multiple of a vector", "qk", "v",
           model={"width": 130, "hidden": 101, "heads": 5, "kv_heads": 1,
                  "layers": 1, "context": 5}, embedding=0.2),
    routed("one-token", "a context of one", "qk", "v", model={"context": 1},
           batch=3, routes=True),
    Case("deep-35-sources", "17 layers: the final route reads 35 sources",
         model={"width": 8, "heads": 2, "hidden": 8, "layers": 17,
                "context": 4}, batch=1,
         residual={"kind": "full", "routes": RD}),
    routed("bf16-weights", "weights stored as BF16", "qk", "v",
           storage="BF16"),
    Case("wide-shard", "32-bit ids and more than 65,536 of them",
         model={"vocabulary": 66000, "width": 2, "heads": 1, "hidden": 3,
                "layers": 1}, residual={"kind": "standard"}, storage="BF16",
         wide=True),
    routed("odd-batch", "three sequences of seven tokens", "qk", "v",
           model={"context": 7}, batch=3, routes=True),
    routed("one-sequence", "a batch of one", "qk", "v",
           model={"context": 12}, batch=1),
    routed("repeated-token", "one row of the embedding is read many times",
           "qk", "v", ids="repeated"),
    routed("tiny-sources", "rows of 1e-4 and of zero stay finite", "qk", "v",
           embedding=1e-4, zero_rows=12, model={"tied_head": False}),

    Case("everything", "all of it at once",
         model={"width": 24, "layers": 3, "heads": 6, "kv_heads": 3,
                "hidden": 19, "context": 7, "norm_epsilon": 1e-5,
                "rope_base": 500.0, "tied_head": False, "qk_norm": True},
         residual=block(4, depth_heads=4, key_gain=True, query_init="normal",
                        query_std=0.1, routes=THREE),
         controls={"extra_vector": True}, batch=3, routes=True),
]


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def flow(mapping):
    return "{" + ", ".join(f"{k}: {scalar(v)}"
                           for k, v in mapping.items()) + "}"


def model_text(case):
    """The case's model description as YAML."""
    lines = [f"# {case.why}", f"name: {case.name}", "model:"]
    for key, value in {**BASE, **case.model}.items():
        if value is not None:
            lines.append(f"  {key}: {scalar(value)}")
    lines.append("  residual:")
    for key, value in case.residual.items():
        value = flow(value) if isinstance(value, dict) else scalar(value)
        lines.append(f"    {key}: {value}")
    if case.controls:
        lines.append(f"  controls: {flow(case.controls)}")
    return "\n".join(lines) + "\n"
