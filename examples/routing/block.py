#===- block.py - The routes of one block, as a module --------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Prints the routing of a block of `--sublayers`: each reads the same closed
# sources and the partial sum so far, normalises its mix, and adds something to
# the partial. What a sublayer would compute is an input here, so that nothing
# but routing takes time.
#
#     python3 block.py --sources 8 --sublayers 4 >block.mlir
#     isobath bench block.mlir --schedule forward=batched
#
#===----------------------------------------------------------------------===//

import argparse

parser = argparse.ArgumentParser(description="The routes of one block.")
parser.add_argument("--sources", type=int, default=8, help="closed ones")
parser.add_argument("--sublayers", type=int, default=4)
parser.add_argument("--tokens", type=int, default=2048)
parser.add_argument("--width", type=int, default=512)
options = parser.parse_args()

row = f"tensor<1x{options.tokens}x{options.width}xf32>"
vector = f"tensor<{options.width}xf32>"
sources = [f"%s{i}" for i in range(options.sources)]
outputs = [f"%y{i}" for i in range(options.sublayers)]
queries = [f"%w{i}" for i in range(options.sublayers)]
gains = [f"%g{i}" for i in range(options.sublayers)]

rows = ", ".join(f"{name}: {row}" for name in sources + outputs)
vectors = ", ".join(f"{name}: {vector}" for name in queries + gains)
print(f"func.func @block({rows}, {vectors})\n    -> (", end="")
print(", ".join([row] * (options.sublayers + 1)) + ") {")
partial = None
for i in range(options.sublayers):
    opened = f" partial({partial} : {row})" if partial else ""
    print(f"  %h{i}, %a{i}, %l{i}, %r{i} = depth.route "
          f"queries({queries[i]} : {vector})\n"
          f"    closed({', '.join(sources)} : {row}){opened} heads(1) "
          f"{{epsilon = 1.0e-6 : f64}}")
    print(f"  %n{i} = net.rms_norm %h{i}, {gains[i]} {{epsilon = 1.0e-6 : f64}}\n"
          f"    : ({row}, {vector}) -> {row}")
    if partial:
        print(f"  %p{i} = net.add {partial}, {outputs[i]}\n"
              f"    : ({row}, {row}) -> {row}")
        partial = f"%p{i}"
    else:
        partial = outputs[i]
results = [f"%n{i}" for i in range(options.sublayers)] + [partial]
print(f"  return {', '.join(results)}\n    : {', '.join([row] * len(results))}")
print("}")
