#===- write_shard.py - Token shards from the command line -----------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Writes the ids that are given, or so many random ones, as a token shard.
#
#     write_shard.py FILE [--wide] (--ids ID… | --random COUNT)
#
#===----------------------------------------------------------------------===//

import argparse

from small_models import random_ids
from tensor_files import write_shard


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--wide", action="store_true")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--ids", type=int, nargs="*")
    given.add_argument("--random", type=int, metavar="COUNT")
    arguments = parser.parse_args()
    ids = arguments.ids
    if ids is None:
        ids = random_ids(arguments.random, arguments.random)
    write_shard(arguments.file, ids, arguments.wide)


if __name__ == "__main__":
    main()
