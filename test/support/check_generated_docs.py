#===- check_generated_docs.py - Is docs/dialects up to date? -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# The pages of docs/dialects/ are what mlir-tblgen makes of the op definitions.
# They are kept in the repository to be read there; this script fails unless
# they are what it makes today. With --update it writes them.
#
#     check_generated_docs.py [--update] REPOSITORY
#
# mlir-tblgen and llvm-config must be in PATH.
#
#===----------------------------------------------------------------------===//

import argparse
import difflib
import pathlib
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def generate(repository, name):
    include = repository / "include"
    return run("mlir-tblgen", "-gen-dialect-doc", f"-dialect={name.lower()}",
               "-I", str(include), "-I", run("llvm-config", "--includedir").strip(),
               str(include / "isobath" / "Dialect" / name / f"{name}Ops.td"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("repository", type=pathlib.Path)
    arguments = parser.parse_args()
    dialects = sorted(path.name.removesuffix("Ops.td") for path in
                      (arguments.repository / "include" / "isobath" /
                       "Dialect").glob("*/*Ops.td")
                      if path.name == f"{path.parent.name}Ops.td")
    stale = 0
    for name in dialects:
        page = arguments.repository / "docs" / "dialects" / f"{name}.md"
        expected = generate(arguments.repository, name)
        found = page.read_text(encoding="utf-8") if page.exists() else ""
        if expected == found:
            continue
        if arguments.update:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(expected, encoding="utf-8")
            continue
        stale += 1
        print(f"error: docs/dialects/{name}.md is not what mlir-tblgen makes "
              "of the op definitions; write it with "
              "test/support/check_generated_docs.py --update .",
              file=sys.stderr)
        sys.stderr.writelines(difflib.unified_diff(
            found.splitlines(True), expected.splitlines(True), "found",
            "expected", n=1))
    print(f"{', '.join(dialects)}: {stale} stale")
    return 1 if stale or not dialects else 0


if __name__ == "__main__":
    sys.exit(main())
