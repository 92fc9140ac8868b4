// The common part of all launchers of this folder: element types, orders of an image's elements, where to
// launch.
//
// All launchers enqueue and return; they neither allocate nor wait, so they can be captured into a graph.
// They return what the launch returned, or cudaErrorInvalidValue for a request they do not cover. Sizes are
// in elements unless a name says bytes. An empty tensor is success without a launch.
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

/// Memory order of an image of rank 3 to 5: (N, C, pixels) or (N, pixels, C), pixels row-major.
enum class ImageOrder : uint8_t { kPlain, kChannelsLast };

/// One launch: where it goes, what it may rely on of its neighbours, and the memory that it needs besides its
/// operands.
struct LaunchOptions {
  cudaStream_t stream = nullptr;
  /// Properties of the stream's GPU; kernels whose configuration depends on them need it.
  const DeviceProperties* device = nullptr;
  /// Programmatic dependent launch: the kernel may start while its predecessor in the stream ends. Needs
  /// sm_90 or newer.
  bool pdl = false;
  /// True if the next kernel of the stream is one of ours that waits for this one itself
  /// (griddepcontrol.wait), so that it may be let in early, where this one can.
  bool next_waits = false;
  /// True if the kernel ahead is a bottleneck in clusters, whose blocks leave room for one each of the next
  /// such kernel (cluster_bottleneck.hpp).
  bool behind_cluster = false;
  /// Zeroed once before the first launch; kernels that count reset it to zeros.
  void* counters = nullptr;
  /// The memory in which launches leave their stamps; null: none.
  StampSource* stamps = nullptr;
};

/// The place for the stamp of the launch that is being made; null where nobody asks.
inline KernelStamp* next_stamp(const LaunchOptions& options) {
  return options.stamps == nullptr ? nullptr : options.stamps->next();
}

}  // namespace hone::device::cuda
