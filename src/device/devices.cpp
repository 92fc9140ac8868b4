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

const engine::Device& cuda_device() {
  void* symbol = base::load_plugin_symbol("cuda", "hone_cuda_device");
  return *reinterpret_cast<FindCudaDevice>(symbol)(0, process_is_ours);
}

}  // namespace

void own_process() { process_is_ours = true; }

std::vector<std::string> device_names() { return {"cpu", "cuda"}; }

const engine::Device& find_device(std::string_view name) {
  if (name == "cpu") return cpu::cpu_device();
  if (name == "cuda") return cuda_device();
  fail_usage("unknown device '{}' ({})", name, fmt::join(device_names(), ", "));
}

void require_device(std::string_view name) {
  if (name != "cuda") return;
  // The driver's nodes, on Linux and on Windows' subsystem for it.
  for (const char* node : {"/dev/nvidiactl", "/dev/dxg"}) {
    if (std::filesystem::exists(node)) return;
  }
  fail_environment("no NVIDIA driver is loaded on this machine, so nothing can run on a GPU");
}

const engine::Device& device_of_fingerprint(const std::string& fingerprint) {
  const engine::Device& device = find_device(fingerprint.starts_with("cuda;") ? "cuda" : "cpu");
  if (device.fingerprint() != fingerprint) {
    fail_environment("the engine was built for '{}', this is '{}'; build it again here", fingerprint,
                     device.fingerprint());
  }
  return device;
}

}  // namespace hone::device
