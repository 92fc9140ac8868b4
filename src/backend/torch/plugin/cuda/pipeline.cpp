// Overlaps runs of PyTorch on several streams.
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>

#include <array>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/cuda/event.hpp"

namespace hone::backend::aten {
namespace {

/// A stream of its own: PyTorch's pool has only 32 streams, which it then hands out again.
class OwnStream {
 public:
  OwnStream() { C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~OwnStream() {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  c10::cuda::CUDAStream on(at::Device device) const {
    return c10::cuda::getStreamFromExternal(stream_, device.index());
  }

 private:
  cudaStream_t stream_ = nullptr;
};

at::Tensor make_pinned(at::IntArrayRef shape, at::ScalarType type) {
  return at::empty(shape, at::TensorOptions().dtype(type).pinned_memory(true));
}

/// One stream and the runner that uses it.
class Lane {
 public:
  /// With `transfers`, every run copies the inputs from pinned memory and its outputs back.
  Lane(const Runner& model, const std::vector<tensor::Tensor>& inputs, bool transfers,
       const OutputType& output_type)
      : stream_(own_stream_.on(model.placement().device)), transfers_(transfers), output_type_(output_type) {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    runner_ = model.share();
    std::vector<at::Tensor> views;
    for (const tensor::Tensor& input : inputs) {
      views.push_back(torch_view_of(input));
      if (transfers_)
        inputs_.push_back(make_pinned(views.back().sizes(), views.back().scalar_type()).copy_(views.back()));
    }
    runner_->set_inputs(views, /*pinned=*/false);
    stream_.synchronize();
  }

  void submit() {
    const c10::InferenceMode inference;
    const c10::cuda::CUDAStreamGuard guard(stream_);
    const Event& done = done_[submissions_++ % done_.size()];
    done.synchronize();
    if (transfers_) runner_->set_inputs(inputs_, /*pinned=*/true);
    const std::vector<at::Tensor> outputs = runner_->run();
    if (transfers_) copy(outputs);
    done.record();
  }

  void finish() const { stream_.synchronize(); }

 private:
  void copy(const std::vector<at::Tensor>& outputs) {
    outputs_.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      // The output is converted on the device, since a copy to
      // pinned memory may be incomplete when the call returns.
      const at::Tensor output = outputs[i].to(to_scalar_type(output_type_(i, outputs[i]))).contiguous();
      at::Tensor& host = outputs_[i];
      if (!host.defined() || host.sizes() != output.sizes())
        host = make_pinned(output.sizes(), output.scalar_type());
      host.copy_(output, /*non_blocking=*/true);
    }
  }

  const OwnStream own_stream_;
  const c10::cuda::CUDAStream stream_;
  const bool transfers_;
  const OutputType output_type_;
  std::unique_ptr<Runner> runner_;
  /// Inputs in pinned memory; empty without transfers.
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  /// One event for each run in progress: one runs, and the next one waits for it.
  std::array<Event, 2> done_;
  size_t submissions_ = 0;
};

class StreamPipeline final : public Pipeline {
 public:
  StreamPipeline(const Runner& runner, int streams, bool transfers,
                 std::span<const std::vector<tensor::Tensor>> sets, const OutputType& output_type) {
    for (size_t i = 0; i < static_cast<size_t>(streams); ++i)
      lanes_.push_back(std::make_unique<Lane>(runner, sets[i % sets.size()], transfers, output_type));
  }

  void submit() override {
    translated([&] { lanes_[next_++ % lanes_.size()]->submit(); });
  }

  void finish() override {
    translated([&] {
      for (const auto& lane : lanes_) lane->finish();
    });
  }

 private:
  std::vector<std::unique_ptr<Lane>> lanes_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Pipeline> make_stream_pipeline(const Runner& runner, int streams, bool transfers,
                                               std::span<const std::vector<tensor::Tensor>> sets,
                                               const OutputType& output_type) {
  // Streams do not wait for the stream in which the weights were copied.
  synchronize(runner.placement().device);
  return std::make_unique<StreamPipeline>(runner, streams, transfers, sets, output_type);
}

}  // namespace hone::backend::aten
