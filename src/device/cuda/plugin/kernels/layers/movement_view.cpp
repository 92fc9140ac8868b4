// See movement.hpp.
#include "device/cuda/plugin/kernels/layers/movement.hpp"

namespace hone::device::cuda {

StridedView merged(const StridedView& view) {
  StridedView result{{}, {}, view.offset};
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] == 1) continue;
    if (!result.sizes.empty() && result.strides.back() == view.strides[d] * view.sizes[d]) {
      result.sizes.back() *= view.sizes[d];
      result.strides.back() = view.strides[d];
    } else {
      result.sizes.push_back(view.sizes[d]);
      result.strides.push_back(view.strides[d]);
    }
  }
  return result;
}

}  // namespace hone::device::cuda
