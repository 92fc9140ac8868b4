// See tensor_desc.hpp.
#include "engine/tensor_desc.hpp"

#include <array>
#include <utility>

#include "base/checked.hpp"

namespace hone::engine {
namespace {

constexpr std::array<std::pair<Layout, std::string_view>, 4> kNames = {
    {{Layout::kPlain, "plain"},
     {Layout::kChannelsLast, "channels_last"},
     {Layout::kBlocked8, "blocked8"},
     {Layout::kBlocked16, "blocked16"}}};

/// Returns plain if the layout makes no difference to the bytes.
Layout simplest(const TensorDesc& desc) {
  if (desc.layout == Layout::kPlain || desc.shape.size() < 3) return Layout::kPlain;
  int64_t pixels = 1;
  for (size_t i = 2; i < desc.shape.size(); ++i) pixels *= desc.shape[i];
  const int64_t channels = desc.shape[1];
  if (desc.layout == Layout::kChannelsLast)
    return pixels == 1 || channels == 1 ? Layout::kPlain : desc.layout;
  return pixels == 1 && channels % layout_block(desc.layout) == 0 ? Layout::kPlain : desc.layout;
}

}  // namespace

std::string_view layout_name(Layout layout) { return kNames[static_cast<size_t>(layout)].second; }

Layout parse_layout(std::string_view name) {
  for (const auto& [layout, text] : kNames) {
    if (text == name) return layout;
  }
  fail_bad_input("unknown layout '{}'", name);
}

int64_t layout_block(Layout layout) {
  if (layout == Layout::kBlocked8) return 8;
  return layout == Layout::kBlocked16 ? 16 : 1;
}

Layout layout_for_shape(Layout layout, const Shape& shape) {
  return shape.size() == 4 || shape.size() == 5 ? layout : Layout::kPlain;
}

int64_t TensorDesc::bytes() const {
  int64_t count = tensor::element_count(shape);
  if (const int64_t block = layout_block(layout); block > 1 && count > 0) {
    const int64_t channels = shape.at(1);
    const int64_t padded = base::checked_add(channels, block - 1) / block * block;
    count = base::checked_mul(count / channels, padded);
  }
  return base::checked_mul(count, static_cast<int64_t>(tensor::dtype_size(dtype)));
}

std::string TensorDesc::text() const {
  return fmt::format("{} {} {}", tensor::dtype_name(dtype), tensor::shape_text(shape), layout_name(layout));
}

bool same_arrangement(const TensorDesc& a, const TensorDesc& b) {
  if (a.dtype != b.dtype) return false;
  const Layout la = simplest(a);
  if (la != simplest(b)) return false;
  if (la == Layout::kPlain) return tensor::element_count(a.shape) == tensor::element_count(b.shape);
  return a.shape == b.shape;
}

}  // namespace hone::engine
