// See row_chooser.hpp.
#include "device/cuda/plugin/row_chooser.hpp"

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/image/row_choice.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

class CudaRowChooser final : public engine::RowChooser {
 public:
  explicit CudaRowChooser(Gpu& gpu) : gpu_(gpu) {}

  void choose(const tensor::TensorView& output, const engine::RowRule& rule, int64_t images, std::byte* lists,
              const tensor::Queue* queue) const override {
    const auto& stream = static_cast<const CudaQueue&>(*queue);
    const DeviceGuard guard(gpu_.context());
    const RowChoice choice{.image = rule.image,
                           .boxes = rule.boxes,
                           .numbers = rule.numbers,
                           .inner = rule.inner,
                           .outer_stride = rule.outer_stride,
                           .inner_stride = rule.inner_stride,
                           .number_stride = rule.number_stride,
                           .first_gate = rule.first_gate,
                           .gates = rule.gates,
                           .level = rule.level,
                           .images = images,
                           .most = engine::RowList::most(rule)};
    check(choose_rows(choice, output.data(), float_type(output.dtype), reinterpret_cast<int32_t*>(lists),
                      {.stream = stream.stream(), .device = &stream.device()}),
          "the choice of boxes");
  }

 private:
  Gpu& gpu_;
};

}  // namespace

std::unique_ptr<engine::RowChooser> make_cuda_row_chooser(Gpu& gpu) {
  return std::make_unique<CudaRowChooser>(gpu);
}

}  // namespace hone::device::cuda
