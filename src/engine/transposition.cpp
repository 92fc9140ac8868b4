// See transposition.hpp.
#include "engine/transposition.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace hone::engine {
namespace {

/// Dimensions in their order in memory, without those of length 1.
std::vector<size_t> lying(const Shape& shape, Layout layout) {
  std::vector<size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (layout == Layout::kChannelsLast) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  std::erase_if(axes, [&](size_t axis) { return shape[axis] == 1; });
  return axes;
}

}  // namespace

std::vector<int64_t> transposition_of(const std::vector<int64_t>& perm, size_t rank) {
  if (!perm.empty()) return perm;
  std::vector<int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  return order;
}

std::optional<Arrangements> same_bytes_transposed(const Shape& shape, const std::vector<int64_t>& order,
                                                  Layout wanted) {
  Shape result;
  for (const int64_t axis : order) result.push_back(shape[static_cast<size_t>(axis)]);
  std::array<Layout, 2> layouts = {Layout::kPlain, Layout::kChannelsLast};
  if (wanted == Layout::kChannelsLast) std::swap(layouts[0], layouts[1]);
  for (const Layout of_input : layouts) {
    for (const Layout of_result : {Layout::kPlain, Layout::kChannelsLast}) {
      if (layout_for_shape(of_input, shape) != of_input || layout_for_shape(of_result, result) != of_result)
        continue;
      std::vector<size_t> axes = lying(result, of_result);
      for (size_t& axis : axes) axis = static_cast<size_t>(order[axis]);
      if (axes == lying(shape, of_input)) return Arrangements{of_input, of_result};
    }
  }
  return std::nullopt;
}

}  // namespace hone::engine
