// See hone/devices.hpp.
#include "hone/devices.hpp"

#include "api/views.hpp"
#include "device/device_list.hpp"

namespace hone {

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> infos;
  for (device::DeviceSummary& summary : device::list_devices()) {
    infos.push_back({.name = tensor::place_text(summary.place),
                     .place = api::outer_place(summary.place),
                     .model = std::move(summary.model),
                     .details = std::move(summary.details),
                     .total_memory = summary.total_memory,
                     .free_memory = summary.free_memory,
                     .precisions = std::move(summary.precisions),
                     .unavailable = std::move(summary.unavailable)});
  }
  return infos;
}

}  // namespace hone
