#===- check_measurements.py - What eval and grad count and average --------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Which tokens `isobath eval` and `isobath grad` look at, and that nothing else
# has an influence on what they say: neither the batch that windows are grouped
# into, nor what pads the last one.
#
#===----------------------------------------------------------------------===//

import math

from commands import run_json
from small_models import random_ids, write_description
from tensor_files import read_safetensors, write_shard
from training_runs import expect, run_checks


class Bench:
    """A model, its initial weights, and shards."""

    def __init__(self, folder):
        self.folder = folder
        self.model = write_description(folder / "model.yaml", {"batch": 4},
                                       residual="{kind: full}")
        self.weights = folder / "weights"
        run_json(["isobath", "init", self.model, "-o", self.weights])

    def shard(self, name, ids):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        write_shard(path, ids)
        return path

    def eval(self, data, *options):
        """Loss and tokens, with the perplexity checked."""
        result = run_json(["isobath", "eval", self.model, "--weights",
                           self.weights, "--data", data, *options])
        perplexity = math.exp(result["loss"])
        expect(abs(result["perplexity"] - perplexity) < 1e-9 * perplexity,
               result)
        return result["loss"], result["tokens"]

    def grad(self, data, batch, *options):
        """Loss, and the gradients as the bytes of their file."""
        path = self.folder / "gradients"
        result = run_json(["isobath", "grad", self.model, "--weights",
                           self.weights, "--data", data, "--batch", batch,
                           "-o", path, *options])
        expect(result["tokens"] == batch * 6, result)
        return result["loss"], path.read_bytes()

    def read_gradients(self):
        return read_safetensors(self.folder / "gradients")


def expect_close(found, expected, tolerance, *what):
    expect(abs(found - expected) <= tolerance * abs(expected), *what, found,
           "expected", expected)


#===----------------------------------------------------------------------===#
# Checks
#===----------------------------------------------------------------------===#

def check_eval(bench):
    """Every next token of each file once, in windows of 6."""
    counts = {"valid_000000.bin": 33, "valid_000001.bin": 2,
              "valid_000002.bin": 13}
    shards = {name: bench.shard(f"data/{name}", random_ids(count, name))
              for name, count in counts.items()}
    bench.shard("data/train_000000.bin", random_ids(50, 0))
    alone = {name: bench.eval(path) for name, path in shards.items()}
    for name, (_, tokens) in alone.items():
        expect(tokens == counts[name] - 1, name, "has", tokens, "tokens")
    loss, tokens = bench.eval(bench.folder / "data")
    expect(tokens == sum(counts.values()) - 3, "the folder has", tokens)
    total = math.fsum(loss * tokens for loss, tokens in alone.values())
    expect_close(loss, total / tokens, 1e-6, "the folder's loss is")

    # Windows start over: a file in two parts, cut behind a whole window, has
    # the same windows.
    ids = random_ids(33, "valid_000000.bin")
    bench.shard("parts/valid_000000.bin", ids[:13])
    bench.shard("parts/valid_000001.bin", ids[12:])
    loss, tokens = bench.eval(bench.folder / "parts")
    expect(tokens == 32, "the parts have", tokens, "tokens")
    expect_close(loss, alone["valid_000000.bin"][0], 1e-6, "in parts it is")


def check_padding(bench):
    """The batch, and so what fills up its last windows, changes nothing."""
    shard = bench.shard("shard.bin", random_ids(39, 1))
    expected = bench.eval(shard)
    write_description(bench.model, {"batch": 7}, residual="{kind: full}")
    loss, tokens = bench.eval(shard)
    expect(tokens == expected[1] == 38, "tokens", tokens, expected[1])
    expect_close(loss, expected[0], 1e-6, "with another batch the loss is")


def check_grad(bench):
    """B·T + 1 ids, more are ignored; the loss is that of the same windows."""
    ids = random_ids(13, 2)
    exact = bench.grad(bench.shard("exact.bin", ids), 2)
    more = bench.grad(bench.shard("more.bin", ids + random_ids(9, 3)), 2)
    expect(exact == more, "ids behind the batch change its gradient")
    expect_close(exact[0], bench.eval(bench.folder / "exact.bin")[0], 1e-6,
                 "the loss is")


def check_repeated_token(bench):
    """One token, over and over: the same bytes at any number of threads."""
    shard = bench.shard("repeated.bin", [7] * 25)
    first = bench.grad(shard, 4, "--threads", "1")
    expect(bench.grad(shard, 4, "--threads", "2") == first,
           "two threads give other bytes")
    for name, tensor in bench.read_gradients().items():
        expect(all(map(math.isfinite, tensor.values)), name, "is not finite")
    for precision in ["f32", "f64"]:
        loss, _ = bench.grad(shard, 4, "--precision", precision)
        expect_close(loss, first[0], 1e-6, precision, "gives")


if __name__ == "__main__":
    run_checks([check_eval, check_padding, check_grad, check_repeated_token],
               Bench)
