// Measured peak rates of devices, from which floors are computed. Rates from data sheets are not used.
#pragma once

#include <optional>
#include <string>

namespace hone::analysis {

struct DeviceRates {
  double bytes_per_second = 0;  ///< for copies within the device's memory
  double flops_per_second = 0;  ///< for matrix products in the precision
};

/// Nullopt for a device or precision that was not measured. `precision` has the form of a trace's metadata.
std::optional<DeviceRates> device_rates(const std::string& device, const std::string& precision);

}  // namespace hone::analysis
