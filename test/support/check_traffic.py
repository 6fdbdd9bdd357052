#===- check_traffic.py - Bytes of explain against the kernels' text -------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Counts what `gradient` loads and stores from what `compile --emit=kernels`
# prints, and what waits in its arena from what `--emit=planned` prints, and
# insists that `explain` says the same. The text of kernels does
# not say which site a call belongs to; its operands do: a kernel that holds a
# route or an adjoint takes the route's queries, which are parameters with the
# site in their names. So a model must have learned queries everywhere, and no
# two equal ones. Kernels that only round what such a kernel makes, or add it to
# the gradient so far, are some site's too; the text does not say which.
#
# Usage: check_traffic.py MODEL [OPTION…]
#
#===----------------------------------------------------------------------===//

import re
import subprocess
import sys

from commands import run_json

SIZES = {"f32": 4, "bf16": 2, "f64": 8, "i32": 4}


def expect(condition, *message):
    if not condition:
        sys.exit("error: " + " ".join(map(str, message)))


#===----------------------------------------------------------------------===#
# Kernels
#===----------------------------------------------------------------------===#

class Kernel:
    def __init__(self, inputs, outputs, lines):
        """Arguments are pairs of a name and a type, `list<64xf32>`."""
        self.inputs, self.outputs, self.lines = inputs, outputs, lines


def parse_arguments(text):
    return re.findall(r"(%\w+): !row\.(\w+<[\w?]+>)", text)


def parse_kernels(text):
    kernels = {}
    for name, inputs, outputs, body in re.findall(
            r"^  row\.kernel private @([^(]*)\((.*?)\) -> \((.*?)\) {\n"
            r"(.*?)^  }",
            text, re.MULTILINE | re.DOTALL):
        kernels[name] = Kernel(parse_arguments(inputs),
                               parse_arguments(outputs), body.splitlines())
    return kernels


class Run:
    """One row of a call: every place that it touches, once."""

    def __init__(self, kernel, call):
        self.types = dict(kernel.inputs + kernel.outputs)
        self.outputs = {name for name, _ in kernel.outputs}
        self.groups = dict(zip(self.types, call.inputs + call.outputs))
        self.rows = call.rows
        self.known = {}
        self.places = set()  # (argument, …) of an element
        self.run(kernel.lines, 0, len(kernel.lines))

    def number(self, name):
        return self.known.get(name, name)

    def width(self, name):
        planes = re.search(r"<(?:(\d+)x)?\w+>", self.types[name]).group(1)
        (elements, _), = self.groups[name]
        return elements // (int(planes or 1) * self.rows)

    def run(self, lines, start, end):
        position = start
        while position < end:
            line = lines[position].strip()
            if " scf.for " in f" {line}":
                indent = re.match(" *", lines[position]).group(0)
                last = next(i for i in range(position + 1, end)
                            if lines[i] == indent + "}")
                loop = re.search(r"scf\.for (%\w+) = (%\w+) to (%\w+) step "
                                 r"(%\w+)", line).groups()
                bounds = [self.known[name] for name in loop[1:]]
                for index in range(*bounds):
                    self.known[loop[0]] = index
                    self.run(lines, position + 1, last)
                position = last
            else:
                self.step(line)
            position += 1

    def step(self, line):
        result, _, operation = line.rpartition(" = ") if "=" in line else (
            "", "", line)
        if match := re.match(r"arith\.constant (-?\d+) : index", operation):
            self.known[result] = int(match.group(1))
        elif match := re.match(r"row\.count (%\w+)", operation):
            self.known[result] = len(self.groups[match.group(1)])
        elif match := re.match(r"row\.width (%\w+)", operation):
            self.known[result] = self.width(match.group(1))
        elif match := re.match(r"arith\.(\w+) (%\w+), (%\w+) : index",
                               operation):
            self.compute(result, *match.groups())
        elif match := re.match(r"row\.load (%\w+)(?:\[(%\w+)\])?"
                               r"(?: columns\((%\w+)\))?.* -> vector<(\d+)x",
                               operation):
            self.touch_row(*match.groups())
        elif match := re.match(r"row\.store %[\w#]+, (%\w+)(?:\[(%\w+)\])?"
                               r"(?: columns\((%\w+)\))? : vector<(\d+)x",
                               operation):
            self.touch_row(*match.groups())
        elif match := re.match(r"row\.spread (%\w+)\[(%\w+)\] "
                               r"stride\((%\w+)\)(?: plane\((%\w+)\))? "
                               r"groups\((\d+)\)", operation):
            name, index, stride, plane, groups = match.groups()
            if name not in self.outputs:
                for part in range(int(groups)):
                    self.places.add((name, self.known[index]
                                     + part * self.known[stride],
                                     self.number(plane) if plane else 0, None))
        elif match := re.match(r"row\.(load_scalar|store_scalar %[\w#]+,) "
                               r"(%\w+)\[(%\w+)\](?: plane\((%\w+)\))?"
                               r"(?: row\((%\w+)\))?", operation):
            kind, name, index, plane, row = match.groups()
            if self.types[name].startswith("scalars") and (
                    kind != "load_scalar" or name not in self.outputs):
                self.places.add((name, self.number(index),
                                 self.number(plane) if plane else 0, row))

    def compute(self, result, name, left, right):
        self.known.pop(result, None)
        if left not in self.known or right not in self.known:
            return
        left, right = self.known[left], self.known[right]
        if name in ("divui", "remui"):
            self.known[result] = (left // right if name == "divui"
                                  else left % right)
        elif name in ("addi", "subi", "muli", "maxsi"):
            self.known[result] = {"addi": left + right, "subi": left - right,
                                  "muli": left * right,
                                  "maxsi": max(left, right)}[name]

    def touch_row(self, name, index, column, count):
        if self.types[name].startswith("vector"):
            return
        first = self.known[column] if column else 0
        for element in range(first, first + int(count)):
            self.places.add((name, self.number(index), element))

    def bytes(self, isOutput):
        """Bytes of the places that are written, or that are read."""
        return sum(SIZES[re.search(r"(\w+)>$", self.types[place[0]]).group(1)
                         .rpartition("x")[2]]
                   for place in self.places
                   if (place[0] in self.outputs) == isOutput)


