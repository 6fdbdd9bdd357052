//===- MatrixOperations.cpp - Matrices spread over a warp -----------------===//
//
// Part of the Isobath project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which lane has which element is that of the manual of PTX, in the sections on
// ldmatrix and mma.m16n8k16. The products of an mma are added in f32 in the
// order of k, which a GPU's rounding does not follow.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace isobath::simulator;

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Lane l gives the address of row l % 8 of matrix l / 8, which has 8 elements
/// of 16 bits, and gets two neighbours of row l / 4 of every matrix.
static void loadMatrices(Thread *lanes, unsigned matrices, bool transposed) {
  std::uint16_t elements[4][8][8];
  for (unsigned lane = 0; lane < 8 * matrices; ++lane) {
    Thread &thread = lanes[lane];
    void *row = reinterpret_cast<void *>(thread.words[0] |
                                         std::uintptr_t(thread.words[1]) << 32);
    // Lanes that have come before are looked at now, as one instruction.
    checkAccess(thread, row, sizeof(elements[0][0]), thread.site);
    std::memcpy(elements[lane / 8][lane % 8], row, sizeof(elements[0][0]));
  }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
      std::uint32_t word = 0;
      for (unsigned i : {0, 1}) {
        unsigned row = lane / 4, column = lane % 4 * 2 + i;
        if (transposed)
          std::swap(row, column);
        word |= std::uint32_t(elements[matrix][row][column]) << (16 * i);
      }
      lanes[lane].words[matrix] = word;
    }
}

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

static float widen(std::uint32_t word, unsigned half, bool isBf16) {
  std::uint16_t bits = word >> (16 * half);
  if (isBf16)
    return llvm::bit_cast<float>(std::uint32_t(bits) << 16);
  return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits))
      .convertToFloat();
}

/// d = a b + c with a of 16x16, b of 16x8, c and d of 16x8.
static void multiply(Thread *lanes, bool isBf16) {
  float a[16][16], b[16][8], c[16][8];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    const std::uint32_t *words = lanes[lane].words;
    unsigned group = lane / 4, pair = lane % 4 * 2;
    for (unsigned i : {0, 1}) {
      for (unsigned word = 0; word < 4; ++word)
        a[group + word % 2 * 8][pair + i + word / 2 * 8] =
            widen(words[word], i, isBf16);
      for (unsigned word = 0; word < 2; ++word)
        b[pair + i + word * 8][group] = widen(words[4 + word], i, isBf16);
      for (unsigned half = 0; half < 2; ++half)
        c[group + half * 8][pair + i] =
            llvm::bit_cast<float>(words[6 + half * 2 + i]);
    }
  }
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      for (unsigned k = 0; k < 16; ++k)
        c[row][column] += a[row][k] * b[k][column];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      lanes[lane].words[i] = llvm::bit_cast<std::uint32_t>(
          c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
}

void isobath::simulator::evaluateMatrixOperation(Launch &launch,
                                                 Thread *lanes) {
  switch (lanes[0].operation) {
  case WarpOperation::LoadMatrix1:
    return loadMatrices(lanes, 1, false);
  case WarpOperation::LoadMatrix2:
    return loadMatrices(lanes, 2, false);
  case WarpOperation::LoadMatrix4:
    return loadMatrices(lanes, 4, false);
  case WarpOperation::LoadMatrixTransposed1:
    return loadMatrices(lanes, 1, true);
  case WarpOperation::LoadMatrixTransposed2:
    return loadMatrices(lanes, 2, true);
  case WarpOperation::LoadMatrixTransposed4:
    return loadMatrices(lanes, 4, true);
  default:
    return multiply(lanes, lanes[0].operation == WarpOperation::MultiplyBf16);
  }
}
