#===- small_models.py - Small descriptions and data for tests -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Texts of model descriptions that compile in a fraction of a second, and token
# shards to go with them.
#
#===----------------------------------------------------------------------===//

import argparse
import random
from pathlib import Path

from tensor_files import write_shard

VOCABULARY = 37

MODEL = {
    "vocabulary": VOCABULARY,
    "width": 8,
    "layers": 1,
    "heads": 2,
    "hidden": 8,
    "context": 6,
    "residual": "{kind: block, block: 2, routes: {qk: learned, v: learned}}",
}

SETTINGS = {"batch": 2, "steps": 20, "warmup": 3, "checkpoint_every": 5,
            "eval_every": 4}


def write_description(path, train=None, **model):
    """Writes MODEL with the keys of `model` replaced or added, and a section
    `train` if there are settings for it."""
    sections = {"model": MODEL | model}
    if train:
        sections["train"] = train
    lines = []
    for name, section in sections.items():
        lines.append(f"{name}:")
        lines += [f"  {key}: {value}" for key, value in section.items()]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Path(path)


def random_ids(count, seed, vocabulary=VOCABULARY):
    chooser = random.Random(f"ids {seed}")
    return [chooser.randrange(vocabulary) for _ in range(count)]


def write_data(folder, train=(60, 40), valid=(33,), vocabulary=VOCABULARY):
    """A folder with shards of so many random ids each."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for split, counts in [("train", train), ("valid", valid)]:
        for number, count in enumerate(counts):
            write_shard(folder / f"{split}_{number:06}.bin",
                        random_ids(count, f"{split} {number}", vocabulary))
    return folder


def main():
    parser = argparse.ArgumentParser(
        description="Writes model.yaml and data/ into a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", type=int, nargs="*", default=[60, 40],
                        help="ids of each training shard")
    parser.add_argument("--valid", type=int, nargs="*", default=[33],
                        help="ids of each validation shard")
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY)
    arguments = parser.parse_args()
    write_data(arguments.folder / "data", arguments.train, arguments.valid,
               arguments.vocabulary)
    write_description(arguments.folder / "model.yaml", SETTINGS,
                      vocabulary=arguments.vocabulary)


if __name__ == "__main__":
    main()
