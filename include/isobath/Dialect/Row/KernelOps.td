//===- KernelOps.td - Kernels, and their use on tensors and buffers -----===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_DIALECT_ROW_KERNELOPS_TD
#define ISOBATH_DIALECT_ROW_KERNELOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "isobath/Dialect/Row/RowDialect.td"

def Row_KernelOp : Op<Row_Dialect, "kernel",
    [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
     IsolatedFromAbove, SingleBlock, Symbol]> {
  let summary = "what happens to one row";
  let description = [{
    A symbol whose body runs once for each row. The arguments of its block are
    the inputs, then the outputs. Kernels are pure but for their outputs, and
    need no name of their own: see KernelTable.h. An argument's name in the text
    is kept as its location and means nothing else.

    - (C1) inputs are matrices, lists, vectors or scalars
    - (C2) outputs are matrices, lists, sums or scalars
    - (C3) the body has only ops of `row`, `arith`, `math`, `scf.for`, and of
      `vector` those that keep rows one-dimensional: `broadcast` of a scalar,
      `reduction` by `add` or `maximumf`, `extract` of one element at a constant
      place, `step`; constant rows have one value throughout
    - (C4) loops carry scalars and rows; a vector has one, fixed axis

    ```mlir
    row.kernel private @add_mix(%x: !row.matrix<8xf32>, %l: !row.list<8xf32>)
        -> (%y: !row.matrix<8xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = row.count %l : !row.list<8xf32>
      %0 = row.load %x : !row.matrix<8xf32> -> vector<8xf32>
      %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0)
          -> (vector<8xf32>) {
        %s = row.load %l[%i] : !row.list<8xf32> -> vector<8xf32>
        %2 = arith.addf %sum, %s : vector<8xf32>
        scf.yield %2 : vector<8xf32>
      }
      row.store %1, %y : vector<8xf32>, !row.matrix<8xf32>
      row.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       TypeAttrOf<FunctionType>:$function_type);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// A private kernel whose body is a block with the arguments and
    /// `row.return`, in front of which a user builds.
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::TypeRange":$inputs,
                   "::mlir::TypeRange":$outputs)>
  ];
  let extraClassDeclaration = [{
    ::mlir::TypeRange getInputTypes() { return getFunctionType().getInputs(); }
    ::mlir::TypeRange getOutputTypes() {
      return getFunctionType().getResults();
    }
    unsigned getInputCount() { return getInputTypes().size(); }
    unsigned getOutputCount() { return getOutputTypes().size(); }

    ::mlir::Block::BlockArgListType getArguments() {
      return getBody()->getArguments();
    }
    ::mlir::Block::BlockArgListType getInputs() {
      return getArguments().take_front(getInputCount());
    }
    ::mlir::Block::BlockArgListType getOutputs() {
      return getArguments().drop_front(getInputCount());
    }
    ::mlir::BlockArgument getInput(unsigned position) {
      return getInputs()[position];
    }
    ::mlir::BlockArgument getOutput(unsigned position) {
      return getOutputs()[position];
    }
    bool isOutput(::mlir::BlockArgument argument) {
      return argument.getArgNumber() >= getInputCount();
    }

    /// Whether the body reads a matrix at the number of the current row. One
    /// that it reads only at others may have any number of rows.
    bool readsOwnRow(::mlir::BlockArgument argument);
  }];
}

def Row_ReturnOp : Op<Row_Dialect, "return",
    [HasParent<"KernelOp">, Pure, Terminator]> {
  let summary = "the end of a kernel";
  let description = [{
    Kernels have no results: outputs are stored to.

    ```mlir
    row.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Row_CallOp : Op<Row_Dialect, "call",
    [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel on tensors";
  let description = [{
    Runs the kernel for `rows` rows. There is one operand for each input, or
    one for each matrix of a list, in brackets; and likewise one result for each
    output. Tensors may have any rank: what counts is the order of their
    elements, so that an activation [B, T, H·d] is a `!row.matrix<d>` of B·T·H
    rows.

    `repeated` marks a call that runs for its cost alone: it counts as an
    effect, so that no pass merges it with another or removes it.

    - (C1) `kernel` is a `row.kernel`, with as many inputs and outputs as there
      are groups of operands and results; only a list has other than one
    - (C2) `rows` is positive
    - (C3) tensors are static and have the argument's element type and, of a
      matrix rows·W elements, of a vector or sum W (or any number where that is
      ?), of scalars with P planes P·rows·width for some width; an input matrix
      that the kernel reads only by number may have any number of rows

    ```mlir
    %y = row.call @add_mix(%a, [%b, %c]) {rows = 6 : i64}
      : (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<6x8xf32>)
      -> (tensor<2x3x8xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyRankedTensor>:$inputs,
                       DenseI32ArrayAttr:$inputGroups,
                       DenseI32ArrayAttr:$outputGroups,
                       ConfinedAttr<I64Attr, [IntPositive]>:$rows,
                       UnitAttr:$repeated);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `` custom<Groups>($inputs, $inputGroups) attr-dict
    `:` custom<Types>(type($inputs)) `->` custom<GroupTypes>(type($outputs), $outputGroups)
  }];
  let builders = [
    OpBuilder<(ins "::isobath::row::KernelOp":$kernel,
                   "::llvm::ArrayRef<::llvm::SmallVector<::mlir::Value>>":$inputs,
                   "::llvm::ArrayRef<::llvm::SmallVector<::mlir::Type>>":$outputs,
                   "int64_t":$rows)>
  ];
  let extraClassDeclaration = [{
    unsigned getInputGroupCount() { return getInputGroups().size(); }
    unsigned getOutputGroupCount() { return getOutputGroups().size(); }
    /// The operands for an input of the kernel: one, or those of a list.
    ::mlir::OperandRange getInputGroup(unsigned position);
    /// The results for an output of the kernel.
    ::mlir::ResultRange getOutputGroup(unsigned position);
    /// All groups, in the form in which the builder takes them.
    ::llvm::SmallVector<::llvm::SmallVector<::mlir::Value>>
    copyInputGroups();
    ::llvm::SmallVector<::llvm::SmallVector<::mlir::Type>>
    copyOutputGroupTypes();
    /// The kernel; null if there is none of this name.
    ::isobath::row::KernelOp lookupKernel();
  }];
}

def Row_LaunchOp : Op<Row_Dialect, "launch",
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel on buffers";
  let description = [{
    `row.call` after bufferisation. No output overlaps an input or another
    output. `scratch` is for the partial sums of a target that divides rows
    among threads: where present, one buffer for each sum, in their order, of a
    shape that the target says.

    - (C1) – (C3) as for `row.call`, on contiguous memrefs
    - (C4) as many `scratch` buffers as the kernel has sums, or none

    ```mlir
    row.launch @add_mix(%a, [%b, %c]) outs(%y) {rows = 6 : i64}
      : (memref<2x3x8xf32>, memref<2x3x8xf32>, memref<6x8xf32>)
      outs (memref<2x3x8xf32>)
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
      Arg<Variadic<AnyMemRef>, "read", [MemRead]>:$inputs,
      Arg<Variadic<AnyMemRef>, "written", [MemWrite]>:$outputs,
      Arg<Variadic<AnyMemRef>, "partial sums", [MemRead, MemWrite]>:$scratch,
      DenseI32ArrayAttr:$inputGroups, DenseI32ArrayAttr:$outputGroups,
      ConfinedAttr<I64Attr, [IntPositive]>:$rows);
  let assemblyFormat = [{
    $kernel `` custom<Groups>($inputs, $inputGroups)
    `outs` `` custom<Groups>($outputs, $outputGroups)
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)? attr-dict
    `:` custom<Types>(type($inputs)) `outs` custom<Types>(type($outputs))
  }];
  let builders = [
    OpBuilder<(ins "::isobath::row::KernelOp":$kernel,
                   "::llvm::ArrayRef<::llvm::SmallVector<::mlir::Value>>":$inputs,
                   "::llvm::ArrayRef<::llvm::SmallVector<::mlir::Value>>":$outputs,
                   "::mlir::ValueRange":$scratch, "int64_t":$rows)>,
    /// The launch of `call`'s kernel with `inputs` in place of its operands and
    /// `outputs` in place of its results.
    OpBuilder<(ins "::isobath::row::CallOp":$call, "::mlir::ValueRange":$inputs,
                   "::mlir::ValueRange":$outputs,
                   "::mlir::ValueRange":$scratch)>
  ];
  let extraClassDeclaration = [{
    unsigned getInputGroupCount() { return getInputGroups().size(); }
    unsigned getOutputGroupCount() { return getOutputGroups().size(); }
    /// The buffers for an input of the kernel: one, or those of a list.
    ::mlir::OperandRange getInputGroup(unsigned position);
    /// The buffers for an output of the kernel.
    ::mlir::OperandRange getOutputGroup(unsigned position);
    /// The kernel; null if there is none of this name.
    ::isobath::row::KernelOp lookupKernel();
  }];
}

#endif // ISOBATH_DIALECT_ROW_KERNELOPS_TD
