// How far an output is from the reference: the accuracy that every speed
// travels with.
//
// Elements that are NaN, or the same infinity, on both sides count as equal.
// One element that is not finite on one side only makes relative_l2 and max_abs
// infinite and cosine 0. Bad input when shapes differ.
#pragma once

#include "tensor/tensor.hpp"

namespace hone::tensor {

/// |actual - reference| / |reference|, Euclidean; 0/0 is 0, x/0 is infinite.
double relative_l2(const Tensor& actual, const Tensor& reference);
/// The largest |actual - reference|.
double max_abs(const Tensor& actual, const Tensor& reference);
/// Cosine of the angle between both; 1 when both are zero, 0 when one is.
double cosine(const Tensor& actual, const Tensor& reference);
/// Share of rows (all axes but the last) whose largest element stands at the
/// same place; ties go to the first, NaN is never the largest. 1 for empty
/// tensors.
double top1_agreement(const Tensor& actual, const Tensor& reference);

}  // namespace hone::tensor
