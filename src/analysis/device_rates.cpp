// See device_rates.hpp. The figures of the H200: docs/performance/h200-layers.md.
#include "analysis/device_rates.hpp"

namespace hone::analysis {

std::optional<DeviceRates> device_rates(const std::string& device, const std::string& precision) {
  constexpr double kH200Bytes = 4.3e12;
  constexpr double kH200HalfFlops = 790e12;
  const bool half = precision == "fp16" || precision == "bf16";
  if (device.find("H200") != std::string::npos && half) return DeviceRates{kH200Bytes, kH200HalfFlops};
  return std::nullopt;
}

}  // namespace hone::analysis
