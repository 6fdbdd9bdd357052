#===- check_head.py - Heads with large vocabularies ----------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# What a vocabulary costs in planned memory: no entry holds the logits of all
# tokens but the one that returns them. And that a head which is done in chunks
# gives the reference's gradients, with the same bits for any number of threads.
#
#===----------------------------------------------------------------------===//

import re

from check_stages import compile_to
from commands import run_json
from compare_devices import TOLERANCES, worst_ratio
from small_models import random_ids, write_description
from tensor_files import read_safetensors, write_shard
from training_runs import expect, run_checks

# f32 numbers in 32 MiB, and the fewest tokens of a chunk.
CHUNK, FEWEST = 2 ** 23, 256


def arenas(program):
    """The bytes of the arena of every entry that has one."""
    found = re.findall(r'func\.func @(\w+)\(.*memref<(\d+)xi8> '
                       r'{net\.name = "arena"}', program)
    return {name: int(size) for name, size in found}


def check_memory(folder):
    """Twice the vocabulary is more for a chunk's logits, and nothing for those
    of all tokens."""
    context, batch = 256, 8
    sizes = [20000, 40000]
    for tied in ["true", "false"]:
        for precision, bytes_each in [("f32", 4), ("bf16", 4 + 2)]:
            found = {}
            for vocabulary in sizes:
                model = write_description(
                    folder / "model.yaml", {"batch": batch},
                    vocabulary=vocabulary, context=context, tied_head=tied,
                    width=16, residual="{kind: standard}")
                program = folder / "planned.mlir"
                compile_to("planned", model, program, "--precision", precision)
                text = program.read_text()
                found[vocabulary] = arenas(text)
                every = context * batch * vocabulary
                # The caller's buffer, which only one entry has.
                shape = f"memref<{batch}x{context}x{vocabulary}x"
                holders = [line for line in text.splitlines()
                           if shape in line and "func.func @" in line
                           and "private" not in line]
                expect(len(holders) == 1 and "@logits(" in holders[0],
                       "entries with all logits:", *holders)
                expect(f"{shape}f32> to" not in text and
                       f"to {shape}" not in text, "a place for all logits")
                for name in ["gradient", "loss"]:
                    expect(found[vocabulary][name] < 4 * every / 2, name,
                           "needs", found[vocabulary][name], "bytes, all",
                           "logits", 4 * every)
            # A chunk's logits, from no less than half of 32 MiB to what they are
            # at most; the weight in bf16; what else there is for every token id.
            chunk = max(CHUNK, FEWEST * sizes[1]) - CHUNK // 2
            bound = bytes_each * chunk + (2 * 16 + 64) * (sizes[1] - sizes[0])
            grown = found[sizes[1]]["gradient"] - found[sizes[0]]["gradient"]
            expect(grown <= bound, "the gradient's arena grew by", grown,
                   "bytes, expected at most", bound)


def check_gradients(folder):
    vocabulary, context, batch = 33000, 150, 4
    model = write_description(
        folder / "model.yaml", vocabulary=vocabulary, context=context)
    weights, shard = folder / "weights", folder / "data.bin"
    run_json(["isobath", "init", model, "-o", weights])
    write_shard(shard, random_ids(context * batch + 1, 0, vocabulary))

    def gradients(name, *options):
        path = folder / name
        run_json(["isobath", "grad", model, "--weights", weights, "--data",
                  shard, "--batch", str(batch), "-o", path, *options])
        return path

    reference = ["--device", "reference", "--precision"]
    exact = read_safetensors(gradients("exact", *reference, "f64"))
    for precision in TOLERANCES:
        common = ["--precision", precision, "--threads"]
        one = gradients(f"one.{precision}", *common, "1")
        two = gradients(f"two.{precision}", *common, "2")
        expect(one.read_bytes() == two.read_bytes(), precision,
               "gradients of one and of two threads differ")
        expected = read_safetensors(
            gradients(f"expected.{precision}", *reference, precision))
        ratio, name = worst_ratio(read_safetensors(one), expected, exact,
                                  precision)
        expect(ratio <= 1, precision, name, "differs by", ratio,
               "of what is allowed")


if __name__ == "__main__":
    run_checks([check_memory, check_gradients])
