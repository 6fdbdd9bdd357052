#===- expect_error.py - A command fails as every command must -------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Runs a command that is to be refused and insists on what every command
# promises then: its status, nothing on standard output, one line on standard
# error that begins with `error: `, and what that line says.
#
#     expect_error.py [--status N] [--after-messages] REGEX -- COMMAND…
#
# --after-messages allows other lines before the error, as `train` prints them
# once it runs.
#
#===----------------------------------------------------------------------===//

import argparse
import re
import shlex
import subprocess
import sys


class UnexpectedOutcome(Exception):
    """A command that did not fail as it must."""


def expect_error(command, regex, status=1, after_messages=False):
    """Runs `command`; `regex` has to match the message from its start."""
    done = subprocess.run([str(word) for word in command], capture_output=True,
                          check=False)
    messages = done.stderr.decode(errors="replace")
    lines = messages.split("\n")
    errors = [line for line in lines if line.startswith("error: ")]

    def refuse(what):
        raise UnexpectedOutcome(
            f"{shlex.join(map(str, command))}\n{what}; exit status "
            f"{done.returncode}, standard output {done.stdout[:2000]!r}, "
            f"standard error:\n{messages[:4000]}")

    if done.returncode != status:
        refuse(f"expected exit status {status}")
    if done.stdout:
        refuse("expected nothing on standard output")
    # The last line ends with a line break: nothing follows it.
    if len(errors) != 1 or lines[-2:] != [errors[0], ""]:
        refuse("expected one error as the last line")
    if len(lines) != 2 and not after_messages:
        refuse("expected one line")
    if re.search(r"[\x00-\x1f\x7f]", errors[0]):
        refuse("expected printable characters only")
    message = errors[0].removeprefix("error: ")
    if not re.match(regex, message):
        refuse(f"expected a message that matches {regex!r}")
    return message


def main():
    words = sys.argv[1:]
    if "--" not in words:
        sys.exit("error: arguments: given no --, expected one before the "
                 "command")
    split = words.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--status", type=int, default=1)
    parser.add_argument("--after-messages", action="store_true")
    parser.add_argument("regex")
    arguments = parser.parse_args(words[:split])
    try:
        print(expect_error(words[split + 1:], arguments.regex,
                           arguments.status, arguments.after_messages))
    except UnexpectedOutcome as outcome:
        sys.exit(f"error: {outcome}")


if __name__ == "__main__":
    main()
