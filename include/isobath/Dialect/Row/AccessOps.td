//===- AccessOps.td - How a kernel's body reaches its arguments ---------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ACCESSOPS_TD
#define ISOBATH_DIALECT_ROW_ACCESSOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "isobath/Dialect/Row/RowDialect.td"

class Row_Op<string mnemonic, list<Trait> traits = []>
    : Op<Row_Dialect, mnemonic, traits>;

/// A row or a part of one, as a value.
def Row_Value : FixedVectorOfRankAndType<[1], [F32, BF16, F64, I32]>;
def Row_Number : AnyTypeOf<[F32, BF16, F64, I32], "f32, bf16, f64 or i32">;
/// What scalars can be taken from.
def Row_ScalarSource : AnyTypeOf<[Row_ScalarsType, Row_SharedVectorType],
                                 "scalars or a vector">;

//===----------------------------------------------------------------------===//
// Places and sizes
//===----------------------------------------------------------------------===//

def Row_IndexOp : Row_Op<"index", [Pure]> {
  let summary = "the number of the current row";
  let description = [{
    ```mlir
    %r = row.index : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Row_CountOp : Row_Op<"count", [Pure]> {
  let summary = "the number of matrices in a list";
  let description = [{
    ```mlir
    %n = row.count %list : !row.list<8xf32>
    ```
  }];
  let arguments = (ins Row_ListType:$list);
  let results = (outs Index:$result);
  let assemblyFormat = "$list attr-dict `:` qualified(type($list))";
}

def Row_WidthOp : Row_Op<"width", [Pure]> {
  let summary = "how many scalars a row has";
  let description = [{
    In each plane.

    ```mlir
    %width = row.width %scalars : !row.scalars<f32>
    ```
  }];
  let arguments = (ins Row_ScalarsType:$scalars);
  let results = (outs Index:$result);
  let assemblyFormat = "$scalars attr-dict `:` qualified(type($scalars))";
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

def Row_LoadOp : Row_Op<"load", [AttrSizedOperandSegments, NoMemoryEffect]> {
  let summary = "a row, or some columns of it";
  let description = [{
    The current row of a matrix or, with an index, another one; the current row
    of the matrix of that index in a list; a whole vector. With `columns`, as
    many elements as the result has, from that column on.

    - (C1) an input: what the kernel stores cannot be loaded
    - (C2) a list with an index, a vector without, and of known width
    - (C3) the result has the argument's element type and width, or with
      `columns` at most that width

    ```mlir
    %row = row.load %m : !row.matrix<8xf32> -> vector<8xf32>
    %high = row.load %l[%i] columns(%c) : !row.list<8xf32> -> vector<4xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Row_MatrixType, Row_ListType, Row_SharedVectorType],
                                 "a matrix, list or vector">:$source,
                       Optional<Index>:$index, Optional<Index>:$column);
  let results = (outs Row_Value:$result);
  let assemblyFormat = [{
    $source (`[` $index^ `]`)? (`columns` `(` $column^ `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let builders = [
    /// A whole row.
    OpBuilder<(ins "::mlir::Value":$source,
                   CArg<"::mlir::Value", "{}">:$index)>
  ];
}

def Row_StoreOp : Row_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "write the current row, or some columns of it";
  let description = [{
    Of a matrix, or of the matrix with an index in a list. Every element of an
    output row is stored once.

    - (C1) an output
    - (C2) a list with an index, a matrix without
    - (C3) the value has the argument's element type and width, or with
      `columns` at most that width

    ```mlir
    row.store %row, %l[%i] : vector<8xf32>, !row.list<8xf32>
    ```
  }];
  let arguments = (ins Row_Value:$value,
      Arg<AnyTypeOf<[Row_MatrixType, Row_ListType], "a matrix or list">,
          "written", [MemWrite]>:$target,
      Optional<Index>:$index, Optional<Index>:$column);
  let assemblyFormat = [{
    $value `,` $target (`[` $index^ `]`)? (`columns` `(` $column^ `)`)?
    attr-dict `:` type($value) `,` type($target)
  }];
  let hasVerifier = 1;
  let builders = [
    /// A whole row.
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$target,
                   CArg<"::mlir::Value", "{}">:$index)>
  ];
}

def Row_AccumulateOp : Row_Op<"accumulate"> {
  let summary = "add to a sum over rows";
  let description = [{
    - (C1) an output
    - (C2) the value has the type that the sum is added in, f64 for f64 and
      otherwise f32, and the sum's width, or with `columns` at most that width
    - (C3) one element with its column, where the sum's width is not known

    ```mlir
    row.accumulate %row, %sum : vector<8xf32>, !row.sum<8xf32>
    ```
  }];
  let arguments = (ins Row_Value:$value,
                       Arg<Row_SumType, "added to", [MemWrite]>:$sum,
                       Optional<Index>:$column);
  let assemblyFormat = [{
    $value `,` $sum (`columns` `(` $column^ `)`)? attr-dict
    `:` type($value) `,` qualified(type($sum))
  }];
  let hasVerifier = 1;
  let builders = [
    /// A whole row.
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$sum)>
  ];
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

def Row_LoadScalarOp : Row_Op<"load_scalar",
    [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "one number";
  let description = [{
    Number `index` of the current row or, with `row`, of another one; of scalars
    with several planes, in one of them. Or element `index` of a vector. Of an
    output, only what the same row has stored.

    - (C1) an output without `row`
    - (C2) `plane` where there are several, otherwise optional; neither `row`
      nor `plane` with a vector

    ```mlir
    %x = row.load_scalar %s[%i] : !row.scalars<f32>
    %y = row.load_scalar %p[%i] plane(%q) row(%r) : !row.scalars<2xf32>
    %z = row.load_scalar %v[%i] : !row.vector<8xi32>
    ```
  }];
  let arguments = (ins Arg<Row_ScalarSource, "read", [MemRead]>:$source,
                       Index:$index, Optional<Index>:$plane,
                       Optional<Index>:$row);
  let results = (outs Row_Number:$result);
  let assemblyFormat = [{
    $source `[` $index `]` (`plane` `(` $plane^ `)`)? (`row` `(` $row^ `)`)?
    attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$index,
                   CArg<"::mlir::Value", "{}">:$plane)>
  ];
}

def Row_StoreScalarOp : Row_Op<"store_scalar"> {
  let summary = "write one number of the current row";
  let description = [{
    - (C1) an output
    - (C2) the value has the scalars' element type
    - (C3) `plane` where there are several, otherwise optional

    ```mlir
    row.store_scalar %x, %s[%i] : !row.scalars<f32>
    row.store_scalar %x, %p[%i] plane(%q) : !row.scalars<2xf32>
    ```
  }];
  let arguments = (ins Row_Number:$value,
                       Arg<Row_ScalarsType, "written", [MemWrite]>:$target,
                       Index:$index, Optional<Index>:$plane);
  let assemblyFormat = [{
    $value `,` $target `[` $index `]` (`plane` `(` $plane^ `)`)? attr-dict
    `:` custom<ScalarOf>(type($value), type($target))
  }];
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$target,
                   "::mlir::Value":$index)>
  ];
}

def Row_SpreadOp : Row_Op<"spread"> {
  let summary = "a row in which parts have a number each";
  let description = [{
    Of G = `groups` equal parts of the row, all elements of part p are number
    `index` + p · `stride` of the current row, in `plane` where there are
    several. So depth heads weigh a whole row. Of an output, only what the same
    row has stored.

    - (C1) an argument of the kernel
    - (C2) `plane` where there are several, otherwise optional
    - (C3) the result has the scalars' element type
    - (C4) `groups` is positive and divides the result's width

    ```mlir
    %w = row.spread %s[%i] stride(%n) groups(4)
      : !row.scalars<f32> -> vector<8xf32>
    %u = row.spread %p[%i] stride(%n) plane(%q) groups(2)
      : !row.scalars<2xf32> -> vector<8xf32>
    ```
  }];
  let arguments = (ins Arg<Row_ScalarsType, "read", [MemRead]>:$source,
                       Index:$index, Index:$stride, Optional<Index>:$plane,
                       I64Attr:$groups);
  let results = (outs Row_Value:$result);
  let assemblyFormat = [{
    $source `[` $index `]` `stride` `(` $stride `)`
    (`plane` `(` $plane^ `)`)? `groups` `(` $groups `)` attr-dict
    `:` qualified(type($source)) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Elements of a part.
    int64_t getPartWidth() {
      return getResult().getType().getNumElements() / getGroups();
    }
  }];
}

#endif // ISOBATH_DIALECT_ROW_ACCESSOPS_TD
