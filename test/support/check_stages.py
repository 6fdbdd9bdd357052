#===- check_stages.py - Models at the compiler's stages -------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# A model as a module is the model: every command takes it, and gives the same
# bits as for the description it came from. And what is said of compiled code:
# which kernels compute in f64, how many there are, and what is planned. And
# that a model whose queries are one value is the parent.
#
#===----------------------------------------------------------------------===//

import re
import subprocess

from commands import run_json
from small_models import random_ids, write_data, write_description
from tensor_files import write_shard
from training_runs import expect, expect_same, run_checks

ROUTED = ("{kind: block, block: 2, key_gain: true, query_init: normal, "
          "routes: {qk: learned, v: learned}}")


def compile_to(stage, model, output, *options):
    command = ["isobath", "compile", model, f"--emit={stage}", "-o", output,
               *options]
    done = subprocess.run(list(map(str, command)), capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0, command, done.stderr)
    return done.stdout


#===----------------------------------------------------------------------===#
# Checks
#===----------------------------------------------------------------------===#

def check_module(folder):
    """The emitted model gives each command's results, bit for bit."""
    description = write_description(
        folder / "model.yaml", {"batch": 2, "steps": 3, "warmup": 1},
        residual=ROUTED, controls="{extra_vector: true}", qk_norm="true")
    module = folder / "module.mlir"
    # As text on standard output, the same as in a file.
    text = compile_to("model", description, "-")
    compile_to("model", description, module)
    expect(module.read_text() == text, "-o - differs from a file")
    # Emitted once more, it is itself.
    expect(compile_to("model", module, "-") == text, "a second emission")

    data = write_data(folder / "data")
    shard = folder / "shard.bin"
    write_shard(shard, random_ids(40, 0))
    results = {}
    for model in [description, module]:
        weights = folder / f"{model.name}.weights"
        gradients = folder / f"{model.name}.gradients"
        common = [model, "--weights", weights, "--data", shard]
        run = folder / f"{model.name}.run"
        found = results[model] = {
            "check": run_json(["isobath", "check", model]),
            "init": run_json(["isobath", "init", model, "-o", weights]),
            "weights": weights.read_bytes(),
            # Neither the batch nor the type is the one in the text.
            "grad": run_json(["isobath", "grad", *common, "--batch", "5", "-o",
                              gradients]),
            "gradients": gradients.read_bytes(),
            "grad f64": run_json(["isobath", "grad", *common, "--batch", "1",
                                  "-o", gradients, "--precision", "f64"]),
            "gradients f64": gradients.read_bytes(),
            "eval": run_json(["isobath", "eval", *common]),
            "routes": run_json(["isobath", "routes", *common]),
            "train": run_json(["isobath", "train", model, "--data", data, "-o",
                               run]),
        }
        del found["train"]["tokens_per_second"]
        found["check"].pop("name")
        (run / f"model{model.suffix}").unlink()
    for key, value in results[description].items():
        expect(results[module][key] == value, "the module's", key, "is",
               results[module][key], "expected", value)
    expect_same(folder / "model.yaml.run", folder / "module.mlir.run")


def kernels(code):
    """The functions of LLVM IR that compute, by name: all but the entries, and
    those that only call the library."""
    functions = dict(re.findall(r"^define [^@]*@([^(]*)\((.*?)^}", code,
                                re.MULTILINE | re.DOTALL))
    return {name: body for name, body in functions.items()
            if not name.startswith(("isobath_entry", '"cpu.', "cpu."))}


def check_code(folder):
    """An f32 model's kernels do not compute in f64, with the two exceptions
    that are documented: the squared norm and the angles of rotary."""
    model = write_description(folder / "model.yaml", {"accumulate": 2},
                              residual=ROUTED, qk_norm="true")
    for device, exceptions in [
            ("reference", {"reference.net.squared_norm",
                           "reference.net.rotary"}),
            ("cpu", {"squared_norm", "sum_of_chunks"})]:
        compile_to("llvm", model, folder / "model.ll", "--device", device)
        found = kernels((folder / "model.ll").read_text())
        expect(len(found) > 20, "only", len(found), "kernels")
        wide = {re.sub(r"[._]\d+$", "", name) for name, body in found.items()
                if re.search(r"\bdouble\b", body)}
        expect(wide == exceptions, device, "kernels in f64:", *sorted(wide))


