// See layer_rows.hpp.
#include "quantize/layer_rows.hpp"

#include <algorithm>
#include <numeric>

#include "graph/operator.hpp"

namespace hone::quantize {
namespace {

using graph::Node;
using tensor::Tensor;

constexpr size_t kMostRows = 4096;

std::vector<int64_t> integers_or(const Node& node, const char* name, size_t count, int64_t value) {
  std::vector<int64_t> result =
      node.attributes.has(name) ? node.attributes.get_ints(name) : std::vector<int64_t>();
  if (result.empty()) result.assign(count, value);
  return result;
}

size_t product(const std::vector<int64_t>& sizes) {
  return static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
}

/// Advances to the next index below `sizes`; the last dimension changes first.
void advance(std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return;
    index[d] = 0;
  }
}

/// Converts the row-major index `place` to an index for each dimension.
std::vector<int64_t> index_of(size_t place, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = static_cast<int64_t>(place % static_cast<size_t>(sizes[d]));
    place /= static_cast<size_t>(sizes[d]);
  }
  return index;
}

}  // namespace

std::optional<LayerRows> LayerRows::of(const Node& node, const Tensor& weights, int64_t axis) {
  LayerRows rows;
  rows.outputs_ = static_cast<size_t>(weights.shape()[static_cast<size_t>(axis)]);
  rows.length_ = static_cast<size_t>(weights.size()) / rows.outputs_;
  rows.weights_are_rows_ = axis == 0;
  if (graph::traits_of(node).product == graph::Product::kMatrices) return rows;
  const bool plain = node.op == "Conv" &&
                     (!node.attributes.has("auto_pad") || node.attributes.get_string("auto_pad") == "NOTSET");
  if (!plain) return std::nullopt;
  rows.groups_ = static_cast<size_t>(node.attributes.get_int("group"));
  rows.kernel_.assign(weights.shape().begin() + 2, weights.shape().end());
  const size_t rank = rows.kernel_.size();
  rows.strides_ = integers_or(node, "strides", rank, 1);
  rows.dilations_ = integers_or(node, "dilations", rank, 1);
  rows.pads_ = integers_or(node, "pads", 2 * rank, 0);
  return rows;
}

std::vector<float> LayerRows::read(const Tensor& input, size_t group, size_t parts) const {
  const size_t most = std::max<size_t>(std::max(kMostRows, 4 * length_) / std::max<size_t>(parts, 1), 1);
  return kernel_.empty() ? read_product(input, most) : read_convolution(input, group, most);
}

std::vector<float> LayerRows::read_product(const Tensor& input, size_t most) const {
  const auto values = input.values<float>();
  const size_t count = values.size() / length_;
  const size_t step = (count + most - 1) / std::max<size_t>(most, 1);
  std::vector<float> rows;
  for (size_t row = 0; row < count; row += std::max<size_t>(step, 1)) {
    const auto one = values.subspan(row * length_, length_);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

std::vector<float> LayerRows::read_convolution(const Tensor& input, size_t group, size_t most) const {
  const size_t rank = kernel_.size();
  const std::vector<int64_t> image(input.shape().begin() + 2, input.shape().end());
  std::vector<int64_t> places(rank);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t reach = dilations_[d] * (kernel_[d] - 1) + 1;
    places[d] = std::max<int64_t>((image[d] + pads_[d] + pads_[d + rank] - reach) / strides_[d] + 1, 0);
  }
  const auto values = input.values<float>();
  const size_t pixels = product(image);
  const size_t all_channels = static_cast<size_t>(input.shape()[1]);
  const size_t channels = all_channels / groups_;
  const size_t taps = product(kernel_);
  const size_t each = product(places);
  const size_t count = static_cast<size_t>(input.shape()[0]) * each;
  const size_t step = std::max<size_t>((count + most - 1) / most, 1);
  std::vector<float> rows;
  for (size_t row = 0; row < count; row += step) {
    const std::vector<int64_t> place = index_of(row % each, places);
    const size_t first = row / each * all_channels + group * channels;
    for (size_t c = 0; c < channels; ++c) {
      const auto plane = values.subspan((first + c) * pixels, pixels);
      std::vector<int64_t> tap(rank);
      for (size_t t = 0; t < taps; ++t, advance(tap, kernel_)) {
        size_t at = 0;
        bool inside = true;
        for (size_t d = 0; d < rank; ++d) {
          const int64_t x = place[d] * strides_[d] - pads_[d] + tap[d] * dilations_[d];
          inside = inside && x >= 0 && x < image[d];
          at = at * static_cast<size_t>(image[d]) + static_cast<size_t>(std::max<int64_t>(x, 0));
        }
        rows.push_back(inside ? plane[at] : 0);
      }
    }
  }
  return rows;
}

}  // namespace hone::quantize
