// The devices of this machine that engines can be built for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/place.hpp"

namespace hone::device {

struct DeviceSummary {
  tensor::Place place;
  std::string model;    ///< "NVIDIA H200"
  std::string details;  ///< instructions or compute capability, and versions: "AVX2; oneDNN 2.6.3"
  int64_t total_memory = 0;
  int64_t free_memory = 0;
  /// The precisions that steps compute in, int8 among them where quantized ones are multiplied as integers.
  std::vector<std::string> precisions;
  /// Why it cannot be used; the rest is empty then.
  std::string unavailable;
};

/// The CPU, then of each kind that plugins have all devices up to the first that cannot be used. A kind
/// without any is one entry that says why. Loads the plugins.
std::vector<DeviceSummary> list_devices();

}  // namespace hone::device
