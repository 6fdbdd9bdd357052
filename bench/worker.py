#===- worker.py - What the peers' programs have in common ----------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# A peer is a program of its own, so that frameworks share neither threads nor
# memory, and one that crashes takes nothing with it:
#
#     PEER MODEL [--compile] [--precision P] [--threads N] [--steps N]
#     PEER --gradients FOLDER… [--compile] [--precision P…] [--threads N]
#
# The first prints how long steps take. The second reads model.yaml,
# weights.safetensors and ids.npy [B * T + 1] of each folder, writes gradients
# to P.safetensors there, and prints losses. Both print one JSON object.
#
#===----------------------------------------------------------------------===//

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from description import batch, initial_values, pack, read_model, unpack


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("model", nargs="?", metavar="MODEL",
                        help="a description (.yaml), to be timed")
    parser.add_argument("--gradients", nargs="+", metavar="FOLDER",
                        help="write gradients for the model of each folder")
    parser.add_argument("--precision", nargs="+", default=["f32"],
                        choices=["f32", "bf16", "f64"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--compile", action="store_true",
                        help="compile the model; JAX always does")
    options = parser.parse_args()
    if (options.model is None) == (options.gradients is None):
        parser.error("expected either MODEL or --gradients")
    return options


def resident_bytes():
    """The most memory that this process has had resident."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def time_steps(step, count):
    """Milliseconds of the first step, and of `count` more after another."""
    times = []
    for _ in range(count + 2):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1000)
    return times[0], times[2:]


def write_gradients(peer, options, folder):
    """The loss in each precision of the model in `folder`."""
    model = read_model(folder / "model.yaml")
    values = pack(model, load_file(folder / "weights.safetensors"))
    ids = np.load(folder / "ids.npy")
    shape = [-1, model.context]
    data = ids[:-1].reshape(shape), ids[1:].reshape(shape)
    losses = {}
    for precision in options.precision:
        trained = peer(model, precision, options, values)
        losses[precision], gradients = trained.gradients(*data)
        save_file({name: np.ascontiguousarray(tensor)
                   for name, tensor in unpack(model, gradients).items()},
                  folder / f"{precision}.safetensors")
    return losses


def run(peer, version, options):
    """Does what `options` ask for. `peer(model, precision, options, values)` is
    an object that can:

    `step(tokens, targets)` trains, and returns when it has;
    `gradients(tokens, targets)` returns a loss and the parameters' gradients.
    """
    if options.gradients:
        print(json.dumps({folder: write_gradients(peer, options, Path(folder))
                          for folder in options.gradients}))
        return
    model = read_model(options.model)
    trained = peer(model, options.precision[0], options, initial_values(model))
    data = batch(model)
    first, times = time_steps(lambda: trained.step(*data), options.steps)
    print(json.dumps({"step_ms": statistics.median(times), "times_ms": times,
                      "first_step_ms": first, "version": version,
                      "resident_bytes": resident_bytes(),
                      "threads": options.threads}))
