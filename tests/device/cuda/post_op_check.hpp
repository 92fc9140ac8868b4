// Post-ops of the convolution checks: operands on the device, and the plain meaning of every link.
#pragma once

#include <deque>

#include "device/cuda/plugin/kernels/common/epilogue.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {

/// A link names its operand by flags alone: `full`, or strides of 1 and 0 for "per batch" and "per channel".
class PostOpCase {
 public:
  PostOpCase(const std::vector<PostOpLink>& links, int64_t batch, int64_t channels, int64_t pixels,
             FloatType type);
  double apply(double x, int64_t n, int64_t c, int64_t position) const;
  std::string text() const;
  Epilogue epilogue;

 private:
  std::deque<Values> operands_;
};

std::vector<PostOpLink> typical_post_ops();
/// Every kind alone, and every kind of operand.
std::vector<std::vector<PostOpLink>> all_post_ops();

}  // namespace hone::device::cuda::check
