// Peak rates of a device, for floors. Only rates that were measured, none from data sheets.
#pragma once

#include <optional>
#include <string>

namespace hone::analysis {

struct DeviceRates {
  double bytes_per_second = 0;  ///< copying within the device's memory
  double flops_per_second = 0;  ///< matrix products in the precision
};

/// Nullopt for a device or precision that was not measured. `precision` as in a trace's metadata.
std::optional<DeviceRates> device_rates(const std::string& device, const std::string& precision);

}  // namespace hone::analysis
