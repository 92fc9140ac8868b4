// The interface through which a device preprocesses decoded frames: it converts samples in its memory to
// images of a network's input, at the address where the network reads them.
//
// The results are equal to those of the host's preprocessing bit by bit: levels are rounded after the colour
// conversion and after the resizing, and a table maps levels to values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/box_finder.hpp"
#include "engine/frame_image.hpp"
#include "tensor/buffer.hpp"
#include "tensor/dtype.hpp"
#include "tensor/queue.hpp"

namespace hone::engine {

/// The input of a network: images of three channels.
struct FrameTarget {
  tensor::DType dtype = tensor::DType::kFloat32;
  int32_t width = 0;
  int32_t height = 0;
  bool channels_last = false;
  /// For each channel: its colour (0 red, 1 green, 2 blue), the values of the levels 0 to 255, and the value
  /// outside the rectangle.
  std::array<int32_t, 3> colour{0, 1, 2};
  std::array<std::array<float, 256>, 3> levels{};
  std::array<float, 3> margin{};
};

/// Fills images of one target. Used by one thread at a time.
class FrameFiller {
 public:
  virtual ~FrameFiller() = default;
  /// Submits the work to the queue, which is null on the host, where the work is finished when the call
  /// returns. `image` is the first element of an image with the target's type in the device's memory.
  virtual void fill(const FrameImage& frame, std::byte* image, const tensor::Queue* queue) const = 0;
};

/// Handles for a decoder that leaves frames in a device's memory; null if there are none.
struct DecoderHandles {
  void* context = nullptr;  ///< of the driver
  void* stream = nullptr;
};

/// An additional interface of devices that can fill inputs from frames.
class FrameDevice {
 public:
  virtual ~FrameDevice() = default;
  /// Allocates uninitialized host memory with which copies of the device are asynchronous (pinned memory for
  /// a GPU). Throws OutOfMemory if there is no room.
  virtual tensor::Buffer allocate_staging(int64_t bytes) const = 0;
  /// Returns null for an input that the device cannot fill.
  virtual std::unique_ptr<FrameFiller> make_frame_filler(const FrameTarget& target) const = 0;
  /// Returns a finder for outputs of these element types; null if the host must find the boxes. Anchors are
  /// read during the call.
  virtual std::unique_ptr<BoxFinder> make_box_finder(std::span<const BoxHead> /*heads*/,
                                                     std::span<const tensor::DType> /*types*/) const {
    return nullptr;
  }
  /// Handles for work in a queue of the device.
  virtual DecoderHandles decoder_handles(const tensor::Queue* /*queue*/) const { return {}; }
};

}  // namespace hone::engine
