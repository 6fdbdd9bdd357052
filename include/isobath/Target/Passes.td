//===- Passes.td - Lowerings to the targets -----------------------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ISOBATH_TARGET_PASSES_TD
#define ISOBATH_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToReference : Pass<"isobath-lower-to-reference", "::mlir::ModuleOp"> {
  let summary = "Lower entries to calls of kernels made of plain loops";
  let description = [{
    Turns the tensors of every public function into buffers and each op into a
    call of a private function of plain loops, which the op itself supplies
    (ReferenceOpInterface). Ops that differ only in what they are called with
    share one function, so its number does not grow with depth where the shapes
    do not. Nothing is fused, reordered or updated in place.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerToCpu : Pass<"isobath-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower entries to launches of row kernels and library calls";
  let description = [{
    Turns the tensors of every public function into buffers, each `row.call`
    into a `row.launch`, and products and attention into calls of the device
    (runtime/include/isobath/runtime/device_calls.h) through a private
    function for each shape. Scratch that a launch or the library needs is
    allocated here, so that it is planned with everything else. A kernel writes
    in the buffer of an operand that nobody reads later, if it never reads an
    element after it has written that, and so does a product that adds to one.
    Parts of the tokens are views where they can be.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::isobath::row::RowDialect"];
}

def LowerRowsToCpu : Pass<"isobath-lower-rows-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower row kernels to vector code, launches to calls";
  let description = [{
    Turns every `row.kernel` into a C function that runs a range of rows, strip
    by strip in vectors of 16 elements, and every `row.launch` into a call of
    the runtime's isobath_launch, which runs it for all rows, and every
    `memref.copy` into one of isobath_copy. A launch whose kernel has sums must
    have scratch buffers, as isobath-lower-to-cpu allocates them; a second
    launch adds up what they hold.

    The order of all additions is fixed here and depends on the shapes alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerToGpu : Pass<"isobath-lower-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower entries to launches for a GPU and library calls";
  let description = [{
    The same as isobath-lower-to-cpu, but for what depends on the device: how
    many partial sums a launch has, and which kernels can write in the buffer of
    an operand. Row kernels stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::isobath::row::RowDialect"];
}

def LowerLaunchesToGpu
    : Pass<"isobath-lower-launches-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower launches for a GPU to calls of the device";
  let description = [{
    Turns every `row.launch` into calls of the runtime's isobath_launch: one of
    the kernel that isobath-lower-rows-to-nvptx makes of the row kernel, and one
    for the second stage of each of its sums; and every `memref.copy` into one
    of isobath_copy. Row kernels are removed, since nothing calls them any more:
    what the device runs has been made of them before.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerRowsToNvptx : Pass<"isobath-lower-rows-to-nvptx", "::mlir::ModuleOp"> {
  let summary = "Make kernels of NVIDIA GPUs of row kernels";
  let description = [{
    Adds a `gpu.module` with a kernel for each `row.kernel`, whose contract is
    include/isobath/Target/NVPTX/RowKernels.h, and one for the second stage of
    each kind of sum over rows. Row kernels, and who calls them, stay.

    Threads have the elements of a row in interleaved chunks of 16 bytes, 16 to
    32 elements each where registers allow: a warp for a row, or a block of
    several where rows are wide or many are alive. Rows that do not fit are gone
    through in strips. The order of all additions is fixed here and depends on
    the shapes alone.
  }];
  let options = [
    Option<"architecture", "architecture", "std::string", "\"sm_80\"",
           "What the kernels are for: sm_80, sm_90, sm_100 or sm_120">,
    Option<"ptx", "ptx", "std::string", "\"\"",
           "The version of PTX that they will be written in; the lowest that "
           "the architecture needs unless given">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ISOBATH_TARGET_PASSES_TD
