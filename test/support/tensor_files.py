#===- tensor_files.py - Weights files and token shards, in plain Python --===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Reads and writes safetensors files of F32, F64 and BF16, and writes token
# shards, with the standard library only: tests need nothing installed. It
# trusts its files; the loaders under test are the ones that must not.
#
#===----------------------------------------------------------------------===//

import json
import math
import struct
import sys
from array import array
from dataclasses import dataclass

SIZES = {"F64": 8, "F32": 4, "BF16": 2}


@dataclass
class Tensor:
    shape: list
    values: array  # of doubles, row-major


def _little_endian(numbers):
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _decode(data, dtype):
    """The doubles that `data` holds; exact, since every type fits in one."""
    if dtype == "BF16":
        halves = _little_endian(array("H", data))
        data = array("I", (h << 16 for h in halves)).tobytes()
        return array("d", array("f", data))
    letter = {"F64": "d", "F32": "f"}[dtype]
    return array("d", _little_endian(array(letter, data)))


def _encode(values, dtype):
    """The bytes of `values`, rounded to the nearest, ties to even."""
    if dtype == "F64":
        return _little_endian(array("d", values)).tobytes()
    singles = array("f", values)
    if dtype == "F32":
        return _little_endian(singles).tobytes()
    words = array("I", singles.tobytes())
    halves = array("H", ((w + 0x7FFF + ((w >> 16) & 1)) >> 16 for w in words))
    return _little_endian(halves).tobytes()


def read_safetensors(path):
    """Every tensor of the file, by name."""
    with open(path, "rb") as file:
        (header_size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(header_size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = _decode(data[begin:end], entry["dtype"])
        if len(values) != math.prod(entry["shape"]):
            raise ValueError(f"{path}: {name}: shape {entry['shape']} does not "
                             f"match {len(values)} values")
        tensors[name] = Tensor(entry["shape"], values)
    return tensors


def write_safetensors(path, tensors, dtype):
    """Writes all `tensors` as `dtype`, in the order of the dictionary."""
    header, offset = {}, 0
    for name, tensor in tensors.items():
        end = offset + len(tensor.values) * SIZES[dtype]
        header[name] = {"dtype": dtype, "shape": tensor.shape,
                        "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(_encode(tensor.values, dtype))


def write_shard(path, ids, wide=False):
    """Writes a token shard: 16-bit ids, or 32-bit ones if `wide`."""
    magic, version, letter = (20240801, 7, "I") if wide else (20240520, 1, "H")
    with open(path, "wb") as file:
        file.write(struct.pack("<256i", magic, version, len(ids), *[0] * 253))
        file.write(struct.pack(f"<{len(ids)}{letter}", *ids))
