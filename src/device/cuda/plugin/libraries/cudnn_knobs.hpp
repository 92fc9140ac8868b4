// Engine configurations of cuDNN as texts, and the sweep over their knobs. It does not use cuDNN itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::device::cuda {

/// An engine's number, and the values of those knobs (cudnnBackendKnobType_t) that differ from the default.
struct CudnnConfig {
  int64_t engine = 0;
  std::vector<std::pair<int64_t, int64_t>> knobs;
  bool operator==(const CudnnConfig&) const = default;
};

/// "e3,k2=1".
std::string config_text(const CudnnConfig& config);
/// Parses the result of config_text(); bad input otherwise, because the text may come from a file.
CudnnConfig parse_config(std::string_view text);

/// The values that an engine accepts for one knob: from the least to the greatest in steps of `stride`.
struct CudnnKnobRange {
  int64_t knob = 0;
  int64_t least = 0;
  int64_t most = 0;
  int64_t stride = 1;
};

/// Returns the configuration with one knob changed, for every knob and value. For a knob with more than
/// `most_values` values, it takes that many values, spread evenly.
std::vector<CudnnConfig> sweep_knobs(const CudnnConfig& config, std::span<const CudnnKnobRange> ranges,
                                     int64_t most_values);

}  // namespace hone::device::cuda
