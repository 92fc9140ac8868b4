// See devices.hpp.
#include "device/devices.hpp"

#include <filesystem>

#include "base/plugin.hpp"
#include "device/cpu/cpu_device.hpp"

namespace hone::device {
namespace {

/// The plugin's C interface: its device, or an exception of hone's own.
using FindCudaDevice = const engine::Device* (*)(int ordinal, bool own_process);

bool process_is_ours = false;

const engine::Device& cuda_device(int ordinal) {
  void* symbol = base::load_plugin_symbol("cuda", "hone_cuda_device");
  return *reinterpret_cast<FindCudaDevice>(symbol)(ordinal, process_is_ours);
}

/// Of the kind of device with which the fingerprint begins.
tensor::Place first_place_of(std::string_view fingerprint) {
  const bool cuda = fingerprint.starts_with(tensor::place_text({tensor::PlaceKind::kCuda}) + ";");
  return {cuda ? tensor::PlaceKind::kCuda : tensor::PlaceKind::kCpu};
}

}  // namespace

void own_process() { process_is_ours = true; }

const engine::Device& find_device(tensor::Place place) {
  return place.kind == tensor::PlaceKind::kCpu ? cpu::cpu_device() : cuda_device(place.ordinal);
}

const engine::Device& find_device(std::string_view text) { return find_device(tensor::parse_place(text)); }

void require_device(std::string_view text) {
  if (tensor::parse_place(text).kind != tensor::PlaceKind::kCuda) return;
  // The driver's nodes, on Linux and on Windows' subsystem for it.
  for (const char* node : {"/dev/nvidiactl", "/dev/dxg"}) {
    if (std::filesystem::exists(node)) return;
  }
  fail_environment("no NVIDIA driver is loaded on this machine, so nothing can run on a GPU");
}

const engine::Device& device_of_fingerprint(const std::string& fingerprint,
                                            std::optional<tensor::Place> place) {
  const tensor::Place first = first_place_of(fingerprint);
  if (place && place->kind != first.kind)
    fail_usage("the engine was built for '{}', not for {}", fingerprint, tensor::place_text(*place));
  const engine::Device& device = find_device(place.value_or(first));
  if (device.fingerprint() != fingerprint) {
    fail_environment("the engine was built for '{}', this is '{}'; build it again here", fingerprint,
                     device.fingerprint());
  }
  return device;
}

}  // namespace hone::device
