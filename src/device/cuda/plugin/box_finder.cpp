// See box_finder.hpp.
#include "device/cuda/plugin/box_finder.hpp"

#include <algorithm>
#include <vector>

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/image/box_search.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

class CudaBoxFinder final : public engine::BoxFinder {
 public:
  CudaBoxFinder(Gpu& gpu, std::span<const engine::BoxHead> heads) : gpu_(gpu) {
    for (engine::BoxHead head : heads) {
      const auto bytes = static_cast<int64_t>(2 * sizeof(float)) * head.anchor_count;
      if (bytes > 0) {
        anchors_.push_back(std::make_unique<DeviceBytes>(gpu.memory(), bytes));
        copy_to_device(*anchors_.back(), head.anchors, static_cast<size_t>(bytes));
        head.anchors = reinterpret_cast<const float*>(anchors_.back()->data());
      }
      heads_.push_back(head);
    }
  }

  void find(const engine::BoxSearch& search, const tensor::Queue* queue) const override {
    const auto& stream = static_cast<const CudaQueue&>(*queue);
    const DeviceGuard guard(gpu_.context());
    const LaunchOptions options{.stream = stream.stream(), .device = &stream.device()};
    uint32_t order = 0;
    for (size_t i = 0; i < heads_.size(); ++i) {
      const engine::BoxHead& head = heads_[i];
      const tensor::TensorView& output = search.outputs[i];
      check(decode_boxes({.head = head,
                          .first_order = order,
                          .images = search.images,
                          .places = search.places,
                          .candidates = search.candidates},
                         output.data(), float_type(output.dtype), options),
            "the decoding of boxes");
      order += static_cast<uint32_t>(head.rows.boxes * (head.all_classes ? head.classes : 1));
    }
    check(suppress_boxes({.selection = search.selection,
                          .images = search.images,
                          .places = search.places,
                          .candidates = search.candidates,
                          .lists = search.lists},
                         options),
          "non-maximum suppression");
  }

 private:
  Gpu& gpu_;
  std::vector<engine::BoxHead> heads_;
  std::vector<std::unique_ptr<DeviceBytes>> anchors_;
};

}  // namespace

std::unique_ptr<engine::BoxFinder> make_cuda_box_finder(Gpu& gpu, std::span<const engine::BoxHead> heads,
                                                        std::span<const tensor::DType> types) {
  if (!std::ranges::all_of(types, is_float_type)) return nullptr;
  return std::make_unique<CudaBoxFinder>(gpu, heads);
}

}  // namespace hone::device::cuda
