// See frame_filler.hpp.
#include "device/cuda/plugin/frame_filler.hpp"

#include <algorithm>

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/image/frame_input.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

// Both sides of the contract name the same numbers; tables are read as they lie in the device's memory.
static_assert(sizeof(engine::FrameTap) == sizeof(FrameTap));
static_assert(sizeof(engine::FrameWindow) == sizeof(FrameWindow));
static_assert(static_cast<int>(engine::FrameFormat::kNv12) == static_cast<int>(FrameFormat::kNv12));

class CudaFrameFiller final : public engine::FrameFiller {
 public:
  CudaFrameFiller(Gpu& gpu, const engine::FrameTarget& target)
      : gpu_(gpu), target_(target), levels_(gpu.memory(), static_cast<int64_t>(sizeof(target.levels))) {
    copy_to_device(levels_, target.levels.data(), sizeof(target.levels));
  }

  void fill(const engine::FrameImage& frame, std::byte* image, const tensor::Queue* queue) const override {
    const auto& stream = static_cast<const CudaQueue&>(*queue);
    const DeviceGuard guard(gpu_.context());
    const ImageOrder order = target_.channels_last ? ImageOrder::kChannelsLast : ImageOrder::kPlain;
    check(fill_frame_input(input_of(frame), image, float_type(target_.dtype), order,
                           {.stream = stream.stream(), .device = &stream.device()}),
          "the preprocessing of a frame");
  }

 private:
  FrameInput input_of(const engine::FrameImage& frame) const {
    FrameInput input;
    std::ranges::copy(frame.planes, input.planes);
    std::ranges::copy(frame.strides, input.strides);
    input.format = static_cast<FrameFormat>(frame.format);
    input.colours.luma_offset = frame.colours.luma_offset;
    input.colours.luma = frame.colours.luma;
    std::ranges::copy(frame.colours.u, input.colours.u);
    std::ranges::copy(frame.colours.v, input.colours.v);
    input.left = frame.left;
    input.top = frame.top;
    input.width = frame.width;
    input.height = frame.height;
    input.columns = reinterpret_cast<const FrameTap*>(frame.columns.taps);
    input.rows = reinterpret_cast<const FrameTap*>(frame.rows.taps);
    input.column_windows = reinterpret_cast<const FrameWindow*>(frame.columns.windows);
    input.row_windows = reinterpret_cast<const FrameWindow*>(frame.rows.windows);
    input.column_weights = frame.columns.weights;
    input.row_weights = frame.rows.weights;
    input.input_width = target_.width;
    input.input_height = target_.height;
    std::ranges::copy(target_.colour, input.colour);
    input.levels = reinterpret_cast<const float*>(levels_.data());
    std::ranges::copy(target_.margin, input.margin);
    return input;
  }

  Gpu& gpu_;
  engine::FrameTarget target_;
  DeviceBytes levels_;
};

}  // namespace

std::unique_ptr<engine::FrameFiller> make_cuda_frame_filler(Gpu& gpu, const engine::FrameTarget& target) {
  if (!is_float_type(target.dtype)) return nullptr;
  return std::make_unique<CudaFrameFiller>(gpu, target);
}

}  // namespace hone::device::cuda
