// See scale_layout.hpp.
#include "graph/scale_layout.hpp"

#include <algorithm>

#include "tensor/shape.hpp"

namespace hone::graph {

ScaleLayout::ScaleLayout(const Attributes& attributes, std::span<const int64_t> data,
                         std::span<const int64_t> scale) {
  const int64_t block = attributes.get_int("block_size");
  if (block < 0) fail_bad_input("attribute 'block_size' is {}, expected at least 0", block);
  const bool single = scale.size() <= 1 && tensor::element_count(scale) == 1;
  if (single && block == 0) return;
  const int64_t axis = tensor::normalize_axis(attributes.get_int("axis"), static_cast<int64_t>(data.size()),
                                              "attribute 'axis'");
  // No element of an empty dimension is ever looked up, so its length only has to be valid.
  length_ = std::max<int64_t>(1, data[static_cast<size_t>(axis)]);
  for (size_t i = static_cast<size_t>(axis) + 1; i < data.size(); ++i) {
    inner_ *= std::max<int64_t>(1, data[i]);
  }
  if (block == 0) {
    if (scale.size() != 1 || scale[0] != data[static_cast<size_t>(axis)]) {
      fail_bad_input("input 1 has shape {}, expected one scale, or {} for axis {}", tensor::shape_text(scale),
                     data[static_cast<size_t>(axis)], axis);
    }
    return;
  }
  blocked_ = true;
  block_size_ = block;
  tensor::Shape expected(data.begin(), data.end());
  int64_t& blocks = expected[static_cast<size_t>(axis)];
  blocks = blocks / block + (blocks % block > 0 ? 1 : 0);
  blocks_ = blocks;
  if (!std::equal(scale.begin(), scale.end(), expected.begin(), expected.end())) {
    fail_bad_input("input 1 has shape {}, expected {} for blocks of {}", tensor::shape_text(scale),
                   tensor::shape_text(expected), block);
  }
}

}  // namespace hone::graph
