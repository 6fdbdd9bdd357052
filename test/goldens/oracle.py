#===- oracle.py - The model family in PyTorch float64 --------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# An implementation of the model family that shares nothing with the compiler:
# it is written from the formulas alone, one site after the other, in float64,
# and lets PyTorch's autograd differentiate. It is meant to be obviously right.
# It is not fast, does not train, and does not validate what it reads.
#
# Letters: B sequences, T tokens, D width, L layers, V vocabulary, H heads,
# K key/value heads, d = D/H, F hidden width, h depth heads, n sources.
#
#===----------------------------------------------------------------------===//

import math
from dataclasses import dataclass

import torch
import yaml


@dataclass
class Model:
    """A model description with its defaults filled in."""

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
    qk_norm: bool
    kind: str
    block: int
    score: str  # of learned routes: dot or static
    depth_heads: int
    key_gain: bool
    routes: dict  # group of roles -> learned, uniform, newest, ...
    extra_vector: bool

    @property
    def routed(self):
        return self.kind != "standard"

    @property
    def head_width(self):
        return self.width // self.heads

    def group_of(self, role):
        """The group that holds `role`, one of q, k and v."""
        return next(group for group in self.routes if role in group)

    def learned_groups(self):
        return [g for g, how in self.routes.items() if how == "learned"]


