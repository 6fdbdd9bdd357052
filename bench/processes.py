#===- processes.py - Programs side by side under equal conditions --------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Which frameworks there are, how their programs are started, and what became of
# them. It knows nothing of models.
#
#===----------------------------------------------------------------------===//

import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent

# Name -> (module it needs, its program, options of that).
FRAMEWORKS = {
    "pytorch": ("torch", "pytorch_peer.py", []),
    "pytorch-compile": ("torch", "pytorch_peer.py", ["--compile"]),
    "jax": ("jax", "jax_peer.py", []),
}

# Without these, glibc gives large tensors back to the system as soon as they
# are free, and every step pays for fresh pages.
ALLOCATOR = "glibc.malloc." + ":glibc.malloc.".join([
    "mmap_max=0", f"trim_threshold={2 ** 62}", "hugetlb=1"])


class Failure(Exception):
    """A program that did not print its result, in one line."""


def missing(framework):
    """The package that `framework` lacks here, or None."""
    module = FRAMEWORKS[framework][0]
    return None if importlib.util.find_spec(module) else module


def processors(count):
    """`count` of the processors that this process may use, on as many cores."""
    chosen, siblings, cores = [], [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            core = (topology / "thread_siblings_list").read_text("ascii")
        except OSError:
            core = str(cpu)
        (siblings if core in cores else chosen).append(cpu)
        cores.add(core)
    return set((chosen + siblings)[:count])


def result_of(command, threads, limit, environment=None):
    """Runs `command` on `threads` processors; the object that it prints."""
    allowed = processors(threads)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                   **(environment or {})}
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=limit,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    except FileNotFoundError as problem:
        raise Failure(f"{words[0]}: no such program") from problem
    except subprocess.TimeoutExpired as problem:
        raise Failure(f"stopped after {limit} s") from problem
    if done.returncode < 0:
        raise Failure(f"ended by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [shlex.join(words)]
        raise Failure(f"exit status {done.returncode}: {lines[-1]}")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as problem:
        raise Failure(f"printed {done.stdout[:80]!r}, expected one JSON object"
                      ) from problem


def run_isobath(tool, words, threads, limit):
    command = [tool, *words, "--threads", threads, "--json"]
    return result_of(command, threads, limit)


def run_peer(framework, words, threads, limit):
    _, program, options = FRAMEWORKS[framework]
    command = [sys.executable, BENCH / program, *words, *options, "--threads",
               threads]
    environment = {"JAX_PLATFORMS": "cpu"}
    if not {"LD_PRELOAD", "GLIBC_TUNABLES"} & os.environ.keys():
        environment["GLIBC_TUNABLES"] = ALLOCATOR
    return result_of(command, threads, limit, environment)
