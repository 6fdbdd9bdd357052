//===- RowDialect.td - Kernels that run once per row --------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_ROWDIALECT_TD
#define ISOBATH_DIALECT_ROW_ROWDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Row_Dialect : Dialect {
  let name = "row";
  let cppNamespace = "::isobath::row";
  let summary = "Kernels that run once per row, on whole-row values";
  let description = [{
    A *row* is a token, a head of a token, or a chunk of a parameter. A
    `row.kernel` says what happens to one of them; all rows are alike and
    independent, but for the sums over rows. In the body, a row is one value
    `vector<Wxf32>`, and the arithmetic is that of `arith`, `math` and `vector`,
    with `scf.for` over sources. How a row is cut into pieces that fit a machine,
    and how rows are divided among threads, is the business of a target.

    The types of a kernel's arguments say how a buffer is seen from a row:

    | type | what row r sees |
    |---|---|
    | `!row.matrix<512xf32>` | the 512 elements from r·512 on; as an input also the row of any other number |
    | `!row.list<512xf32>` | the same in each of several matrices, whose number is known when the kernel runs |
    | `!row.vector<512xf32>` | 512 elements that all rows share |
    | `!row.sum<512xf32>` | 512 elements, each the sum of what all rows accumulate |
    | `!row.vector<?xf32>`, `!row.sum<?xf32>` | the same with a width that is known when the kernel runs: elements are read or added to by number |
    | `!row.scalars<f32>` | some numbers of its own; how many (the *width*) is known when the kernel runs |
    | `!row.scalars<2xf32>` | the same in each of 2 planes, one behind the other: [2, rows, width] |

    Inputs and outputs of a call never overlap. What an output holds before the
    kernel stores to it is undefined. Only scalars that the same row has stored
    before can be read back.
  }];
  let useDefaultTypePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Row_Type<string name, string typeMnemonic>
    : TypeDef<Row_Dialect, name> {
  let mnemonic = typeMnemonic;
  let genVerifyDecl = 1;
}

/// A type of rows of `width` elements, `!row.name<512xf32>`.
class Row_WideType<string name, string typeMnemonic>
    : Row_Type<name, typeMnemonic> {
  let parameters = (ins "int64_t":$width, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Shape>($width, $elementType) `>`";
  let builders = [TypeBuilderWithInferredContext<
      (ins "int64_t":$width, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), width, elementType);
  }]>];
  let extraClassDeclaration = [{
    /// A whole row as a value.
    ::mlir::VectorType getRowType() const {
      return ::mlir::VectorType::get({getWidth()}, getElementType());
    }
  }];
}

def Row_MatrixType : Row_WideType<"Matrix", "matrix"> {
  let summary = "a matrix with one row for each row of the kernel";
}
def Row_ListType : Row_WideType<"List", "list"> {
  let summary = "a list of matrices, as many as the call says";
}
def Row_SharedVectorType : Row_WideType<"SharedVector", "vector"> {
  let summary = "one row that all rows of the kernel share";
  let extraClassDeclaration = [{
    /// Whether the type says how wide the row is.
    bool isWidthKnown() const {
      return !::mlir::ShapedType::isDynamic(getWidth());
    }
    /// A whole row as a value, of known width.
    ::mlir::VectorType getRowType() const {
      return ::mlir::VectorType::get({getWidth()}, getElementType());
    }
  }];
}
def Row_SumType : Row_WideType<"Sum", "sum"> {
  let summary = "one row, the sum of what all rows accumulate";
  let description = [{
    Accumulated in f32, or in f64 if that is the element type, and rounded once
    where the element type is bf16. The order of additions depends on the number
    of rows alone.
  }];
  let extraClassDeclaration = [{
    /// The type that is added in: f64 for f64, otherwise f32.
    ::mlir::FloatType getArithmeticType() const;
    /// Whether the type says how wide the row is.
    bool isWidthKnown() const {
      return !::mlir::ShapedType::isDynamic(getWidth());
    }
    /// A whole row as a value to add, of known width.
    ::mlir::VectorType getRowType() const {
      return ::mlir::VectorType::get({getWidth()}, getArithmeticType());
    }
  }];
}
def Row_ScalarsType : Row_Type<"Scalars", "scalars"> {
  let summary = "some numbers for each row, in one plane or more";
  let parameters = (ins "int64_t":$planes, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<Planes>($planes, $elementType) `>`";
  let builders = [TypeBuilderWithInferredContext<
      (ins "::mlir::Type":$elementType, CArg<"int64_t", "1">:$planes), [{
    return $_get(elementType.getContext(), planes, elementType);
  }]>];
}

#endif // ISOBATH_DIALECT_ROW_ROWDIALECT_TD
