// See tensorrt_cache.hpp.
#include "quantize/tensorrt_cache.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace hone::quantize {
namespace {

constexpr std::string_view kMagic = "TRT-";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

std::optional<float> parse_scale(const std::string& digits) {
  constexpr size_t kDigits = 8;
  uint32_t bits = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, bits, 16);
  if (digits.size() != kDigits || error != std::errc() || stop != end) return std::nullopt;
  return std::bit_cast<float>(bits);
}

/// Splits at the last colon, because names may also contain colons.
std::pair<std::string, float> parse_line(const std::string& line, size_t number) {
  const size_t colon = line.rfind(": ");
  const auto scale = colon == std::string::npos ? std::nullopt : parse_scale(line.substr(colon + 2));
  if (!scale) fail_bad_input("line {} is '{}', expected 'tensor name: 8 hexadecimal digits'", number, line);
  const std::string name = line.substr(0, colon);
  if (!(*scale > 0) || std::isinf(*scale)) fail_bad_input("tensor '{}' has the scale {}", name, *scale);
  return {name, *scale};
}

TensorrtCache parse(const std::string& text) {
  std::istringstream lines(text);
  TensorrtCache cache;
  std::set<std::string> names;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (number == 1) {
      cache.header = line;
      continue;
    }
    if (line.empty()) continue;
    cache.scales.push_back(parse_line(line, number));
    if (!names.insert(cache.scales.back().first).second)
      fail_bad_input("line {} names tensor '{}' again", number, cache.scales.back().first);
  }
  if (!cache.header.starts_with(kMagic)) fail_bad_input("it is no calibration cache of TensorRT");
  if (cache.scales.empty()) fail_bad_input("the calibration cache of TensorRT names no tensor");
  return cache;
}

}  // namespace

bool is_tensorrt_cache(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  return stream.read(start.data(), static_cast<std::streamsize>(start.size())) && start == kMagic;
}

TensorrtCache read_tensorrt_cache(const std::filesystem::path& file) {
  try {
    return parse(base::read_file(file, kMostBytes));
  } catch (const Error& error) {
    if (error.where().starts_with(file.string())) throw;
    throw error.within(file.string());
  }
}

void write_tensorrt_cache(const std::filesystem::path& file, const TensorrtCache& cache) {
  std::string text = cache.header + "\n";
  for (const auto& [name, scale] : cache.scales) {
    if (name.find_first_of("\r\n") != std::string::npos)
      fail_bad_input("the name of tensor '{}' has a line break, which a cache of TensorRT cannot hold", name);
    text += fmt::format("{}: {:08x}\n", name, std::bit_cast<uint32_t>(scale));
  }
  base::write_file_atomic(file, text);
}

std::string tensorrt_header(int version, bool minmax) {
  return fmt::format("TRT-{}-{}", version, minmax ? "MinMaxCalibration" : "EntropyCalibration2");
}

}  // namespace hone::quantize
