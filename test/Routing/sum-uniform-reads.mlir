// RUN: isobath-opt %s --isobath-sum-uniform-reads | FileCheck %s
// RUN: isobath-opt %s --isobath-sum-uniform-reads --remarks-filter=isobath-sum-uniform-reads -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A block of two sublayers: the sum of closed sources is one for both, and goes
// on when the block is closed. The partial is in no sum that goes on.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: (%[[E:.*]]: tensor<2x3x8xf32>, %[[P:.*]]: tensor<2x3x8xf32>, %[[B:.*]]: tensor<2x3x8xf32>)
// CHECK-NEXT: %[[FIRST:.*]] = depth.fixed_read uniform closed(%[[E]] : tensor<2x3x8xf32>)
// CHECK-NEXT: %[[TOTAL:.*]] = depth.running_sum %[[E]] with %[[P]]
// CHECK-NEXT: %[[SECOND:.*]] = net.scale %[[TOTAL]] {factor = 5.000000e-01 : f64}
// CHECK-NEXT: %[[SUM:.*]] = depth.running_sum %[[E]] with %[[B]]
// CHECK-NEXT: %[[TOTAL:.*]] = depth.running_sum %[[SUM]] with %[[P]]
// CHECK-NEXT: %[[THIRD:.*]] = net.scale %[[TOTAL]] {factor = 0.33333333333333331 : f64}
// CHECK-NEXT: return %[[FIRST]], %[[SECOND]], %[[THIRD]]
// REMARK: remark: [Passed] Summed | Category:isobath-sum-uniform-reads | Function=blocks | Remark="2 reads of 5 sources in all continue one sum of 2", Sites="y, a fixed read without a site"
func.func @blocks(%e: tensor<2x3x8xf32>, %p: tensor<2x3x8xf32>,
                  %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>) {site = "x"}
  %1 = depth.fixed_read uniform closed(%e : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>) {site = "y"}
  %2 = depth.fixed_read uniform closed(%e, %b : tensor<2x3x8xf32>)
    partial(%p : tensor<2x3x8xf32>)
  return %0, %1, %2
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}

// Other sources, and another rule.
// CHECK-LABEL: func.func @others
// CHECK-NOT: depth.running_sum
// REMARK: remark: [Missed] NotSummed | Category:isobath-sum-uniform-reads | Function=others | Reason="no other uniform read continues it", Sites=x
// REMARK: remark: [Missed] NotSummed | Category:isobath-sum-uniform-reads | Function=others | Reason="no other uniform read continues it", Sites=y
// REMARK-NOT: Sites=z
func.func @others(%e: tensor<2x3x8xf32>, %b: tensor<2x3x8xf32>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>) {
  %0 = depth.fixed_read uniform closed(%e, %b : tensor<2x3x8xf32>)
    {site = "x"}
  %1 = depth.fixed_read uniform closed(%b, %e : tensor<2x3x8xf32>)
    {site = "y"}
  %2 = depth.fixed_read newest closed(%b, %e : tensor<2x3x8xf32>)
    {site = "z"}
  return %0, %1, %2
    : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>
}
