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

#include "engine/row_chooser.hpp"
#include "tensor/buffer.hpp"
#include "tensor/dtype.hpp"
#include "tensor/queue.hpp"

namespace hone::engine {

/// Eight bits a sample; chroma of the last two has half the width and height, rounded up.
enum class FrameFormat : int32_t {
  kRgb24,   ///< one plane, red, green and blue next to each other
  kYuv420,  ///< three planes
  kNv12     ///< two planes, the second with both chroma samples next to each other
};

/// The share of a sample of luma and of each of chroma in red, green and blue, times 2^16.
struct FrameColours {
  int32_t luma_offset = 0;
  int32_t luma = 0;
  std::array<int32_t, 3> u{};
  std::array<int32_t, 3> v{};
};

/// Bilinear resizing: the two source pixels of a target pixel along an axis, and the weight of the second
/// times 2^11.
struct FrameTap {
  int32_t first = 0;
  int32_t second = 0;
  int32_t weight = 0;
};

/// Antialiased resizing: source pixels of a target pixel along an axis, from `first` on, with the weights
/// from `weights` on, times 2^22. Levels are rounded after the columns and again after the rows.
struct FrameWindow {
  int32_t first = 0;
  int32_t count = 0;
  int32_t weights = 0;
};

/// One axis of the rectangle of the input that a frame fills, a tap or a window for each of its pixels.
/// Windows count where they are not null.
struct FrameAxis {
  const FrameTap* taps = nullptr;
  const FrameWindow* windows = nullptr;
  const int32_t* weights = nullptr;
};

/// A frame and how it lies in the input. All pointers are to memory of the device.
struct FrameImage {
  FrameFormat format = FrameFormat::kNv12;
  std::array<const uint8_t*, 3> planes{};
  std::array<int64_t, 3> strides{};  ///< bytes from one row of a plane to the next
  FrameColours colours;              ///< not used for kRgb24
  int32_t left = 0;
  int32_t top = 0;
  int32_t width = 0;
  int32_t height = 0;
  FrameAxis columns;
  FrameAxis rows;
};

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
  /// Null where the host gets all of an output.
  virtual std::unique_ptr<RowChooser> make_row_chooser() const { return nullptr; }
  /// For work in a queue of the device.
  virtual DecoderHandles decoder_handles(const tensor::Queue* /*queue*/) const { return {}; }
};

}  // namespace hone::engine
