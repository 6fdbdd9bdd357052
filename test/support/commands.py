#===- commands.py - Running isobath from a test --------------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# One function that runs a command and insists on what every command promises:
# status 0 and, with --json, one object on standard output.
#
#===----------------------------------------------------------------------===//

import json
import shlex
import subprocess


class CommandError(Exception):
    """A command that did not do what every command promises."""


def run_json(command):
    """Runs `command` with --json and returns the object it prints."""
    command = [str(word) for word in command] + ["--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    shown = shlex.join(command)
    if done.returncode != 0:
        raise CommandError(f"{shown}\nexit status {done.returncode}, expected "
                           f"0; standard error:\n{done.stderr}")
    try:
        result = json.loads(done.stdout)
    except json.JSONDecodeError as problem:
        raise CommandError(f"{shown}\nstandard output is not one JSON object "
                           f"({problem}):\n{done.stdout}") from problem
    if not isinstance(result, dict):
        raise CommandError(f"{shown}\nprinted {result!r}, expected an object")
    return result
