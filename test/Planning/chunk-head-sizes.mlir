// RUN: isobath-opt %s --isobath-chunk-head | FileCheck %s

// Chosen sizes: of 50,257 logits a token, 256 tokens take more than 32 MiB;
// 700 tokens are three chunks of equal size, up to a multiple of 64.
// CHECK-LABEL: func.func @large_vocabulary
// CHECK: net.linear {{.*}} -> tensor<1x256x50257xf32>
// CHECK: net.linear {{.*}} -> tensor<1x256x50257xf32>
// CHECK: net.linear {{.*}} -> tensor<1x188x50257xf32>
// CHECK-NOT: net.linear
func.func @large_vocabulary(%x: tensor<2x350x4xf32>, %w: tensor<50257x4xf32>,
                            %t: tensor<2x350xi32>) -> tensor<2x350xf32> {
  %y = net.linear %x, %w
    : (tensor<2x350x4xf32>, tensor<50257x4xf32>) -> tensor<2x350x50257xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<2x350x50257xf32>, tensor<2x350xi32>)
    -> (tensor<2x350xf32>, tensor<2x350xf32>)
  return %loss : tensor<2x350xf32>
}

// Of 8,192, there fit 1,024 tokens; 1,088 tokens are two chunks of 576.
// CHECK-LABEL: func.func @small_vocabulary
// CHECK: net.linear {{.*}} -> tensor<1x576x8192xf32>
// CHECK: net.linear {{.*}} -> tensor<1x512x8192xf32>
func.func @small_vocabulary(%x: tensor<1x1088x4xf32>, %w: tensor<8192x4xf32>,
                            %t: tensor<1x1088xi32>) -> tensor<1x1088xf32> {
  %y = net.linear %x, %w
    : (tensor<1x1088x4xf32>, tensor<8192x4xf32>) -> tensor<1x1088x8192xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x1088x8192xf32>, tensor<1x1088xi32>)
    -> (tensor<1x1088xf32>, tensor<1x1088xf32>)
  return %loss : tensor<1x1088xf32>
}

// CHECK-LABEL: func.func @one_chunk
// CHECK-NOT: take_tokens
func.func @one_chunk(%x: tensor<1x1024x4xf32>, %w: tensor<8192x4xf32>,
                     %t: tensor<1x1024xi32>) -> tensor<1x1024xf32> {
  %y = net.linear %x, %w
    : (tensor<1x1024x4xf32>, tensor<8192x4xf32>) -> tensor<1x1024x8192xf32>
  %loss, %lse = net.cross_entropy %y, %t
    : (tensor<1x1024x8192xf32>, tensor<1x1024xi32>)
    -> (tensor<1x1024xf32>, tensor<1x1024xf32>)
  return %loss : tensor<1x1024xf32>
}