def check_depth(folder):
    """What depth costs: no more kernels in a plain transformer, and planned
    bytes that grow by the same amount with every block."""
    data = write_data(folder / "data", train=(20,), valid=())
    count, planned = {}, {}
    for layers in [2, 4, 6]:
        plain = write_description(folder / "plain.yaml", layers=layers,
                                  residual="{kind: standard}")
        compile_to("llvm", plain, folder / "plain.ll")
        count[layers] = len(kernels((folder / "plain.ll").read_text()))
        routed = write_description(
            folder / "routed.yaml", {"steps": 1, "warmup": 0, "batch": 1},
            layers=layers, residual=ROUTED, hidden=16)
        planned[layers] = run_json(
            ["isobath", "train", routed, "--data", data, "-o",
             folder / f"run-{layers}"])["planned_bytes"]
    expect(count[2] == count[4] == count[6], "kernels by layers:", count)
    first, second = planned[4] - planned[2], planned[6] - planned[4]
    # Saved weights, logits and rstd are a number per token and source, beside
    # vectors of 8 and 16: they make up the rest.
    expect(first <= second <= 1.1 * first, "planned bytes by layers:", planned)


def check_growth(folder):
    """With every schedule, a deeper model has the same kernels and more of the
    same activations, whatever its residual."""
    block = "{{kind: block, block: 4, routes: {{{}}}}}"
    residuals = {"standard": "{kind: standard}",
                 "block": block.format("qkv: learned"),
                 "role-decoupled": block.format("qk: learned, v: learned")}
    schedules = ["forward=each,backward=each",
                 "forward=batched,backward=batched"]
    for name, residual in residuals.items():
        for schedule in schedules[:1 if name == "standard" else 2]:
            kernels, held = [], []
            for layers in [4, 8, 12]:
                model = write_description(folder / "model.yaml", layers=layers,
                                          residual=residual, hidden=16)
                report = run_json(["isobath", "explain", model, "--schedule",
                                   schedule])
                kernels.append(report["kernels"])
                held.append(report["activation_bytes"])
            expect(kernels[0] == kernels[1] == kernels[2], name, schedule,
                   "kernels by layers:", kernels)
            first, second = held[1] - held[0], held[2] - held[1]
            # Saved numbers of routes are one more a source, as above.
            expect(first <= second <= 1.15 * first, name, schedule,
                   "activation bytes by layers:", held)


def tie(text, layers, groups):
    """A module in which all groups of an attention use the first one's query,
    which has the name of the parent's."""
    def argument(layer, group):
        name = f"layers.{layer}.attn.route.{group}.query"
        return re.search(r"(%arg\d+): tensor<\w+> {net.parameter = "
                         rf'#net.parameter<name = "{name}"[^}}]*}}, ', text)

    for layer in range(layers):
        first = argument(layer, groups[0]).group(1)
        for group in groups[1:]:
            other = argument(layer, group)
            text = text.replace(other.group(0), "")
            text = re.sub(rf"{other.group(1)}\b", first, text)
    return text.replace(f"route.{groups[0]}.query", "route.qkv.query")


def check_tied(folder):
    """A model whose queries are tied in the module is its parent: the entries
    and the kernels that they become, to the last letter."""
    layers = 3
    residual = "{{kind: block, block: 3, key_gain: true, routes: {{{}}}}}"
    passes = ["--isobath-step=entries=logits,loss,gradient",
              "--isobath-routing=forward=batched backward=batched",
              "--isobath-kernels"]

    def lower(name, *groups):
        routes = ", ".join(f"{group}: learned" for group in groups)
        model = write_description(folder / "model.yaml", layers=layers,
                                  residual=residual.format(routes))
        module = folder / f"{name}.mlir"
        module.write_text(tie(compile_to("model", model, "-"), layers, groups))
        stages = []
        for number, option in enumerate(passes):
            lowered = folder / f"{name}.{number}.mlir"
            subprocess.run(["isobath-opt", module, option, "-o", lowered],
                           check=True)
            stages.append(lowered.read_text())
            module = lowered
        return stages

    parent = lower("parent", "qkv")
    expect("depth.partial" in parent[1], "nothing was batched")
    for groups in [["qk", "v"], ["q", "k", "v"]]:
        for option, tied, wanted in zip(passes, lower("tied", *groups), parent):
            expect(tied == wanted, *groups, "differs after", option)


if __name__ == "__main__":
    run_checks([check_module, check_code, check_depth, check_growth, check_tied])
