// RUN: isobath-opt %s --canonicalize --cse | FileCheck %s

//===----------------------------------------------------------------------===//
// One source
//===----------------------------------------------------------------------===//

// A route over one source is that source, whatever the queries.
// CHECK-LABEL: func.func @route_one_source
// CHECK-SAME: %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[E]], %[[E]]
func.func @route_one_source(%w: tensor<8xf32>, %u: tensor<8xf32>,
                            %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a, %l, %r = depth.route queries(%w, %u : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(2) {epsilon = 1.0e-6 : f64}
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Its statistics are not those of the source, so it stays when they are used.
// CHECK-LABEL: func.func @route_one_source_with_statistics
// CHECK: %[[H:[a-z0-9_]+]], %{{.*}}, %{{.*}}, %[[R:[a-z0-9_]+]] = depth.route
// CHECK: return %[[H]], %[[R]]
func.func @route_one_source_with_statistics(%w: tensor<8xf32>,
                                            %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x1xf32>) {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64}
  return %h, %r : tensor<2x3x8xf32>, tensor<2x3x1xf32>
}

// A repeated route is there for its cost.
// CHECK-LABEL: func.func @route_one_source_repeated
// CHECK: %[[H:[a-z0-9_]+]], {{.*}} = depth.route
// CHECK: return %[[H]]
func.func @route_one_source_repeated(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  return %h : tensor<2x3x8xf32>
}

// One closed source and a partial are two sources.
// CHECK-LABEL: func.func @route_two_sources
// CHECK: %[[H:[a-z0-9_]+]], {{.*}} = depth.route
// CHECK: return %[[H]]
func.func @route_two_sources(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%e : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h : tensor<2x3x8xf32>
}

//===----------------------------------------------------------------------===//
// Equal routes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @equal_routes_merge
// CHECK: %[[H:[a-z0-9_]+]], {{.*}} = depth.route
// CHECK-NOT: depth.route
// CHECK: return %[[H]], %[[H]]
func.func @equal_routes_merge(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                              %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h0, %h1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @repeated_route_runs_again
// CHECK: %[[H0:[a-z0-9_]+]], {{.*}} = depth.route
// CHECK-NOT: repeated
// CHECK: %[[H1:[a-z0-9_]+]], {{.*}} = depth.route
// CHECK-SAME: repeated
// CHECK: return %[[H0]], %[[H1]]
func.func @repeated_route_runs_again(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                                     %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64, repeated}
  return %h0, %h1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// A partial is not a closed source, though the mix would be the same.
// CHECK-LABEL: func.func @partial_is_not_closed
// CHECK: depth.route
// CHECK: depth.route
func.func @partial_is_not_closed(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                                 %p: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %h0, %a0, %l0, %r0 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%p : tensor<2x3x8xf32>)
    heads(1) {epsilon = 1.0e-6 : f64}
  return %h0, %h1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

//===----------------------------------------------------------------------===//
// Fixed reads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @newest_is_the_partial
// CHECK-SAME: %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[P:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[P]]
func.func @newest_is_the_partial(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read newest closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @newest_is_the_last_closed_source
// CHECK-SAME: %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[B0:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[B0]]
func.func @newest_is_the_last_closed_source(%e: tensor<2x3x8xf32>,
                                            %b0: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read newest closed(%e, %b0 : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @embedding_is_the_first_source
// CHECK-SAME: %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>, %[[P:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[E]]
func.func @embedding_is_the_first_source(%e: tensor<2x3x8xf32>,
                                         %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read embedding closed(%e, %p : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @uniform_over_one_source
// CHECK-SAME: %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[E]]
func.func @uniform_over_one_source(%e: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %v = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @uniform_over_two_sources
// CHECK: %[[V:[a-z0-9_]+]] = depth.fixed_read uniform
// CHECK: return %[[V]]
func.func @uniform_over_two_sources(%e: tensor<2x3x8xf32>,
                                    %p: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %v = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %v : tensor<2x3x8xf32>
}
// Two repeated routes run twice, also where nobody reads the second.
// CHECK-LABEL: func.func @repeated_twice
// CHECK-COUNT-2: depth.route {{.*}}repeated
// CHECK: return
func.func @repeated_twice(%w: tensor<8xf32>, %e: tensor<2x3x8xf32>,
                          %p: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %h, %a, %l, %r = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64, repeated}
  %h1, %a1, %l1, %r1 = depth.route queries(%w : tensor<8xf32>)
    closed(%e, %p : tensor<2x3x8xf32>) heads(1) {epsilon = 1.0e-6 : f64, repeated}
  return %h : tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @static_read_of_one_source
// CHECK-SAME: %[[M:[a-z0-9_]+]]: tensor<1xf32>, %[[E:[a-z0-9_]+]]: tensor<2x3x8xf32>
// CHECK-NEXT: return %[[E]], %[[E]]
func.func @static_read_of_one_source(%m: tensor<1xf32>, %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %q, %v, %a = depth.static_read mixtures(%m, %m : tensor<1xf32>)
    closed(%e : tensor<2x3x8xf32>)
  return %q, %v : tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// CHECK-LABEL: func.func @static_read_whose_weights_are_in_use
// CHECK: depth.static_read
func.func @static_read_whose_weights_are_in_use(%m: tensor<1xf32>,
                                                %e: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<1x2x3x1x1xf32>) {
  %h, %a = depth.static_read mixtures(%m : tensor<1xf32>)
    closed(%e : tensor<2x3x8xf32>)
  return %h, %a : tensor<2x3x8xf32>, tensor<1x2x3x1x1xf32>
}

// CHECK-LABEL: func.func @static_read_of_two_sources
// CHECK: depth.static_read
func.func @static_read_of_two_sources(%m: tensor<2xf32>, %e: tensor<2x3x8xf32>)
    -> tensor<2x3x8xf32> {
  %h, %a = depth.static_read mixtures(%m : tensor<2xf32>)
    closed(%e : tensor<2x3x8xf32>) partial(%e : tensor<2x3x8xf32>)
  return %h : tensor<2x3x8xf32>
}
