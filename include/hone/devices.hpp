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
  /// As BuildOptions::device takes it: "cpu", "cuda", "cuda:1".
  std::string name;
  Place place;
  /// Its maker's name of it: "NVIDIA H200".
  std::string model;
  /// Instructions or compute capability, and the versions that engines are bound to: "AVX2; oneDNN 2.6.3".
  std::string details;
  /// Bytes; of the CPU those of the machine, or of the control group that the process is in.
  int64_t total_memory = 0;
  int64_t free_memory = 0;
  /// The values of BuildOptions::precision that are not emulated; "int8" where quantized layers are
  /// multiplied as integers.
  std::vector<std::string> precisions;
  /// Why no engine can be built for it; only name and place are set then. Empty otherwise.
  std::string unavailable;
};

/// The CPU first, then of each other kind all devices up to the first that cannot be used; a kind without any
/// is one entry that says why. Loads what the kinds need, which on a GPU makes a context of CUDA.
std::vector<DeviceInfo> devices();

}  // namespace hone
