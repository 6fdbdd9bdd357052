#===- check_ptx.py - What is in the PTX of a model's kernels -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Compiles a model for a GPU and insists that
#
#   - there is a kernel for every row kernel, and the row kernels are those of
#     the CPU to the letter;
#   - the PTX says the version and architecture that were asked for, calls
#     nothing, keeps nothing in local memory, adds nothing by atomic operations,
#     and computes in f64 only where the row kernel does;
#   - with --assemble, ptxas takes it and spills nothing. Registers are reported.
#
# Usage: check_ptx.py [--assemble] MODEL ARCHITECTURE [OPTION…]
#
#===----------------------------------------------------------------------===//

import os
import re
import shutil
import subprocess
import sys
import tempfile

LOWEST_PTX = {"sm_80": "7.0", "sm_90": "7.8", "sm_100": "8.6", "sm_120": "8.7"}
FORBIDDEN = re.compile(r"\.extern \.func|\bcall|\.local\b|\batom\.|\bred\.")


def expect(condition, *message):
    if not condition:
        sys.exit("error: " + " ".join(map(str, message)))


def emit(model, stage, target, options):
    return subprocess.run(
        ["isobath", "compile", model, f"--emit={stage}", f"--target={target}",
         *options, "-o", "-"], check=True, capture_output=True, text=True).stdout


def split(text, begin, end):
    """Pieces of text from a line that matches `begin` to one that is `end`."""
    pieces, current = {}, None
    for line in text.splitlines():
        found = re.search(begin, line)
        if found:
            current = pieces.setdefault(found[1], [])
        if current is not None:
            current.append(line)
        if line == end:
            current = None
    return {name: "\n".join(lines) for name, lines in pieces.items()}


def check_text(ptx, rows, architecture):
    expect(f".version {LOWEST_PTX[architecture]}\n" in ptx, "no version",
           LOWEST_PTX[architecture])
    expect(f".target {architecture}\n" in ptx, "no target", architecture)
    entries = split(ptx, r"\.entry ([\w$]+)\(", "}")
    missing = {name.replace(".", "$") for name in rows} - entries.keys()
    expect(rows and not missing, "no kernels", sorted(missing))
    found = FORBIDDEN.search(ptx)
    expect(not found, "given", found and found[0])
    f64 = {name.replace(".", "$") for name, text in rows.items()
           if "f64" in text}
    for name, text in entries.items():
        allowed = name in f64 or name.startswith("isobath$sum") and "f64" in name
        expect(allowed or ".f64" not in text, name, "computes in f64")
    return entries


def assemble(ptx, architecture):
    home = os.environ.get("CUDA_HOME")
    ptxas = (os.path.join(home, "bin", "ptxas") if home
             else shutil.which("ptxas"))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernels.ptx")
        with open(path, "w") as file:
            file.write(ptx)
        report = subprocess.run(
            [ptxas, "-v", f"-arch={architecture}", path, "-o",
             os.path.join(folder, "kernels.cubin")],
            check=True, capture_output=True, text=True).stderr
    found = re.findall(
        r"Compiling entry function '([^']+)'.*?(\d+) bytes stack frame, "
        r"(\d+) bytes spill stores.*?Used (\d+) registers", report, re.DOTALL)
    registers = {}
    for name, stack, spilled, used in found:
        expect(stack == "0" and spilled == "0", name, "spills", spilled,
               "bytes")
        registers[name] = int(used)
    return registers


def main():
    arguments = sys.argv[1:]
    wants_assembly = "--assemble" in arguments
    if wants_assembly:
        arguments.remove("--assemble")
    model, architecture, *options = arguments
    target = f"nvptx:{architecture}"
    kernels = emit(model, "kernels", target, options)
    expect(kernels == emit(model, "kernels", "cpu", options),
           "the row kernels differ from the CPU's")
    rows = split(kernels, r"row\.kernel private @([\w.]+)\(", "  }")
    ptx = emit(model, "ptx", target, options)
    entries = check_text(ptx, rows, architecture)
    if not wants_assembly:
        print(len(entries), "kernels")
        return
    registers = assemble(ptx, architecture)
    expect(registers.keys() == entries.keys(), "ptxas assembled others")
    for name, used in sorted(registers.items(), key=lambda item: -item[1]):
        print(f"{used:4} registers {name}")


main()
