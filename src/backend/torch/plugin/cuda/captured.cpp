// The runner of torch-graph: a program captured in a CUDA graph and replayed.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <nvtx3/nvToolsExt.h>

#include <string_view>

#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/cuda.hpp"
#include "backend/torch/plugin/cuda/event.hpp"
#include "backend/torch/plugin/program.hpp"
#include "base/ranges.hpp"

namespace hone::backend::aten {
namespace {

/// Runs before a capture, in which libraries create their
/// handles and workspaces, and cuDNN chooses algorithms.
constexpr int kWarmUpRuns = 3;

/// Converts ranges to NVTX during its lifetime, so that profilers can assign the captured graph's nodes to
/// the model's nodes.
class NvtxRanges final : public base::RangeListener {
 public:
  NvtxRanges() { base::listen_to_ranges(this); }
  ~NvtxRanges() override { base::listen_to_ranges(nullptr); }
  NvtxRanges(const NvtxRanges&) = delete;
  NvtxRanges& operator=(const NvtxRanges&) = delete;

  void begin(const std::string& name) override { nvtxRangePushA(name.c_str()); }
  void end() override { nvtxRangePop(); }
};

/// The stream for the capture, since the default stream cannot be captured. Libraries keep a workspace for
/// every stream, so graphs that may run at the same time must be captured on different streams.
c10::cuda::CUDAStream capturing_stream(at::Device device) {
  const c10::cuda::CUDAStream current = c10::cuda::getCurrentCUDAStream(device.index());
  if (current != c10::cuda::getDefaultCUDAStream(device.index())) return current;
  return c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index());
}

class CapturedRunner final : public Runner {
 public:
  explicit CapturedRunner(std::shared_ptr<Program> program)
      : Runner(program->placement()),
        program_(std::move(program)),
        stream_(capturing_stream(placement_.device)) {
    inputs_ = program_->zero_inputs();
    synchronize(placement_.device);
    const c10::cuda::CUDAStreamGuard guard(stream_);
    for (int i = 0; i < kWarmUpRuns; ++i) program_->run(inputs_);
    stream_.synchronize();
    // A capture allocates from its own pool, and cannot return memory of the normal pool meanwhile.
    release_cache(placement_.device);
    graph_.capture_begin();
    capture(graph_, [this] { outputs_ = program_->run(inputs_); });
  }

  std::unique_ptr<Runner> share() const override { return std::make_unique<CapturedRunner>(program_); }

  void set_inputs(const std::vector<at::Tensor>& inputs, bool pinned) override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor& source = inputs[i];
      const bool same = source.scalar_type() == inputs_[i].scalar_type() && inputs_[i].is_contiguous();
      // An input of another type is copied unchanged, and converted on the device.
      inputs_[i].copy_(same ? source : source.to(placement_.device, /*non_blocking=*/pinned),
                       /*non_blocking=*/pinned);
    }
  }

  std::vector<at::Tensor> run() override {
    graph_.replay();
    return outputs_;
  }

  double time_on_device(bool cold) override {
    if (timed_ == nullptr) capture_timed();
    if (cold) evict_caches(placement_.device);
    timed_->graph.replay();
    synchronize(placement_.device);
    return Event::milliseconds_between(timed_->begin, timed_->end);
  }

  int64_t weight_bytes() const override { return program_->weight_bytes(); }
  std::vector<StepInfo> steps() const override { return program_->steps("ATen, in a CUDA graph"); }

 private:
  /// The steps between two events in one graph. Events around the launch of a graph would include the time
  /// from the host to the device.
  struct TimedGraph {
    Event begin;
    Event end;
    at::cuda::CUDAGraph graph;
  };

  void capture_timed() {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    auto timed = std::make_unique<TimedGraph>();
    // The two graphs never run at the same time, so they share memory.
    timed->graph.capture_begin(graph_.pool());
    capture(timed->graph, [&] {
      timed->begin.record();
      program_->run(inputs_);
      timed->end.record();
    });
    // The first launch uploads the graph to the device.
    timed->graph.replay();
    stream_.synchronize();
    timed_ = std::move(timed);
  }

  /// Runs `enqueue` and ends the capture, which must have begun.
  template <class F>
  static void capture(at::cuda::CUDAGraph& graph, F&& enqueue) {
    const NvtxRanges ranges;
    try {
      enqueue();
    } catch (const Error& error) {
      abandon(graph);
      if (std::string_view(error.what()).find("out of memory") != std::string_view::npos) throw;
      fail_bad_input("the model cannot be captured in a CUDA graph: {}", error.what());
    }
    graph.capture_end();
  }

  /// Ends a capture that has failed, so that the stream can be used again.
  static void abandon(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
    } catch (const std::exception&) {
      // This is the same error that is reported already.
    }
  }

  std::shared_ptr<Program> program_;
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAGraph graph_;
  std::vector<at::Tensor> outputs_;
  /// Null until the first request.
  std::unique_ptr<TimedGraph> timed_;
};

}  // namespace

std::unique_ptr<Runner> make_captured_runner(BoundGraph graph, const Placement& placement) {
  return std::make_unique<CapturedRunner>(
      std::make_shared<Program>(std::move(graph), placement, "torch-graph", /*traced=*/false));
}

}  // namespace hone::backend::aten
