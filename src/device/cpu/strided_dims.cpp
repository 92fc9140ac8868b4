// See strided_dims.hpp.
#include "device/cpu/strided_dims.hpp"

#include <algorithm>

namespace hone::device::cpu {

void StridedDims::merge() {
  StridedDims merged;
  merged.strides.resize(strides.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const bool joins = !merged.sizes.empty() && [&] {
      for (size_t i = 0; i < strides.size(); ++i) {
        if (merged.strides[i].back() != strides[i][d] * sizes[d]) return false;
      }
      return true;
    }();
    if (joins) {
      merged.sizes.back() *= sizes[d];
    } else {
      merged.sizes.push_back(sizes[d]);
    }
    for (size_t i = 0; i < strides.size(); ++i) {
      if (joins) merged.strides[i].pop_back();
      merged.strides[i].push_back(strides[i][d]);
    }
  }
  if (merged.sizes.empty()) {
    merged.sizes = {1};
    for (tensor::Shape& stride : merged.strides) stride = {0};
  }
  *this = std::move(merged);
}

int64_t StridedDims::rows() const {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) rows *= sizes[d];
  return rows;
}

}  // namespace hone::device::cpu
