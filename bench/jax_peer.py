#===- jax_peer.py - The model family in JAX, made to be fast -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# The models of pytorch_peer.py, in the same precisions and with the same
# batching of routes, as one jitted function of a whole step that reuses the
# memory of its arguments. XLA fuses the rest.
#
# Letters: B sequences, T tokens, D width, V vocabulary, d a head's width, n
# sources.
#
#===----------------------------------------------------------------------===//

import jax
import jax.numpy as jnp
import numpy as np

import worker
from description import parameters, route_sites

STORAGE = {"f32": jnp.float32, "bf16": jnp.bfloat16, "f64": jnp.float64}


def linear(x, weight):
    return x @ weight.astype(x.dtype).T


def rstd(x, epsilon):
    return jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + epsilon)


def rms_norm(x, weight, epsilon):
    wide = x.astype(weight.dtype)
    return (wide * rstd(wide, epsilon) * weight).astype(x.dtype)


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
        self.queries = jnp.concatenate(
            [p[f"{site}.route.queries"] for site in route_sites(model)])
        self.asked = 0  # queries of the sites so far
        self.closed = []
        self.logits = []  # of each closed source [B, T, queries since then]
        self.partial = None
        self.inside = 0  # sublayers in the partial
        self.close(embedding)

    def logits_of(self, source, queries):
        s = source.astype(queries.dtype)
        return (s @ queries.T) * rstd(s, self.model.norm_epsilon)

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
        alpha = jax.nn.softmax(jnp.stack(logits), 0)  # [n, B, T, count]
        return [self.mix(sources, alpha[..., i:i + 1]) for i in range(count)]

    def mix(self, sources, alpha):
        total = sum(weight * source for weight, source in zip(alpha, sources))
        return total.astype(sources[0].dtype)

    def write(self, f):
        self.partial = f if self.partial is None else self.partial + f
        self.inside += 1
        if self.inside == self.model.block:
            self.close(self.partial)
            self.partial, self.inside = None, 0


# ------------------------------------------------------------------ sublayers


def rotation(model, compute):
    """cos and sin [T, 1, d/2] of every position and pair."""
    i = np.arange(model.head_width // 2)
    p = np.arange(model.context)
    angle = np.outer(p, model.rope_base ** (-2 * i / model.head_width))
    return (jnp.asarray(np.cos(angle)[:, None], compute),
            jnp.asarray(np.sin(angle)[:, None], compute))


def rotate(x, cos, sin):
    """Turns the pairs (x_i, x_{i+d/2}) of x [B, T, heads, d]."""
    a, b = jnp.split(x, 2, -1)
    turned = jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    return turned.astype(x.dtype)


def attention(model, p, site, inputs, cos, sin):
    """`inputs` [B, T, D]: what each of the model's groups reads."""
    roles = {}
    for group, x in zip(model.groups, inputs):
        ends = np.cumsum([model.heads_of(role) for role in group])[:-1]
        y = linear(x, p[f"{site}.{group}.weight"])
        y = y.reshape(*x.shape[:2], -1, model.head_width)
        roles.update(zip(group, jnp.split(y, ends, 2)))
    q, k = rotate(roles["q"], cos, sin), rotate(roles["k"], cos, sin)
    y = jax.nn.dot_product_attention(q, k, roles["v"], is_causal=True)
    return linear(y.reshape(*y.shape[:2], -1), p[f"{site}.o.weight"])


def mlp(p, site, x):
    gate, up = jnp.split(linear(x, p[f"{site}.gate_up.weight"]), 2, -1)
    return linear(jax.nn.silu(gate) * up, p[f"{site}.down.weight"])


def mean_loss(p, model, storage, tokens, targets):
    compute = p["embed.weight"].dtype
    cos, sin = rotation(model, compute)

    def normed(site, x):
        return rms_norm(x, p[f"{site}.norm.weight"], model.norm_epsilon)

    embedding = p["embed.weight"][tokens].astype(storage)
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
    logits = jnp.einsum("btd,vd->btv", end, head.astype(storage),
                        preferred_element_type=compute)
    chosen = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - chosen).mean()


# ------------------------------------------------------------------- training


def clip_and_update(model, p, gradients, moments, t):
    """AdamW on gradients of norm `clip` at most."""
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in gradients.values()))
    scale = jnp.minimum(1, model.clip / norm) if model.clip else 1
    table = parameters(model)
    beta1, beta2 = model.betas
    updated, kept = {}, {}
    for name, value in p.items():
        g = gradients[name] * scale
        m, v = moments[name]
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        step = (m / (1 - beta1 ** t)) / (
            jnp.sqrt(v / (1 - beta2 ** t)) + model.adam_epsilon)
        decay = model.weight_decay if table[name].is_matrix else 0
        updated[name] = value - model.learning_rate * (step + decay * value)
        kept[name] = (m, v)
    return updated, kept


class Peer:
    def __init__(self, model, precision, _, values):
        jax.config.update("jax_enable_x64", precision == "f64")
        storage = STORAGE[precision]
        compute = jnp.promote_types(storage, jnp.float32)
        self.parameters = {name: jnp.asarray(value, compute)
                           for name, value in values.items()}
        self.moments = {name: (jnp.zeros_like(value), jnp.zeros_like(value))
                        for name, value in self.parameters.items()}
        self.done = 0

        def gradients(p, tokens, targets):
            return jax.value_and_grad(mean_loss)(p, model, storage, tokens,
                                                 targets)

        def step(p, moments, t, tokens, targets):
            loss, found = gradients(p, tokens, targets)
            return loss, *clip_and_update(model, p, found, moments, t)

        self.jitted_gradients = jax.jit(gradients)
        self.jitted_step = jax.jit(step, donate_argnums=(0, 1))

    def step(self, tokens, targets):
        self.done += 1
        loss, self.parameters, self.moments = jax.block_until_ready(
            self.jitted_step(self.parameters, self.moments,
                             jnp.float32(self.done), jnp.asarray(tokens),
                             jnp.asarray(targets)))
        return loss

    def gradients(self, tokens, targets):
        loss, found = self.jitted_gradients(
            self.parameters, jnp.asarray(tokens), jnp.asarray(targets))
        return loss.item(), {name: np.asarray(g) for name, g in found.items()}


def main():
    options = worker.arguments("The JAX peer of a model.")
    worker.run(Peer, jax.__version__, options)


if __name__ == "__main__":
    main()
