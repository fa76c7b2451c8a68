// SPDX-License-Identifier: Apache-2.0
// The ops that texts name most, as at::_ops has them: a call of one costs what it costs with
// torch's own headers. An op that isn't here is called through a stack of IValues, which takes
// 100 to 300 ns longer.
#pragma once

#include <ATen/ops/abs_ops.h>
#include <ATen/ops/add_ops.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/all_ops.h>
#include <ATen/ops/amax_ops.h>
#include <ATen/ops/amin_ops.h>
#include <ATen/ops/any_ops.h>
#include <ATen/ops/arange_ops.h>
#include <ATen/ops/argmax_ops.h>
#include <ATen/ops/argmin_ops.h>
#include <ATen/ops/bitwise_and_ops.h>
#include <ATen/ops/bitwise_not_ops.h>
#include <ATen/ops/bitwise_or_ops.h>
#include <ATen/ops/bitwise_xor_ops.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/ceil_ops.h>
#include <ATen/ops/chunk_ops.h>
#include <ATen/ops/clamp_ops.h>
#include <ATen/ops/clone_ops.h>
#include <ATen/ops/contiguous_ops.h>
#include <ATen/ops/copy_ops.h>
#include <ATen/ops/cos_ops.h>
#include <ATen/ops/cumsum_ops.h>
#include <ATen/ops/detach_ops.h>
#include <ATen/ops/div_ops.h>
#include <ATen/ops/dot_ops.h>
#include <ATen/ops/empty_like_ops.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/empty_strided_ops.h>
#include <ATen/ops/eq_ops.h>
#include <ATen/ops/equal_ops.h>
#include <ATen/ops/exp_ops.h>
#include <ATen/ops/expand_as_ops.h>
#include <ATen/ops/expand_ops.h>
#include <ATen/ops/fill_ops.h>
#include <ATen/ops/flatten_ops.h>
#include <ATen/ops/flip_ops.h>
#include <ATen/ops/floor_ops.h>
#include <ATen/ops/full_like_ops.h>
#include <ATen/ops/full_ops.h>
#include <ATen/ops/gather_ops.h>
#include <ATen/ops/ge_ops.h>
#include <ATen/ops/gt_ops.h>
#include <ATen/ops/index_select_ops.h>
#include <ATen/ops/is_nonzero_ops.h>
#include <ATen/ops/item_ops.h>
#include <ATen/ops/le_ops.h>
#include <ATen/ops/linear_ops.h>
#include <ATen/ops/log_ops.h>
#include <ATen/ops/log_softmax_ops.h>
#include <ATen/ops/logical_not_ops.h>
#include <ATen/ops/lt_ops.h>
#include <ATen/ops/masked_fill_ops.h>
#include <ATen/ops/masked_select_ops.h>
#include <ATen/ops/matmul_ops.h>
#include <ATen/ops/max_ops.h>
#include <ATen/ops/maximum_ops.h>
#include <ATen/ops/mean_ops.h>
#include <ATen/ops/min_ops.h>
#include <ATen/ops/minimum_ops.h>
#include <ATen/ops/mm_ops.h>
#include <ATen/ops/mul_ops.h>
#include <ATen/ops/narrow_ops.h>
#include <ATen/ops/ne_ops.h>
#include <ATen/ops/neg_ops.h>
#include <ATen/ops/new_empty_ops.h>
#include <ATen/ops/new_zeros_ops.h>
#include <ATen/ops/nonzero_ops.h>
#include <ATen/ops/ones_like_ops.h>
#include <ATen/ops/ones_ops.h>
#include <ATen/ops/permute_ops.h>
#include <ATen/ops/pow_ops.h>
#include <ATen/ops/prod_ops.h>
#include <ATen/ops/rand_like_ops.h>
#include <ATen/ops/rand_ops.h>
#include <ATen/ops/randn_like_ops.h>
#include <ATen/ops/randn_ops.h>
#include <ATen/ops/relu_ops.h>
#include <ATen/ops/remainder_ops.h>
#include <ATen/ops/repeat_ops.h>
#include <ATen/ops/reshape_ops.h>
#include <ATen/ops/round_ops.h>
#include <ATen/ops/rsqrt_ops.h>
#include <ATen/ops/select_ops.h>
#include <ATen/ops/sigmoid_ops.h>
#include <ATen/ops/sign_ops.h>
#include <ATen/ops/silu_ops.h>
#include <ATen/ops/sin_ops.h>
#include <ATen/ops/slice_ops.h>
#include <ATen/ops/softmax_ops.h>
#include <ATen/ops/sort_ops.h>
#include <ATen/ops/split_ops.h>
#include <ATen/ops/sqrt_ops.h>
#include <ATen/ops/square_ops.h>
#include <ATen/ops/squeeze_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/std_ops.h>
#include <ATen/ops/sub_ops.h>
#include <ATen/ops/sum_ops.h>
#include <ATen/ops/t_ops.h>
#include <ATen/ops/tanh_ops.h>
#include <ATen/ops/to_ops.h>
#include <ATen/ops/topk_ops.h>
#include <ATen/ops/transpose_ops.h>
#include <ATen/ops/unbind_ops.h>
#include <ATen/ops/unsqueeze_ops.h>
#include <ATen/ops/var_ops.h>
#include <ATen/ops/view_as_ops.h>
#include <ATen/ops/view_ops.h>
#include <ATen/ops/where_ops.h>
#include <ATen/ops/zero_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <ATen/ops/zeros_ops.h>

