// Engine configurations of cuDNN as texts, and what a sweep over their knobs tries. Knows nothing of cuDNN
// itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::device::cuda {

/// An engine's number, and the values of those of its knobs (cudnnBackendKnobType_t) that are not its
/// default.
struct CudnnConfig {
  int64_t engine = 0;
  std::vector<std::pair<int64_t, int64_t>> knobs;
  bool operator==(const CudnnConfig&) const = default;
};

/// "e3,k2=1".
std::string config_text(const CudnnConfig& config);
/// Reads what config_text wrote; bad input otherwise (the text may come from a file).
CudnnConfig parse_config(std::string_view text);

/// The values that an engine takes for one knob: from the least to the most, `stride` apart.
struct CudnnKnobRange {
  int64_t knob = 0;
  int64_t least = 0;
  int64_t most = 0;
  int64_t stride = 1;
};

/// The configuration with one knob changed, for every knob and value; of a knob with more than `most_values`,
/// that many that lie evenly over its range.
std::vector<CudnnConfig> sweep_knobs(const CudnnConfig& config, std::span<const CudnnKnobRange> ranges,
                                     int64_t most_values);

}  // namespace hone::device::cuda
