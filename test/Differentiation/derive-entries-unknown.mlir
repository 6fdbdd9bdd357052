// RUN: isobath-opt %s --verify-diagnostics --isobath-derive-entries=entries=losses

// expected-error @below {{expected one of the entries 'logits', 'loss', 'gradient', 'routes', 'accumulate', 'norm' and 'update', got 'losses'}}
module {
  func.func @model(%tokens: tensor<2x3xi32>,
                   %table: tensor<5x8xf32> {net.parameter = #net.parameter<name = "embed.weight", initial = zeros>})
      -> tensor<2x3x8xf32> {
    %e = net.embedding %table, %tokens
      : (tensor<5x8xf32>, tensor<2x3xi32>) -> tensor<2x3x8xf32>
    return %e : tensor<2x3x8xf32>
  }
}