// clang-format off
#define CUDAOPS_TYPED_OPS(_) \
  _(abs) _(add_Scalar) _(add_Tensor) _(add__Scalar) _(add__Tensor) _(addmm) _(all) _(all_dim) \
  _(amax) _(amin) _(any) _(any_dim) _(arange) _(arange_start) _(arange_start_step) _(argmax) \
  _(argmin) _(bitwise_and_Scalar) _(bitwise_and_Tensor) _(bitwise_not) _(bitwise_or_Scalar) \
  _(bitwise_or_Tensor) _(bitwise_xor_Scalar) _(bitwise_xor_Tensor) _(bmm) _(cat) _(ceil) \
  _(chunk) _(clamp) _(clamp_) _(clone) _(contiguous) _(copy_) _(cos) _(cumsum) _(detach) \
  _(div_Scalar) _(div_Tensor) _(div__Scalar) _(div__Tensor) _(dot) _(empty_memory_format) \
  _(empty_like) _(empty_strided) _(eq_Scalar) _(eq_Tensor) _(equal) _(exp) _(expand) \
  _(expand_as) _(fill__Scalar) _(fill__Tensor) _(flatten_using_ints) _(flip) _(floor) _(full) \
  _(full_like) _(gather) _(ge_Scalar) _(ge_Tensor) _(gt_Scalar) _(gt_Tensor) _(index_select) \
  _(is_nonzero) _(item) _(le_Scalar) _(le_Tensor) _(linear) _(log) _(log_softmax_int) \
  _(logical_not) _(lt_Scalar) _(lt_Tensor) _(masked_fill_Scalar) _(masked_select) _(matmul) \
  _(max) _(max_dim) _(max_other) _(maximum) _(mean) _(mean_dim) _(min) _(min_dim) _(min_other) \
  _(minimum) _(mm) _(mul_Scalar) _(mul_Tensor) _(mul__Scalar) _(mul__Tensor) _(narrow) \
  _(ne_Scalar) _(ne_Tensor) _(neg) _(new_empty) _(new_zeros) _(nonzero) _(ones) _(ones_like) \
  _(permute) _(pow_Tensor_Scalar) _(pow_Tensor_Tensor) _(prod) _(rand) _(rand_like) _(randn) \
  _(randn_like) _(relu) _(relu_) _(remainder_Scalar) _(remainder_Tensor) _(repeat) _(reshape) \
  _(round) _(rsqrt) _(select_int) _(sigmoid) _(sign) _(silu) _(sin) _(slice_Tensor) \
  _(softmax_int) _(sort) _(split_Tensor) _(sqrt) _(square) _(squeeze) _(squeeze_dim) _(stack) \
  _(std) _(sub_Scalar) _(sub_Tensor) _(sub__Scalar) _(sub__Tensor) _(sum) _(sum_dim_IntList) \
  _(t) _(tanh) _(to_device) _(to_dtype) _(to_dtype_layout) _(to_other) _(topk) _(transpose_int) \
  _(unbind_int) _(unsqueeze) _(var) _(view) _(view_as) _(where_self) _(zero_) _(zeros) \
  _(zeros_like)
// clang-format on
