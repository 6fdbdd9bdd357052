#===- read_rdata.py - Text out of a package of R -------------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Writes the novels in the data of R's package janeaustenr as text files, five
# to train on and one to validate with. Reads the one kind of object that is in
# there, a vector of strings, and refuses anything else; it is not a reader of
# R's format in general.
#
#     read_rdata.py Rdata.rdb DIR
#
#===----------------------------------------------------------------------===//

import pathlib
import struct
import sys
import zlib

# The first line of each novel, and the file that it goes to.
NOVELS = {
    "EMMA": "train/emma.txt",
    "MANSFIELD PARK": "train/mansfield-park.txt",
    "NORTHANGER ABBEY": "train/northanger-abbey.txt",
    "PRIDE AND PREJUDICE": "train/pride-and-prejudice.txt",
    "SENSE AND SENSIBILITY": "train/sense-and-sensibility.txt",
    "Persuasion": "valid/persuasion.txt",
}

# The shortest is Northanger Abbey: 7,800 lines of 430,000 bytes.
FEWEST_LINES, FEWEST_BYTES = 5_000, 300_000

STRING_VECTOR, STRING = 16, 9  # R's type codes, in the low byte of the flags


class FormatError(Exception):
    """The data is not what this script reads."""


class Reader:
    """Takes big-endian values off the front of `data`."""

    def __init__(self, data):
        self.data = data
        self.offset = 0

    def take(self, count):
        if count < 0 or count > len(self.data) - self.offset:
            raise FormatError(f"offset {self.offset}: {count} bytes expected, "
                              f"{len(self.data) - self.offset} left")
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def word(self):
        return struct.unpack(">I", self.take(4))[0]


def inflated(data):
    """Yields what each stream of `data` holds: [size before compression]
    [zlib stream], one after the other."""
    while data:
        if len(data) < 4:
            raise FormatError(f"{len(data)} bytes left after the last stream")
        inflater = zlib.decompressobj()
        try:
            content = inflater.decompress(data[4:])
        except zlib.error as problem:
            raise FormatError(f"not a zlib stream: {problem}") from problem
        size = struct.unpack(">I", data[:4])[0]
        if not inflater.eof or len(content) != size:
            raise FormatError(f"a stream holds {len(content)} bytes, "
                              f"{size} expected")
        yield content
        data = inflater.unused_data


def read_lines(content):
    """The strings of a serialised vector of strings."""
    reader = Reader(content)
    reader.take(14)            # format and the versions of R that wrote it
    reader.take(reader.word())  # the encoding's name
    kind = reader.word() & 0xFF
    if kind != STRING_VECTOR:
        raise FormatError(f"an object of type {kind}, "
                          f"{STRING_VECTOR} (strings) expected")
    lines = []
    for _ in range(reader.word()):
        kind = reader.word() & 0xFF
        if kind != STRING:
            raise FormatError(f"line {len(lines) + 1} has type {kind}, "
                              f"{STRING} expected")
        length = reader.word()
        missing = length == 0xFFFFFFFF  # −1: R's missing value
        lines.append("" if missing else reader.take(length).decode())
    return lines


def write_novels(source, target):
    """Writes every novel in the file `source` below the folder `target`."""
    found = set()
    for content in inflated(source.read_bytes()):
        lines = read_lines(content)
        title = next((line for line in lines if line.strip()), "")
        if title not in NOVELS:
            raise FormatError(f"a text begins with {title!r}, expected one of "
                              + ", ".join(NOVELS))
        text = "\n".join(lines).encode() + b"\n"
        if len(lines) < FEWEST_LINES or len(text) < FEWEST_BYTES:
            raise FormatError(f"{title}: {len(lines)} lines of {len(text)} "
                              f"bytes, at least {FEWEST_LINES} of "
                              f"{FEWEST_BYTES} expected")
        path = target / NOVELS[title]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        print(f"{path}: {len(lines)} lines, {len(text)} bytes")
        found.add(title)
    if found != set(NOVELS):
        raise FormatError("missing: " + ", ".join(sorted(set(NOVELS) - found)))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: read_rdata.py Rdata.rdb DIR")
    source, target = map(pathlib.Path, sys.argv[1:])
    try:
        write_novels(source, target)
    except (FormatError, OSError, UnicodeDecodeError) as problem:
        sys.exit(f"error: {source}: {problem}")


if __name__ == "__main__":
    main()
