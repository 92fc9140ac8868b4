// The contract between a device and decoded frames: the device turns samples that lie in its memory into
// images of a network's input, where the network reads them.
//
// Numbers are those of the host's preprocessing to the bit: whole levels after the colour conversion and
// after the resizing, and a table that says what a level becomes.
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
  /// For each channel its colour (0 red, 1 green, 2 blue), the values of the levels 0 to 255, and the value
  /// around the rectangle.
  std::array<int32_t, 3> colour{0, 1, 2};
  std::array<std::array<float, 256>, 3> levels{};
  std::array<float, 3> margin{};
};

/// Fills images of one target. Used by one thread at a time.
class FrameFiller {
 public:
  virtual ~FrameFiller() = default;
  /// Hands the work over to the queue, which is null on the host, where it is done when the call returns.
  /// `image`: the first element of an image of the target's type in the device's memory.
  virtual void fill(const FrameImage& frame, std::byte* image, const tensor::Queue* queue) const = 0;
};

/// A decoder that leaves frames in a device's memory needs them; null where there are none.
struct DecoderHandles {
  void* context = nullptr;  ///< of the driver
  void* stream = nullptr;
};

/// An interface that devices have besides engine::Device where they fill inputs from frames.
class FrameDevice {
 public:
  virtual ~FrameDevice() = default;
  /// Host memory, of any content, from and to which copies of the device wait for nobody: pinned memory for a
  /// GPU. OutOfMemory where there is no room.
  virtual tensor::Buffer allocate_staging(int64_t bytes) const = 0;
  /// Null for an input that the device does not fill.
  virtual std::unique_ptr<FrameFiller> make_frame_filler(const FrameTarget& target) const = 0;
  /// For outputs of these element types; null where the host has to find the boxes. Anchors are read now.
  virtual std::unique_ptr<BoxFinder> make_box_finder(std::span<const BoxHead> /*heads*/,
                                                     std::span<const tensor::DType> /*types*/) const {
    return nullptr;
  }
  /// For work in a queue of the device.
  virtual DecoderHandles decoder_handles(const tensor::Queue* /*queue*/) const { return {}; }
};

}  // namespace hone::engine
