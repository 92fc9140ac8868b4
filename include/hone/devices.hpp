// The devices of this machine that engines can be built for.
//
//   for (const hone::DeviceInfo& device : hone::devices()) {
//     if (device.unavailable.empty()) std::printf("%s: %s\n", device.name.c_str(), device.model.c_str());
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/tensor.hpp"

namespace hone {

struct DeviceInfo {
  /// A name for BuildOptions::device: "cpu", "cuda", "cuda:1".
  std::string name;
  Place place;
  /// The manufacturer's name: "NVIDIA H200".
  std::string model;
  /// Instruction set or compute capability, and the versions that engines depend on: "AVX2; oneDNN 2.6.3".
  std::string details;
  /// In bytes; for the CPU, the memory of the machine or of the process's control group.
  int64_t total_memory = 0;
  int64_t free_memory = 0;
  /// The values of BuildOptions::precision that are not emulated; "int8" if quantized layers are computed
  /// with integers.
  std::vector<std::string> precisions;
  /// Why no engine can be built for it; then only name and place are set. Empty if engines can be built.
  std::string unavailable;
};

/// Returns the CPU first, then for each other kind all devices up to the first that cannot be used; a kind
/// without devices has one entry with the reason. Loads the libraries of each kind, which creates a CUDA
/// context on a GPU.
std::vector<DeviceInfo> devices();

}  // namespace hone
