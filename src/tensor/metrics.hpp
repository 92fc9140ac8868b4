// Error of an output relative to the reference; every speed is shown together with it.
//
// Elements that are NaN or the same infinity on both sides count as equal. If an element is not finite on
// only one side, relative_l2 and max_abs are infinite and cosine is 0. Bad input if the shapes differ.
#pragma once

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// |actual - reference| / |reference|, Euclidean; 0/0 is 0, x/0 is infinite.
double relative_l2(const Tensor& actual, const Tensor& reference);
/// The largest |actual - reference|.
double max_abs(const Tensor& actual, const Tensor& reference);
/// Cosine of the angle between both; 1 if both are zero, 0 if only one is.
double cosine(const Tensor& actual, const Tensor& reference);
/// Share of rows (all axes except the last) whose largest element is at the same index; of equal elements,
/// the first counts, and NaN is never the largest. 1 for empty tensors.
double top1_agreement(const Tensor& actual, const Tensor& reference);

}  // namespace hone::tensor
