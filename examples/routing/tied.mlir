// Nine sources of 512 tokens, read in three ways. With the same query twice, a
// route is tied: the compiler makes one query of the two. With two queries, each
// source is still read once. Two routes over the same sources become one, too,
// so that `@apart` is `@untied`.
//
//     isobath bench tied.mlir
//     isobath-opt tied.mlir --canonicalize --cse --isobath-share-routes

func.func @tied(
    %w: tensor<1024xf32> {net.name = "w"},
    %s0: tensor<1x512x1024xf32> {net.name = "s0"},
    %s1: tensor<1x512x1024xf32> {net.name = "s1"},
    %s2: tensor<1x512x1024xf32> {net.name = "s2"},
    %s3: tensor<1x512x1024xf32> {net.name = "s3"},
    %s4: tensor<1x512x1024xf32> {net.name = "s4"},
    %s5: tensor<1x512x1024xf32> {net.name = "s5"},
    %s6: tensor<1x512x1024xf32> {net.name = "s6"},
    %s7: tensor<1x512x1024xf32> {net.name = "s7"},
    %s8: tensor<1x512x1024xf32> {net.name = "s8"})
    -> (tensor<1x512x1024xf32>, tensor<1x512x1024xf32>) {
  %h:2, %a, %l, %r = depth.route queries(%w, %w : tensor<1024xf32>)
    closed(%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8
           : tensor<1x512x1024xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h#0, %h#1 : tensor<1x512x1024xf32>, tensor<1x512x1024xf32>
}

func.func @untied(
    %w: tensor<1024xf32> {net.name = "w"}, %v: tensor<1024xf32> {net.name = "v"},
    %s0: tensor<1x512x1024xf32> {net.name = "s0"},
    %s1: tensor<1x512x1024xf32> {net.name = "s1"},
    %s2: tensor<1x512x1024xf32> {net.name = "s2"},
    %s3: tensor<1x512x1024xf32> {net.name = "s3"},
    %s4: tensor<1x512x1024xf32> {net.name = "s4"},
    %s5: tensor<1x512x1024xf32> {net.name = "s5"},
    %s6: tensor<1x512x1024xf32> {net.name = "s6"},
    %s7: tensor<1x512x1024xf32> {net.name = "s7"},
    %s8: tensor<1x512x1024xf32> {net.name = "s8"})
    -> (tensor<1x512x1024xf32>, tensor<1x512x1024xf32>) {
  %h:2, %a, %l, %r = depth.route queries(%w, %v : tensor<1024xf32>)
    closed(%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8
           : tensor<1x512x1024xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h#0, %h#1 : tensor<1x512x1024xf32>, tensor<1x512x1024xf32>
}

func.func @apart(
    %w: tensor<1024xf32> {net.name = "w"}, %v: tensor<1024xf32> {net.name = "v"},
    %s0: tensor<1x512x1024xf32> {net.name = "s0"},
    %s1: tensor<1x512x1024xf32> {net.name = "s1"},
    %s2: tensor<1x512x1024xf32> {net.name = "s2"},
    %s3: tensor<1x512x1024xf32> {net.name = "s3"},
    %s4: tensor<1x512x1024xf32> {net.name = "s4"},
    %s5: tensor<1x512x1024xf32> {net.name = "s5"},
    %s6: tensor<1x512x1024xf32> {net.name = "s6"},
    %s7: tensor<1x512x1024xf32> {net.name = "s7"},
    %s8: tensor<1x512x1024xf32> {net.name = "s8"})
    -> (tensor<1x512x1024xf32>, tensor<1x512x1024xf32>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<1024xf32>)
    closed(%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8
           : tensor<1x512x1024xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  %k, %b, %m, %q = depth.route queries(%v : tensor<1024xf32>)
    closed(%s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8
           : tensor<1x512x1024xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h, %k : tensor<1x512x1024xf32>, tensor<1x512x1024xf32>
}