#===----------------------------------------------------------------------===#
# Calls
#===----------------------------------------------------------------------===#

class Call:
    def __init__(self, kernel, operands, inputs, outputs, rows):
        """Groups of (elements, type), the operands' in the kernel's order."""
        self.kernel, self.operands, self.rows = kernel, operands, rows
        self.inputs, self.outputs = inputs, outputs


def split(text):
    """At the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(<") - (letter in "])>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parse_type(text):
    *sizes, element = re.fullmatch(r"tensor<(.*)>", text).group(1).split("x")
    elements = 1
    for size in sizes:
        elements *= int(size)
    return elements, element


def parse_groups(groups, types):
    """`groups` as the text has them, with the type of each value."""
    types = iter(types)
    return [[parse_type(next(types)) for _ in split(group.strip("[]"))]
            for group in groups]


def parse_call(line):
    match = re.match(r" *(?:(%\w+)\S* = )?row\.call @(\S+?)\((.*?)\) "
                     r"{.*?rows = (\d+) : i64.*?} : \((.*)\) -> \((.*)\)$",
                     line)
    if not match:
        return None
    result, kernel, operands, rows, inputs, outputs = match.groups()
    groups = split(operands)
    return result, Call(
        kernel, re.findall(r"%\w+", operands),
        parse_groups(groups, split(inputs)),
        [parse_groups([group.strip("[]")] if group[0] != "[" else [group],
                      split(group.strip("[]")))[0]
         for group in split(outputs)], int(rows))


def count(text):
    """Of each call the sites that it serves, whether it is in the backward
    pass, and the bytes that it reads and writes for a token."""
    kernels = parse_kernels(text)
    signature, *lines = find_gradient(text)
    tokens = parse_type(re.search(r"%arg0: (tensor<[^>]*>)",
                                  signature).group(1))[0]
    scale = find_argument(signature, "scale")
    # The sites whose queries a value is or is made of: of vectors alone, which
    # no activation is.
    sites = {name: {site} for name, site in re.findall(
        r'(%\w+): tensor<\d+xf32> {net\.parameter = #net\.parameter<name = '
        r'"(\S+?)\.route\.\S*?query"', signature)}
    made = set()  # what kernels with routes make
    counted, backward = [], False
    for line in lines:
        backward = backward or re.search(rf"{scale}\b", line) is not None
        parsed = parse_call(line)
        if not parsed:
            continue
        result, call = parsed
        served = set().union(*(sites.get(name, ()) for name in call.operands))
        if call.rows % tokens:
            sites[result] = served  # a gain's product
            continue
        isLoose = (re.fullmatch(r"(add|cast)(\.cast)?(_\d+)?", call.kernel)
                   and call.operands[-1] in made)
        if not served and not isLoose:
            continue
        made.add(result)
        row = Run(kernels[call.kernel], call)
        share = call.rows // tokens
        counted.append((served, backward, [share * row.bytes(False),
                                           share * row.bytes(True)]))
    return counted


#===----------------------------------------------------------------------===#
# Activations
#===----------------------------------------------------------------------===#

def find_gradient(text):
    """The lines of the entry, its signature first."""
    return re.search(r"^  func\.func @gradient\((.*?)\n  }", text,
                     re.MULTILINE | re.DOTALL).group(1).split("\n")


def find_argument(signature, name):
    return re.search(rf'(%\w+): \S+ {{net\.name = "{name}"}}',
                     signature).group(1)


def count_activations(text):
    """Bytes of the arena's buffers that are used before the loss's gradient is,
    and after."""
    signature, *lines = find_gradient(text)
    scale, arena = (find_argument(signature, name)
                    for name in ["scale", "arena"])
    owner, buffers = {}, {}  # of views; bytes and lines of use
    middle = None
    for number, line in enumerate(lines):
        values = re.findall(r"%\w+", line)
        if middle is None and scale in values:
            middle = number
        if match := re.search(r"(%\w+) = memref\.\w+ (%\w+)\b.* to "
                              r"memref<([^,>]*)", line):
            view, source, shape = match.groups()
            if source == arena:
                owner[view] = view
                elements, element = parse_type(f"tensor<{shape}>")
                buffers[view] = (elements * SIZES.get(element, 1), [])
            elif source in owner:
                owner[view] = owner[source]
            continue
        for value in values:
            if value in owner:
                buffers[owner[value]][1].append(number)
    return sum(size for size, uses in buffers.values()
               if uses and uses[0] < middle < uses[-1])


#===----------------------------------------------------------------------===#
# The comparison
#===----------------------------------------------------------------------===#

def emit(stage, model, options):
    command = ["isobath", "compile", model, f"--emit={stage}", "-o", "-",
               *options]
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


def select(counted, direction):
    return [(served, both) for served, backward, both in counted
            if backward == (direction == "backward")]


def main():
    model, *options = sys.argv[1:]
    report = run_json(["isobath", "explain", model, *options])
    counted = count(emit("kernels", model, options))
    expect(counted, "no call takes a query")
    keys = ["read_bytes", "written_bytes"]
    totals = {"forward": [0, 0], "backward": [0, 0]}
    for site in report["sites"]:
        for direction, total in totals.items():
            wanted, shared = [0, 0], 0
            for served, both in select(counted, direction):
                if site["name"] in served:
                    shared += len(served) > 1
                    wanted = [a + b / len(served) for a, b in zip(wanted, both)]
            loose = [sum(both[kind] for served, both in
                         select(counted, direction) if not served)
                     for kind in range(2)]
            given = [site[direction][key] for key in keys]
            # A call's bytes are divided into whole ones.
            expect(all(-shared <= a - b <= rest + shared
                       for a, b, rest in zip(given, wanted, loose)),
                   site["name"], direction, "given", given, "expected", wanted,
                   "and some of", loose)
            total[:] = [a + b for a, b in zip(total, given)]
        expect([site[key] for key in keys] ==
               [site["forward"][key] + site["backward"][key] for key in keys],
               site["name"], "is not the sum of its passes")
    for direction, sum_of_sites in totals.items():
        total = report["totals"][direction]
        given = [total[key] for key in keys]
        wanted = [sum(both[kind] for _, both in select(counted, direction))
                  for kind in range(2)]
        expect(given == wanted == sum_of_sites, direction, "given", given,
               "expected", wanted, "sum of sites", sum_of_sites)
        expect(all(total["minimum"][key] <= total[key] for key in keys),
               direction, "is below its minimum:", total)
    wanted = count_activations(emit("planned", model, options))
    expect(report["activation_bytes"] == wanted, "activations: given",
           report["activation_bytes"], "expected", wanted)
    step = run_json(["isobath", "bench", "step", model, "--steps", "1",
                     *options])
    expect(report["planned_bytes"] == step["planned_bytes"], "planned: given",
           report["planned_bytes"], "expected", step["planned_bytes"])
    print("forward", *totals["forward"], "backward", *totals["backward"],
          "activations", wanted)


if __name__ == "__main__":
    main()
