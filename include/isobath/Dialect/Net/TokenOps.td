//===- TokenOps.td - Parts of the tokens, and wholes of parts -----------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a layer computes for every token alone, it can compute for some of them
// at a time. Rows of tokens are contiguous, so neither op has to move anything:
// a part is a place in the whole's memory.
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_NET_TOKENOPS_TD
#define ISOBATH_DIALECT_NET_TOKENOPS_TD

include "isobath/Dialect/Net/NetDialect.td"

def Net_TakeTokensOp : Net_Op<"take_tokens"> {
  let summary = "some tokens that follow each other";
  let description = [{
    Token b·T + t for token t of sequence b, whatever the tensor holds of each:

        y[0,i,…] = input[b,t,…]   where b T + t = first + i, for i < count

    The part is one sequence, also where it begins in one of `input` and ends in
    another.

    - (C1) `first` ≥ 0, `count` > 0, and `first` + `count` is at most the number
      of tokens

    ```mlir
    %y = net.take_tokens %x {first = 6 : i64, count = 5 : i64}
      : (tensor<2x8x64xf32>) -> tensor<1x5x64xf32>
    ```
  }];
  let arguments = (ins Net_PerToken:$input, I64Attr:$first, I64Attr:$count);
  let results = (outs Net_PerToken:$output);
  let assemblyFormat = [{
    $input attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

def Net_JoinTokensOp : Net_Op<"join_tokens"> {
  let summary = "the tokens of several tensors, as sequences of equal length";
  let description = [{
    The tokens of the first part, then those of the second, and so on, cut into
    `sequences`:

        y[b,t,…] = the token number b T + t of all parts

    - (C1) there is a part, and parts differ in their tokens alone
    - (C2) `sequences` > 0 divides the number of tokens

    ```mlir
    %y = net.join_tokens %a, %b {sequences = 2 : i64}
      : (tensor<1x5x64xf32>, tensor<1x11x64xf32>) -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Net_PerToken>:$parts, I64Attr:$sequences);
  let results = (outs Net_PerToken:$output);
  let assemblyFormat = [{
    $parts attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

#endif // ISOBATH_DIALECT_NET_TOKENOPS_TD
