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

StridedView widened(const StridedView& view, uint64_t addresses, size_t* bytes) {
  constexpr size_t kWidest = 16;
  StridedView wide = view;
  const auto is_even = [&] {
    for (size_t d = 0; d + 1 < wide.strides.size(); ++d) {
      if (wide.strides[d] % 2 != 0) return false;
    }
    return wide.offset % 2 == 0 && wide.sizes.back() % 2 == 0 && addresses % (2 * *bytes) == 0;
  };
  while (*bytes < kWidest && !wide.sizes.empty() && wide.strides.back() == 1 && is_even()) {
    *bytes *= 2;
    wide.offset /= 2;
    wide.sizes.back() /= 2;
    for (size_t d = 0; d + 1 < wide.strides.size(); ++d) wide.strides[d] /= 2;
  }
  return wide;
}

}  // namespace hone::device::cuda
