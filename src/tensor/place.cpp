// See place.hpp.
#include "tensor/place.hpp"

#include <charconv>

#include "base/error.hpp"

namespace hone::tensor {
namespace {

constexpr std::string_view kCpuName = "cpu";
constexpr std::string_view kCudaName = "cuda";

/// Parses decimal digits without a sign or leading zeros; returns -1 for any other text and for numbers
/// beyond 32 bits.
int32_t parse_ordinal(std::string_view digits) {
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return -1;
  if (digits.size() > 1 && digits[0] == '0') return -1;
  int32_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return error == std::errc() && end == digits.data() + digits.size() ? ordinal : -1;
}

}  // namespace

Place parse_place(std::string_view text) {
  if (text == kCpuName) return {};
  if (text == kCudaName) return {PlaceKind::kCuda};
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.substr(0, colon) != kCudaName)
    fail_usage("unknown device '{}' (cpu, cuda, cuda:1)", text);
  const int32_t ordinal = parse_ordinal(text.substr(colon + 1));
  if (ordinal < 0) fail_usage("'{}' names no GPU: cuda:0 is the first one, cuda:1 the second", text);
  return {PlaceKind::kCuda, ordinal};
}

std::string place_text(Place place) {
  if (place.kind == PlaceKind::kCpu) return std::string(kCpuName);
  if (place.ordinal == 0) return std::string(kCudaName);
  return fmt::format("{}:{}", kCudaName, place.ordinal);
}

}  // namespace hone::tensor
