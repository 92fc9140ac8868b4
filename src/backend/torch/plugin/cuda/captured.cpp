// The runner of torch-graph: a program captured in a CUDA graph and replayed.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <nvtx3/nvToolsExt.h>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/program.hpp"
#include "base/ranges.hpp"

namespace hone::backend::aten {
namespace {

/// Before a capture: libraries create their handles and workspaces, cuDNN chooses its algorithms.
constexpr int kWarmUpRuns = 3;

/// While it lives, ranges are NVTX's: profilers then know which nodes of the captured graph belong to which
/// node of the model.
class NvtxRanges final : public base::RangeListener {
 public:
  NvtxRanges() { base::listen_to_ranges(this); }
  ~NvtxRanges() override { base::listen_to_ranges(nullptr); }
  NvtxRanges(const NvtxRanges&) = delete;
  NvtxRanges& operator=(const NvtxRanges&) = delete;

  void begin(const std::string& name) override { nvtxRangePushA(name.c_str()); }
  void end() override { nvtxRangePop(); }
};

class CapturedRunner final : public Runner {
 public:
  CapturedRunner(BoundGraph graph, const Placement& placement)
      : Runner(placement), program_(std::move(graph), placement, "torch-graph", /*traced=*/false) {
    inputs_ = program_.zero_inputs();
    synchronize(placement.device);
    // The default stream cannot be captured.
    const c10::cuda::CUDAStream stream =
        c10::cuda::getStreamFromPool(/*isHighPriority=*/false, placement.device.index());
    const c10::cuda::CUDAStreamGuard guard(stream);
    for (int i = 0; i < kWarmUpRuns; ++i) program_.run(inputs_);
    stream.synchronize();
    capture();
  }

  void set_inputs(const std::vector<at::Tensor>& inputs) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor& source = inputs[i];
      const bool same = source.scalar_type() == inputs_[i].scalar_type() && inputs_[i].is_contiguous();
      // What has to be converted is copied as it is, and converted on the device.
      inputs_[i].copy_(same ? source : source.to(placement_.device));
    }
  }

  std::vector<at::Tensor> run() override {
    graph_.replay();
    return outputs_;
  }

  int64_t weight_bytes() const override { return program_.weight_bytes(); }
  std::vector<StepInfo> steps() const override { return program_.steps("ATen, in a CUDA graph"); }

 private:
  void capture() {
    const NvtxRanges ranges;
    graph_.capture_begin();
    try {
      outputs_ = program_.run(inputs_);
    } catch (const Error& error) {
      abandon();
      fail_bad_input("the model cannot be captured in a CUDA graph: {}", error.what());
    }
    graph_.capture_end();
  }

  /// Takes the stream out of a capture that has failed.
  void abandon() {
    try {
      graph_.capture_end();
    } catch (const std::exception&) {
      // It ends with the error that has just been reported.
    }
  }

  Program program_;
  at::cuda::CUDAGraph graph_;
  std::vector<at::Tensor> outputs_;
};

}  // namespace

std::unique_ptr<Runner> make_captured_runner(BoundGraph graph, const Placement& placement) {
  return std::make_unique<CapturedRunner>(std::move(graph), placement);
}

}  // namespace hone::backend::aten
