#===- check_damaged_files.py - Files that no command may trust ------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Token shards and weights that are broken in every way we could think of, each
# given to `isobath eval` in the place of a good file. Each must be refused with
# one line that names the file and what is wrong in it.
#
#===----------------------------------------------------------------------===//

import argparse
import copy
import json
import struct
import subprocess
import sys
from array import array
from pathlib import Path

from expect_error import UnexpectedOutcome, expect_error
from small_models import random_ids, write_description
from tensor_files import (Tensor, read_safetensors, write_safetensors,
                          write_shard)

# The cheapest of models: compiling it is what most of the time goes to.
MODEL = {"vocabulary": 11, "width": 2, "heads": 1, "hidden": 1, "context": 3,
         "residual": "{kind: standard}"}


#===----------------------------------------------------------------------===#
# Shards
#===----------------------------------------------------------------------===#

def damaged_shards(folder):
    """Pairs of a file and what its error has to say."""
    good = folder / "good.bin"
    write_shard(good, random_ids(20, 0, vocabulary=11))
    content = good.read_bytes()

    def word(index, value):
        return (content[:4 * index] + struct.pack("<i", value)
                + content[4 * index + 4:])

    cases = {
        "empty": (b"", "byte 0: header .* given 0 bytes, expected 1024"),
        "half-header": (content[:500], "byte 0: header .* given 500 bytes"),
        "truncated": (content[:-1], "byte 8: count of ids: given 20,.* 1063"),
        "longer": (content + b"12", "byte 8: count of ids: given 20,.* 1066"),
        "magic": (word(0, 12345), "byte 0: magic .*given 12345, .*20240520"),
        "version": (word(1, 7), "byte 4: version: given 7, expected 1"),
        "negative": (word(2, -1), "byte 8: count of ids: given -1"),
        "huge": (word(2, 2**31 - 1), "byte 8: count of ids: given 2147483647"),
        "no-header": (content[1024:] * 60, "byte 0: magic"),
    }
    for name, (data, message) in cases.items():
        path = folder / f"{name}.bin"
        path.write_bytes(data)
        yield path, message
    for name, ids, wide, message in [
            ("range", [1, 2, 11], False, "byte 1028: id: given 11, .* 11"),
            ("wide", [1, 2**32 - 1], True, "byte 1028: id: given 4294967295"),
            ("one-id", [1], False, "ids to evaluate: given 1, .* 2"),
            ("no-id", [], False, "ids to evaluate: given 0, .* 2")]:
        path = folder / f"{name}.bin"
        write_shard(path, ids, wide)
        yield path, message
    yield folder / "absent.bin", "cannot open: no such file"
    yield Path("/dev/null"), "cannot map: not a regular file"


#===----------------------------------------------------------------------===#
# Weights
#===----------------------------------------------------------------------===#

NAME = "final.norm.weight"


def headers(header, size):
    """Headers of a file with `size` bytes of data, each with one fault."""
    def changed(**fields):
        result = copy.deepcopy(header)
        result[NAME] |= fields
        return json.dumps(result)

    begin, end = header[NAME]["data_offsets"]
    first = header["embed.weight"]["data_offsets"][0]
    text = json.dumps(header)
    yield "length", changed(data_offsets=[begin, end - 4]), (
        f"tensor '{NAME}': data_offsets: .* 4 bytes, expected 8")
    yield "overlap", changed(data_offsets=[first, first + 8]), (
        "tensor '.*': data_offsets: given a begin of")
    yield "beyond", changed(data_offsets=[size, size + 8]), "tensor '.*"
    yield "reversed", changed(data_offsets=[end, begin]), (
        f"tensor '{NAME}': data_offsets: .* rising")
    yield "offset-overflow", changed(data_offsets=[2**64 - 8, 2**64]), (
        f"tensor '{NAME}': data_offsets")
    yield "shape-overflow", changed(shape=[2**33, 2**33]), (
        f"tensor '{NAME}': shape: .* less than 2.64 bytes")
    yield "extent-overflow", changed(shape=[2**64]), f"tensor '{NAME}': shape"
    yield "negative", changed(shape=[-2]), f"tensor '{NAME}': shape: given -2"
    yield "fraction", changed(shape=[2.0]), f"tensor '{NAME}': shape"
    yield "f16", changed(dtype="F16"), (
        f"tensor '{NAME}': dtype: given 'F16', expected F64, F32 or BF16")
    yield "shape", changed(shape=[1, 2]), (
        f"tensors do not fit the model: wrong shape {NAME} .given .1, 2.")
    yield "twice", f'{text[:-1]}, "{NAME}": {json.dumps(header[NAME])}}}', (
        f"header: key '{NAME}' given twice")
    yield "list", "[1, 2]", "byte 8: header: given '\\['"
    yield "not-json", text[:-1] + ",}", "byte [0-9]*: header: not valid JSON"
    yield "deep", '{"a":' + "[" * 100000, "tensor 'a': given an array"


def damaged_weights(folder, weights):
    content = weights.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    for name, text, message in headers(header, len(data)):
        path = folder / f"{name}.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)
        yield path, message
    for name, changed, message in [
            ("empty", b"", "byte 0: length of the header: given 0 bytes"),
            ("half", content[:8 + length // 2], "byte 0: length of the header"),
            ("header-length", struct.pack("<Q", 2**63) + content[8:],
             "byte 0: length of the header: given 9223372036854775808"),
            ("truncated", content[:-1], "tensor '.*': data_offsets"),
            ("longer", content + b"1", "data: given .* expected .*header")]:
        path = folder / f"{name}.safetensors"
        path.write_bytes(changed)
        yield path, message
    tensors = read_safetensors(weights)
    for name, changed, dtype, message in [
            ("missing", {NAME: None}, "F32", f".*: missing {NAME}"),
            ("extra", {"other": Tensor([1], array("d", [0]))}, "F32",
             ".*: extra other"),
            ("f64", {}, "F64", "tensor .*: given F64, expected F32 or BF16")]:
        path = folder / f"{name}.safetensors"
        kept = {key: tensor for key, tensor in (tensors | changed).items()
                if tensor}
        write_safetensors(path, kept, dtype)
        yield path, message


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["shards", "weights"])
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="a folder")
    arguments = parser.parse_args()
    folder = arguments.output
    folder.mkdir(parents=True)
    model = write_description(folder / "model.yaml", **MODEL)
    weights, shard = folder / "weights", folder / "shard"
    subprocess.run(["isobath", "init", model, "-o", weights], check=True)
    write_shard(shard, random_ids(20, 0, vocabulary=11))
    if arguments.kind == "shards":
        cases = [(weights, path, path, message)
                 for path, message in damaged_shards(folder)]
    else:
        cases = [(path, shard, path, message)
                 for path, message in damaged_weights(folder, weights)]
    try:
        for weights, shard, path, message in cases:
            expect_error(["isobath", "eval", model, "--weights", weights,
                          "--data", shard], f"{path}: {message}")
    except UnexpectedOutcome as outcome:
        sys.exit(f"error: {outcome}")
    print(f"{len(cases)} files refused")


if __name__ == "__main__":
    main()
