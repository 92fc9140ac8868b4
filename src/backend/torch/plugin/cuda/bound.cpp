// Runs PyTorch on the caller's memory, in a stream that others also use.
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"

namespace hone::backend::aten {
namespace {

at::Tensor tensor_over(const tensor::TensorView& view, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().dtype(to_scalar_type(view.dtype)).device(device);
  return at::from_blob(view.data(), at::IntArrayRef(view.shape), options);
}

tensor::TensorView view_over(const at::Tensor& tensor, const DeviceExchange& exchange) {
  const auto bytes = static_cast<int64_t>(tensor.nbytes());
  auto* data = static_cast<std::byte*>(tensor.data_ptr());
  return {
      .buffer = {.place = exchange.place(), .data = data, .bytes = bytes, .owner = nullptr, .ready = nullptr},
      .dtype = to_dtype(tensor.scalar_type()),
      .shape = tensor.sizes().vec(),
      .strides = {}};
}

class StreamRuns final : public BoundRuns {
 public:
  StreamRuns(const Runner& model, std::span<const tensor::TensorView> inputs, const DeviceExchange& exchange,
             const OutputType& output_type)
      : stream_(c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(exchange.stream()),
                                                 model.placement().device.index())) {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    runner_ = model.share();
    for (const tensor::TensorView& input : inputs)
      inputs_.push_back(tensor_over(input, model.placement().device));
    const std::vector<at::Tensor> results = compute();
    for (size_t i = 0; i < results.size(); ++i) {
      const at::ScalarType type = to_scalar_type(output_type(i, results[i]));
      outputs_.push_back(at::empty(results[i].sizes(), results[i].options().dtype(type)));
      views_.push_back(view_over(outputs_.back(), exchange));
    }
    stream_.synchronize();
  }

  /// The next run reuses memory that a run allocates, so results are copied to memory that stays.
  void submit() override {
    translated([&] {
      const c10::InferenceMode inference;
      const c10::cuda::CUDAStreamGuard guard(stream_);
      const std::vector<at::Tensor> results = compute();
      for (size_t i = 0; i < results.size(); ++i) outputs_[i].copy_(results[i], /*non_blocking=*/true);
    });
  }

  const std::vector<tensor::TensorView>& outputs() const override { return views_; }

 private:
  std::vector<at::Tensor> compute() {
    runner_->set_inputs(inputs_, /*pinned=*/false);
    return runner_->run();
  }

  const c10::cuda::CUDAStream stream_;
  std::unique_ptr<Runner> runner_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  std::vector<tensor::TensorView> views_;
};

}  // namespace

std::unique_ptr<BoundRuns> make_stream_runs(const Runner& runner, std::span<const tensor::TensorView> inputs,
                                            const DeviceExchange& exchange, const OutputType& output_type) {
  // Streams do not wait for the stream in which the weights were copied.
  synchronize(runner.placement().device);
  return std::make_unique<StreamRuns>(runner, inputs, exchange, output_type);
}

}  // namespace hone::backend::aten
