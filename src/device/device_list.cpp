// See device_list.hpp.
#include "device/device_list.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/plugin_manifest.hpp"
#include "device/devices.hpp"
#include "system/cpu.hpp"
#include "system/memory.hpp"
#include "system/monitor.hpp"

namespace hone::device {
namespace {

using tensor::Precision;

std::vector<std::string> precisions_of(const engine::Device& device) {
  std::vector<std::string> names;
  for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16}) {
    if (device.computes_in(precision)) names.emplace_back(tensor::precision_name(precision));
  }
  const std::vector<std::string> passes = device.passes(Precision::kFp32, 0);
  if (std::ranges::find(passes, "quantized_lowering") != passes.end())
    names.emplace_back(tensor::precision_name(Precision::kInt8));
  return names;
}

/// The part after the first semicolon of a fingerprint.
std::string after_semicolon(const std::string& text) {
  const size_t at = text.find("; ");
  return at == std::string::npos ? "" : text.substr(at + 2);
}

DeviceSummary summary_of(const engine::Device& device) {
  DeviceSummary summary{.place = device.place()};
  summary.details = after_semicolon(device.fingerprint());
  summary.model = system::cpu_name();
  if (summary.place.kind != tensor::PlaceKind::kCpu) {
    // The fingerprint of a GPU names it first.
    summary.model = summary.details.substr(0, summary.details.find(';'));
    summary.details = after_semicolon(summary.details);
  }
  const engine::DeviceMemory memory = device.memory();
  const bool is_host = memory.total == 0;
  summary.total_memory = is_host ? system::machine_memory() : memory.total;
  summary.free_memory = is_host ? system::available_memory() : memory.free;
  summary.precisions = precisions_of(device);
  return summary;
}

}  // namespace

std::vector<DeviceSummary> list_devices() {
  std::vector<DeviceSummary> list = {summary_of(find_device(tensor::Place{}))};
  for (const base::OfferedDevice& offer : base::offered_devices()) {
    tensor::Place place = tensor::parse_place(offer.device->name);
    try {
      require_device(offer.device->name);
      for (;; ++place.ordinal) list.push_back(summary_of(find_device(place)));
    } catch (const Error& error) {
      if (place.ordinal == 0) list.push_back({.place = place, .unavailable = error.what()});
    }
  }
  return list;
}

}  // namespace hone::device