def read_model(path):
    with open(path, encoding="utf-8-sig") as file:
        description = yaml.safe_load(file)["model"]
    residual = description["residual"]
    width = description["width"]
    kind = residual["kind"]
    # A width of 64 · ⌈⌊8D/3⌋ / 64⌉ unless one is given.
    default_hidden = (8 * width // 3 + 63) // 64 * 64
    return Model(
        vocabulary=description["vocabulary"],
        width=width,
        layers=description["layers"],
        heads=description["heads"],
        kv_heads=description.get("kv_heads", description["heads"]),
        hidden=description.get("hidden", default_hidden),
        context=description["context"],
        # PyYAML reads 1e-6, which has no point, as a string.
        norm_epsilon=float(description.get("norm_epsilon", 1e-6)),
        rope_base=float(description.get("rope_base", 10000.0)),
        tied_head=description.get("tied_head", True),
        qk_norm=description.get("qk_norm", False),
        kind=kind,
        block=1 if kind == "full" else residual.get("block", 4),
        score=residual.get("score", "dot"),
        depth_heads=residual.get("depth_heads", 1),
        key_gain=residual.get("key_gain", False),
        routes=residual.get("routes", {"qkv": "learned"}),
        extra_vector=description.get("controls", {}).get("extra_vector", False),
    )


def route_parameter(model, route, sublayer):
    """The name and shape of what a learned route has that stands before
    sublayer number `sublayer`, or, with number 2L, at the end."""
    if model.score == "dot":
        return f"{route}.query", [model.width]
    # The embedding, closed blocks, and what is left in the partial.
    blocks, inside = divmod(sublayer, model.block)
    return f"{route}.mixture", [1 + blocks + (inside > 0)]


def parameter_shapes(model):
    """The name and shape of every tensor of a weights file."""
    D, V, F = model.width, model.vocabulary, model.hidden
    H, K, d = model.heads, model.kv_heads, model.head_width
    shapes = {"embed.weight": [V, D]}
    for l in range(model.layers):
        attn, mlp = f"layers.{l}.attn", f"layers.{l}.mlp"
        shapes[f"{attn}.norm.weight"] = [D]
        shapes[f"{attn}.q.weight"] = [H * d, D]
        shapes[f"{attn}.k.weight"] = [K * d, D]
        shapes[f"{attn}.v.weight"] = [K * d, D]
        shapes[f"{attn}.o.weight"] = [D, H * d]
        shapes[f"{mlp}.norm.weight"] = [D]
        shapes[f"{mlp}.gate.weight"] = [F, D]
        shapes[f"{mlp}.up.weight"] = [F, D]
        shapes[f"{mlp}.down.weight"] = [D, F]
        if model.qk_norm:
            shapes[f"{attn}.q_norm.weight"] = [d]
            shapes[f"{attn}.k_norm.weight"] = [d]
        if model.routed:
            for group in model.learned_groups():
                name, shape = route_parameter(
                    model, f"{attn}.route.{group}", 2 * l)
                shapes[name] = shape
            name, shape = route_parameter(model, f"{mlp}.route", 2 * l + 1)
            shapes[name] = shape
        if model.routed and model.key_gain:
            shapes[f"{attn}.route.gain"] = [D]
            shapes[f"{mlp}.route.gain"] = [D]
        if model.extra_vector:
            shapes[f"{attn}.extra.weight"] = [D]
    shapes["final.norm.weight"] = [D]
    if model.routed:
        name, shape = route_parameter(model, "final.route", 2 * model.layers)
        shapes[name] = shape
    if model.routed and model.key_gain:
        shapes["final.route.gain"] = [D]
    if not model.tied_head:
        shapes["head.weight"] = [V, D]
    return shapes


def rstd(x, eps):
    return 1 / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


def rms_norm(x, weight, eps):
    return x * rstd(x, eps) * weight


# ---------------------------------------------------------------- depth routes


def learned_distribution(model, sources, query, gain):
    """α [B, T, h, n] of one query [D] over n sources [B, T, D]."""
    B, T, D = sources[0].shape
    h = model.depth_heads
    logits = []
    for s in sources:
        terms = (s * rstd(s, model.norm_epsilon)) * (gain * query)
        logits.append(terms.reshape(B, T, h, D // h).sum(-1))
    return torch.softmax(torch.stack(logits, -1), -1)


def static_distribution(model, sources, mixture):
    """α [B, T, h, n] that is softmax(mixture [n]) for every token."""
    B, T, _ = sources[0].shape
    return torch.softmax(mixture, -1).expand(
        B, T, model.depth_heads, len(sources))


def fixed_distribution(model, sources, how):
    """α [B, T, h, n] of a route without parameters."""
    B, T, _ = sources[0].shape
    n = len(sources)
    alpha = {
        "uniform": [1 / n] * n,
        "newest": [0.0] * (n - 1) + [1.0],
        "embedding": [1.0] + [0.0] * (n - 1),
    }[how]
    return torch.tensor(alpha, dtype=torch.float64).expand(
        B, T, model.depth_heads, n)


def mix(sources, alpha):
    """Σ_i α_i s_i, where a depth head's α holds for its D/h channels."""
    D = sources[0].shape[-1]
    h = alpha.shape[2]
    total = torch.zeros_like(sources[0])
    for i, s in enumerate(sources):
        total = total + alpha[..., i].repeat_interleave(D // h, dim=-1) * s
    return total


class Residual:
    """What sublayers read and write: routed sources, or a running sum."""

    def __init__(self, model, parameters, embedding, record):
        self.model = model
        self.parameters = parameters
        self.record = record  # (site, group) -> α, or None
        self.closed = [embedding]
        self.partial = None
        self.inside = 0  # sublayers in the partial
        self.sum = embedding  # the standard residual stream

    def sources(self):
        return self.closed + ([] if self.partial is None else [self.partial])

    def write(self, f):
        self.sum = self.sum + f
        self.partial = f if self.partial is None else self.partial + f
        self.inside += 1
        if self.inside == self.model.block:
            self.closed.append(self.partial)
            self.partial, self.inside = None, 0

    def read(self, site, group=None):
        """What `group` of `site` reads; sites with one query have no group."""
        if not self.model.routed:
            return self.sum
        how = self.model.routes[group] if group else "learned"
        if how == "learned" and self.model.score == "static":
            route = f"{site}.route.{group}" if group else f"{site}.route"
            alpha = static_distribution(self.model, self.sources(),
                                        self.parameters[f"{route}.mixture"])
        elif how in ("learned", "repeat"):
            # `repeat` runs the route of the group with q a second time.
            owner = self.model.group_of("q") if how == "repeat" else group
            query = f"{site}.route.{owner}.query" if owner else (
                f"{site}.route.query")
            gain = (self.parameters[f"{site}.route.gain"]
                    if self.model.key_gain else 1.0)
            alpha = learned_distribution(
                self.model, self.sources(), self.parameters[query], gain)
        else:
            alpha = fixed_distribution(self.model, self.sources(), how)
        if self.record is not None:
            self.record[site, group] = alpha.detach()
        return mix(self.sources(), alpha)


# ------------------------------------------------------------------ sublayers


def rotary(model, x):
    """Turns pairs (x_i, x_{i+d/2}) of x [B,T,heads,d] by p · base^(−2i/d)."""
    T, d = x.shape[1], x.shape[3]
    p = torch.arange(T, dtype=torch.float64).reshape(1, T, 1, 1)
    i = torch.arange(d // 2, dtype=torch.float64)
    angle = p * model.rope_base ** (-2 * i / d)
    a, b = x[..., :d // 2], x[..., d // 2:]
    cos, sin = torch.cos(angle), torch.sin(angle)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def attention(model, parameters, site, x_q, x_k, x_v):
    B, T, D = x_q.shape
    H, K, d = model.heads, model.kv_heads, model.head_width
    q = (x_q @ parameters[f"{site}.q.weight"].T).reshape(B, T, H, d)
    k = (x_k @ parameters[f"{site}.k.weight"].T).reshape(B, T, K, d)
    v = (x_v @ parameters[f"{site}.v.weight"].T).reshape(B, T, K, d)
    if model.qk_norm:
        eps = model.norm_epsilon
        q = rms_norm(q, parameters[f"{site}.q_norm.weight"], eps)
        k = rms_norm(k, parameters[f"{site}.k_norm.weight"], eps)
    q, k = rotary(model, q), rotary(model, k)
    future = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    heads = []
    for j in range(H):
        shared = j * K // H  # the key/value head of query head j
        scores = q[:, :, j] @ k[:, :, shared].transpose(1, 2) / math.sqrt(d)
        scores = scores.masked_fill(future, -math.inf)
        heads.append(torch.softmax(scores, -1) @ v[:, :, shared])
    joined = torch.stack(heads, 2).reshape(B, T, H * d)
    return joined @ parameters[f"{site}.o.weight"].T


def mlp(parameters, site, x):
    gate = x @ parameters[f"{site}.gate.weight"].T
    up = x @ parameters[f"{site}.up.weight"].T
    silu = gate * torch.sigmoid(gate)
    return (silu * up) @ parameters[f"{site}.down.weight"].T


def logits(model, parameters, tokens, record=None):
    """Logits [B, T, V] of tokens [B, T]; `record` collects the routes' α."""
    eps = model.norm_epsilon
    residual = Residual(
        model, parameters, parameters["embed.weight"][tokens], record)
    for l in range(model.layers):
        site = f"layers.{l}.attn"
        norm = parameters[f"{site}.norm.weight"]
        x = {}
        for group in model.routes:
            normed = rms_norm(residual.read(site, group), norm, eps)
            x.update({role: normed for role in group})
        if model.extra_vector:
            x["v"] = x["v"] + parameters[f"{site}.extra.weight"]
        residual.write(
            attention(model, parameters, site, x["q"], x["k"], x["v"]))
        site = f"layers.{l}.mlp"
        norm = parameters[f"{site}.norm.weight"]
        residual.write(
            mlp(parameters, site, rms_norm(residual.read(site), norm, eps)))
    end = rms_norm(residual.read("final"), parameters["final.norm.weight"], eps)
    head = parameters["embed.weight" if model.tied_head else "head.weight"]
    return end @ head.T


def loss(model, parameters, tokens, targets):
    """Mean cross-entropy over the targets [B, T] that are not −1."""
    scores = logits(model, parameters, tokens)
    counted = targets != -1
    chosen = scores.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    each = torch.logsumexp(scores, -1) - chosen
    return each[counted].sum() / counted.sum()


# ------------------------------------------------- what the commands print


def gradients(model, parameters, tokens, targets):
    """The loss as a number and the gradient of every parameter."""
    leaves = {n: p.clone().requires_grad_(True) for n, p in parameters.items()}
    value = loss(model, leaves, tokens, targets)
    value.backward()
    zero = torch.zeros_like
    return value.item(), {
        n: zero(p) if p.grad is None else p.grad for n, p in leaves.items()}


def windows(model, ids):
    """(inputs, targets) [1, ≤ T]: every next token once, the last one short."""
    for start in range(0, len(ids) - 1, model.context):
        end = min(start + model.context, len(ids) - 1)
        yield (torch.tensor([ids[start:end]]),
               torch.tensor([ids[start + 1:end + 1]]))


def evaluate(model, parameters, ids):
    """Mean loss over all next tokens of a shard, and their number."""
    total, count = 0.0, 0
    for inputs, targets in windows(model, ids):
        n = targets.numel()
        total += loss(model, parameters, inputs, targets).item() * n
        count += n
    return total / count, count


def entropy(alpha):
    return -torch.xlogy(alpha, alpha).sum(-1)


def route_report(model, parameters, ids):
    """The fields `sites` and `js` of the command `routes`."""
    collected = {}
    for inputs, _ in windows(model, ids):
        record = {}
        logits(model, parameters, inputs, record)
        for key, alpha in record.items():
            flat = alpha.reshape(-1, *alpha.shape[2:])  # [tokens, h, n]
            collected.setdefault(key, []).append(flat)
    alphas = {key: torch.cat(parts) for key, parts in collected.items()}
    sites = [{"name": site, "group": group, "sources": alpha.shape[-1],
              "weights": alpha.mean((0, 1)).tolist(),
              "entropy": entropy(alpha).mean().item()}
             for (site, group), alpha in alphas.items()]
    js = []
    if model.routed and model.group_of("q") != model.group_of("v"):
        for l in range(model.layers):
            a = alphas[f"layers.{l}.attn", model.group_of("q")]
            b = alphas[f"layers.{l}.attn", model.group_of("v")]
            divergence = entropy((a + b) / 2) - (entropy(a) + entropy(b)) / 2
            js.append({"layer": l, "value": divergence.mean().item()})
    return {"sites": sites, "js": js}
