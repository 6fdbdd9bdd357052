#===- check_doc_examples.py - Documented examples are tested -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Every operation documents one example. This script checks that each has one
# and that the text of every example occurs, spaces and line breaks aside, in
# one of the given tests, which parse it. It parses no MLIR itself.
#
#     check_doc_examples.py TD-FOLDER TEST…
#
#===----------------------------------------------------------------------===//

import pathlib
import re
import sys

# def Net_AddOp : Net_DifferentiableOp<"add"> {
OPERATION = re.compile(r'^def (\w+Op)\s*:[^{]*?<\s*(?:\w+_Dialect,\s*)?"(\w+)"',
                       re.MULTILINE)
EXAMPLE = re.compile(r"```mlir\n(.*?)```", re.DOTALL)


def normalise(text):
    return " ".join(text.split())


def read_definitions(folder):
    """All records of a folder: (name, text up to the next record)."""
    for path in sorted(folder.rglob("*.td")):
        text = path.read_text(encoding="utf-8")
        starts = [m.start() for m in re.finditer(r"^(def|class) ", text,
                                                 re.MULTILINE)]
        for start, end in zip(starts, starts[1:] + [len(text)]):
            yield path.name, text[start:end]


def main():
    folder = pathlib.Path(sys.argv[1])
    tests = normalise("\n".join(
        pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[2:]))
    operations, examples, errors = 0, 0, []
    for file, definition in read_definitions(folder):
        found = EXAMPLE.findall(definition)
        operation = OPERATION.match(definition)
        if operation:
            operations += 1
            if not found:
                errors.append(f"{file}: '{operation.group(2)}' has no example")
        for example in found:
            examples += 1
            if normalise(example) not in tests:
                errors.append(f"{file}: in no test: {normalise(example)}")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    print(f"{operations} operations, {examples} examples")
    return 1 if errors or not operations else 0


if __name__ == "__main__":
    sys.exit(main())
