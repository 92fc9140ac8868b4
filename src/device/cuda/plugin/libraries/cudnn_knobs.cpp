// See cudnn_knobs.hpp.
#include "device/cuda/plugin/libraries/cudnn_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace hone::device::cuda {

std::string config_text(const CudnnConfig& config) {
  std::string text = fmt::format("e{}", config.engine);
  for (const auto& [knob, value] : config.knobs) text += fmt::format(",k{}={}", knob, value);
  return text;
}

CudnnConfig parse_config(std::string_view text) {
  const auto fail = [&] {
    throw CudnnRefusal(ErrorKind::kBadInput, fmt::format("'{}' is no cuDNN engine configuration", text));
  };
  const char* at = text.data();
  const char* end = text.data() + text.size();
  const auto number = [&](char mark) {
    int64_t value = 0;
    if (at == end || *at != mark) fail();
    const auto [next, error] = std::from_chars(at + 1, end, value);
    if (error != std::errc()) fail();
    at = next;
    return value;
  };
  CudnnConfig config;
  config.engine = number('e');
  while (at != end) {
    if (*at++ != ',') fail();
    const int64_t knob = number('k');
    config.knobs.emplace_back(knob, number('='));
  }
  return config;
}

std::vector<CudnnConfig> sweep_knobs(const CudnnConfig& config, std::span<const CudnnKnobRange> ranges,
                                     int64_t most_values) {
  std::vector<CudnnConfig> result;
  for (const CudnnKnobRange& range : ranges) {
    if (range.most < range.least) continue;
    const int64_t stride = std::max<int64_t>(1, range.stride);
    const int64_t steps = (range.most - range.least) / stride;
    const int64_t values = std::min(steps + 1, most_values);
    const auto known = std::find_if(config.knobs.begin(), config.knobs.end(),
                                    [&](const auto& choice) { return choice.first == range.knob; });
    for (int64_t i = 0; i < values; ++i) {
      const int64_t step = values == 1 ? 0 : i * steps / (values - 1);
      const int64_t value = range.least + step * stride;
      CudnnConfig changed = config;
      if (known == config.knobs.end()) {
        changed.knobs.emplace_back(range.knob, value);
      } else {
        changed.knobs[static_cast<size_t>(known - config.knobs.begin())].second = value;
      }
      if (changed != config) result.push_back(std::move(changed));
    }
  }
  return result;
}

}  // namespace hone::device::cuda
