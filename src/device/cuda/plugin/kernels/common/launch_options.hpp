// Types that all launchers of this folder share: element types, memory orders of images, and the options of a
// launch.
//
// All launchers enqueue and return; they neither allocate nor wait, so they can be captured into a graph.
// They return the error of the launch, or cudaErrorInvalidValue for a request that they do not support. Sizes
// are in elements unless the name says bytes. For an empty tensor they return success without a launch.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "device/cuda/plugin/kernels/common/device_properties.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"

namespace hone::device::cuda {

/// Floating-point element types; arithmetic is in float.
enum class FloatType : uint8_t { kFloat, kHalf, kBfloat16 };

constexpr size_t float_bytes(FloatType type) { return type == FloatType::kFloat ? 4 : 2; }

/// Memory order of an image of rank 3 to 5: (N, C, pixels) or (N, pixels, C), with pixels row-major.
enum class ImageOrder : uint8_t { kPlain, kChannelsLast };

/// The options of one launch: its stream and device, what it can assume about its neighbours in the stream,
/// and the memory that it needs besides its operands.
struct LaunchOptions {
  cudaStream_t stream = nullptr;
  /// Properties of the stream's GPU; kernels whose configuration depends on them need it.
  const DeviceProperties* device = nullptr;
  /// Programmatic dependent launch: the kernel may start before its predecessor in the stream has ended.
  /// Needs sm_90 or newer.
  bool pdl = false;
  /// True if the next kernel of the stream is one of ours and itself waits for this one
  /// (griddepcontrol.wait). This kernel may then let it start early, if it supports that.
  bool next_waits = false;
  /// True if the previous kernel is a bottleneck in clusters (cluster_bottleneck.hpp), each of whose blocks
  /// leaves room for one block of the next such kernel.
  bool behind_cluster = false;
  /// Zeroed once before the first launch; kernels that count leave it zero again.
  void* counters = nullptr;
  /// The memory for the stamps of launches; null if no stamps are wanted.
  StampSource* stamps = nullptr;
};

/// The address for the stamp of the current launch; null if no stamps are wanted.
inline KernelStamp* next_stamp(const LaunchOptions& options) {
  return options.stamps == nullptr ? nullptr : options.stamps->next();
}

}  // namespace hone::device::cuda
