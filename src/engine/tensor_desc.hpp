// The arrangement of a value's elements in memory while an engine runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/dtype.hpp"
#include "tensor/precision.hpp"
#include "tensor/shape.hpp"

namespace hone::engine {

using tensor::DType;
using tensor::Precision;
using tensor::Shape;

/// Order of elements. Layouts other than plain exist only for rank 4 and 5 (N, C, spatial...). Blocked
/// layouts split channels into groups of 8 or 16 that are innermost (nChw8c, nChw16c); a last, partial group
/// is padded with zeros.
enum class Layout : uint8_t { kPlain, kChannelsLast, kBlocked8, kBlocked16 };

/// "plain", "channels_last", "blocked8", "blocked16".
std::string_view layout_name(Layout layout);
/// Bad input for an unknown name.
Layout parse_layout(std::string_view name);
/// Number of channels in a group: 8, 16, or 1 for layouts without groups.
int64_t layout_block(Layout layout);
/// `layout` if it exists for the shape, else plain.
Layout layout_for_shape(Layout layout, const Shape& shape);

struct TensorDesc {
  DType dtype = DType::kUndefined;
  Shape shape;
  Layout layout = Layout::kPlain;

  /// Size in memory, including padding.
  int64_t bytes() const;
  /// "bfloat16 1x64x56x56 blocked16".
  std::string text() const;
  friend bool operator==(const TensorDesc&, const TensorDesc&) = default;
};

/// True if the same bytes represent the same tensor in both arrangements (for 1x1 images, a layout may not
/// matter). Plain shapes may differ in rank.
bool same_arrangement(const TensorDesc& a, const TensorDesc& b);

}  // namespace hone::engine
