#===- pytorch_peer.py - The model family in PyTorch, made to be fast -----===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# What somebody who knows PyTorch would write for these models: fused attention,
# normalisation and optimiser, as few matrix products as the roles allow, and
# routes whose queries meet a source all at once. Eager, or with torch.compile.
# Its numbers are those of test/goldens/oracle.py; its code is not.
#
# Precision bf16: parameters, gradients and the optimiser are f32, activations
# are bf16. Products and attention take and give bf16; routes, the statistics of
# norms, and the loss compute in f32.
#
# Letters: B sequences, T tokens, D width, V vocabulary, d a head's width, n
# sources, Q queries of all routes.
#
#===----------------------------------------------------------------------===//

import torch
import torch.nn.functional as F

import worker
from description import parameters, route_sites

STORAGE = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}


def linear(x, weight):
    return F.linear(x, weight.to(x.dtype))


def rms_norm(x, weight, epsilon):
    return F.rms_norm(x, weight.shape, weight.to(x.dtype), epsilon)


# --------------------------------------------------------------- the residual


class StandardResidual:
    """A running sum."""

    def __init__(self, embedding):
        self.sum = embedding

    def read(self, count):
        return [self.sum] * count

    def write(self, f):
        self.sum = self.sum + f


class RoutedResidual:
    """Sources, and what the routes to come will think of them.

    A closed source meets all queries that will read it in one product; only the
    partial, which changes, meets them site by site.
    """

    def __init__(self, model, p, embedding):
        self.model = model
        self.queries = torch.cat(
            [p[f"{site}.route.queries"] for site in route_sites(model)])
        self.asked = 0  # queries of the sites so far
        self.closed = []
        self.logits = []  # of each closed source [B, T, queries since then]
        self.partial = None
        self.inside = 0  # sublayers in the partial
        self.close(embedding)

    def logits_of(self, source, queries):
        s = source.to(queries.dtype)
        rstd = torch.rsqrt(
            s.square().mean(-1, keepdim=True) + self.model.norm_epsilon)
        return F.linear(s, queries) * rstd

    def close(self, source):
        self.closed.append(source)
        self.logits.append(self.logits_of(source, self.queries[self.asked:]))

    def read(self, count):
        """The routes of a site with `count` queries."""
        sources, logits = list(self.closed), []
        end = self.asked + count
        for known in self.logits:
            first = known.shape[-1] - (len(self.queries) - self.asked)
            logits.append(known[..., first:first + count])
        if self.partial is not None:
            sources.append(self.partial)
            logits.append(
                self.logits_of(self.partial, self.queries[self.asked:end]))
        self.asked = end
        if len(sources) == 1:
            return sources * count
        alpha = torch.stack(logits).softmax(0)  # [n, B, T, count]
        return [self.mix(sources, alpha[..., i:i + 1]) for i in range(count)]

    def mix(self, sources, alpha):
        total = alpha[0] * sources[0]
        for weight, source in zip(alpha[1:], sources[1:]):
            total = torch.addcmul(total, weight, source.to(total.dtype))
        return total.to(sources[0].dtype)

    def write(self, f):
        self.partial = f if self.partial is None else self.partial + f
        self.inside += 1
        if self.inside == self.model.block:
            self.close(self.partial)
            self.partial, self.inside = None, 0


# ------------------------------------------------------------------ sublayers


def rotation(model, compute):
    """cos and sin [T, 1, d/2] of every position and pair."""
    i = torch.arange(model.head_width // 2, dtype=torch.float64)
    p = torch.arange(model.context, dtype=torch.float64)
    angle = torch.outer(p, model.rope_base ** (-2 * i / model.head_width))
    return (angle.cos().to(compute).unsqueeze(1),
            angle.sin().to(compute).unsqueeze(1))


def rotate(x, cos, sin):
    """Turns the pairs (x_i, x_{i+d/2}) of x [B, T, heads, d]."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def attention(model, p, site, inputs, cos, sin):
    """`inputs` [B, T, D]: what each of the model's groups reads."""
    roles = {}
    for group, x in zip(model.groups, inputs):
        heads = [model.heads_of(role) for role in group]
        y = linear(x, p[f"{site}.{group}.weight"])
        parts = y.unflatten(-1, (-1, model.head_width)).split(heads, 2)
        roles.update(zip(group, parts))
    q, k = rotate(roles["q"], cos, sin), rotate(roles["k"], cos, sin)
    y = F.scaled_dot_product_attention(
        q.transpose(1, 2), k.transpose(1, 2), roles["v"].transpose(1, 2),
        is_causal=True, enable_gqa=model.kv_heads != model.heads)
    return linear(y.transpose(1, 2).flatten(2), p[f"{site}.o.weight"])


def mlp(p, site, x):
    gate, up = linear(x, p[f"{site}.gate_up.weight"]).chunk(2, -1)
    return linear(F.silu(gate) * up, p[f"{site}.down.weight"])


def mean_loss(model, storage, cos, sin, p, tokens, targets):
    def normed(site, x):
        return rms_norm(x, p[f"{site}.norm.weight"], model.norm_epsilon)

    embedding = F.embedding(tokens, p["embed.weight"]).to(storage)
    residual = (RoutedResidual(model, p, embedding) if model.routed else
                StandardResidual(embedding))
    for l in range(model.layers):
        site = f"layers.{l}.attn"
        inputs = [normed(site, x) for x in residual.read(len(model.groups))]
        residual.write(attention(model, p, site, inputs, cos, sin))
        site = f"layers.{l}.mlp"
        residual.write(mlp(p, site, normed(site, residual.read(1)[0])))
    end = normed("final", residual.read(1)[0])
    head = p["embed.weight" if model.tied_head else "head.weight"]
    logits = linear(end, head).flatten(0, 1)
    return F.cross_entropy(logits.to(cos.dtype), targets.flatten())


# ------------------------------------------------------------------- training


class Peer:
    def __init__(self, model, precision, options, values):
        torch.set_num_threads(options.threads)
        torch.compiler.reset()  # a process compiles several models in a check
        storage = STORAGE[precision]
        compute = torch.promote_types(storage, torch.float32)
        self.clip = model.clip
        self.parameters = {
            name: torch.tensor(value, dtype=compute, requires_grad=True)
            for name, value in values.items()}
        cos, sin = rotation(model, compute)

        def loss(p, tokens, targets):
            return mean_loss(model, storage, cos, sin, p, tokens, targets)

        self.loss = (torch.compile(loss, fullgraph=True) if options.compile
                     else loss)
        table = parameters(model)
        self.optimizer = torch.optim.AdamW(
            [{"params": [self.parameters[name] for name in table
                         if table[name].is_matrix == matrices],
              "weight_decay": model.weight_decay if matrices else 0.0}
             for matrices in (True, False)],
            lr=model.learning_rate, betas=model.betas, eps=model.adam_epsilon,
            fused=True)

    def backward(self, tokens, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.parameters, torch.from_numpy(tokens),
                         torch.from_numpy(targets))
        loss.backward()
        return loss

    def step(self, tokens, targets):
        self.backward(tokens, targets)
        if self.clip:
            torch.nn.utils.clip_grad_norm_(self.parameters.values(), self.clip)
        self.optimizer.step()

    def gradients(self, tokens, targets):
        loss = self.backward(tokens, targets)
        return loss.item(), {name: parameter.grad.numpy()
                             for name, parameter in self.parameters.items()}


def main():
    options = worker.arguments("The PyTorch peer of a model.")
    worker.run(Peer, torch.__version__, options)


if __name__ == "__main__":
    main()
