#===- run_readme_commands.py - The README says only what works -----------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Runs every ```bash block of a page, as one script, in a folder that looks
# like the repository after its first command, but with little text and an
# untrained model. A ```yaml block whose first line is a comment `# FILE` is
# written to FILE first. Commands below scripts/ are left out: they have tests of
# their own. Links to files must lead somewhere.
#
#     run_readme_commands.py PAGE FOLDER
#
#===----------------------------------------------------------------------===//

import pathlib
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


def run(command, folder):
    print("$", command, flush=True)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", command],
                          cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(f"error: exit status {done.returncode}, expected 0")


def imitate_first_command(repository, folder):
    """What scripts/quickstart leaves behind, made in a second."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs" / "rd").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "examples").symlink_to(repository / "examples")
    shutil.copy(repository / "LICENSE", folder / "data" / "text.txt")
    run("isobath prepare data/text.txt -o data/novels", folder)
    run("isobath init examples/rd.yaml -o runs/rd/final.safetensors", folder)


def write_files(text, folder):
    for language, block in FENCE.findall(text):
        named = re.match(r"# (\S+\.yaml)\n", block)
        if language == "yaml" and named:
            (folder / named[1]).write_text(block, encoding="utf-8")


def read_commands(text):
    """The lines of all bash blocks, lines that go on joined."""
    blocks = [block for language, block in FENCE.findall(text)
              if language == "bash"]
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line and not line.startswith("scripts/")]


def check_links(text, readme):
    for target in LINK.findall(text):
        if "://" not in target and not (readme.parent / target).exists():
            sys.exit(f"error: {readme.name}: a link to {target}, expected a "
                     "file or folder that exists")


def main():
    readme, folder = (pathlib.Path(name).absolute() for name in sys.argv[1:])
    text = readme.read_text(encoding="utf-8")
    check_links(text, readme)
    repository = next(parent for parent in readme.parents
                      if (parent / "examples").is_dir())
    imitate_first_command(repository, folder)
    write_files(text, folder)
    commands = read_commands(text)
    if not commands:
        sys.exit(f"error: {readme}: no commands, expected some")
    run("\n".join(commands), folder)


if __name__ == "__main__":
    main()
