// See frame_filler.hpp.
#include "device/cuda/plugin/frame_filler.hpp"

#include <algorithm>

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/image/frame_input.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

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
    FrameInput input{frame};
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
