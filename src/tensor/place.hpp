// A place for memory or work: the host, or one of the GPUs.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace hone::tensor {

enum class PlaceKind : uint8_t { kCpu, kCuda };

struct Place {
  PlaceKind kind = PlaceKind::kCpu;
  /// Number of a GPU among those that CUDA shows to the process, from 0; 0 on the host.
  int32_t ordinal = 0;

  auto operator<=>(const Place&) const = default;
};

/// Parses "cpu", "cuda" (the first GPU) or "cuda:1". Usage error for anything else. It does not check whether
/// this GPU exists.
Place parse_place(std::string_view text);
/// "cpu", "cuda" for the first GPU, "cuda:1".
std::string place_text(Place place);

}  // namespace hone::tensor
