// Runs of a program on a caller's memory, in the order in which they are handed over, whatever their streams.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/program_steps.hpp"
#include "device/cuda/plugin/execution/step_graphs.hpp"
#include "device/cuda/plugin/watch/gpu_watch.hpp"

namespace hone::device::cuda {

/// Lets the work of one stream follow that of another: what runs of a program share is one run's at a time.
class StreamOrder {
 public:
  /// `own`: a stream that outlives this; it has the first turn.
  explicit StreamOrder(const Stream& own) : own_(own), latest_(own.get()) {}

  /// Work that is handed to the stream from now on follows earlier work.
  void begin(cudaStream_t stream);
  /// Ends a run. A stream that is not ours may be gone when the next one begins, so its moment is kept now.
  void end(cudaStream_t stream);
  /// Waits for all runs. Does not throw.
  void wait() const;

 private:
  const Stream& own_;
  cudaStream_t latest_;
  Event ended_;
};

class CudaBoundRuns final : public engine::BoundRuns {
 public:
  /// Captures the steps, for which libraries must have loaded their kernels. Where the host computes some,
  /// the stretches between them are captured when the first run has loaded what they need.
  CudaBoundRuns(ProgramSteps& steps, StreamOrder& order, const Stream& stream, engine::IoAddresses io,
                std::vector<engine::InputCopy> copies);
  ~CudaBoundRuns() override { order_.wait(); }
  CudaBoundRuns(const CudaBoundRuns&) = delete;
  CudaBoundRuns& operator=(const CudaBoundRuns&) = delete;

  void run(const tensor::Queue* queue) override;
  const tensor::Tensor& open_output(size_t index) const override { return steps_.open_outputs()[index]; }
  std::unique_ptr<engine::DeviceWatch> watch() override;

 private:
  void hand_over(cudaStream_t stream);
  void run_stretches(cudaStream_t stream);
  void copy_inputs(cudaStream_t stream) const;

  ProgramSteps& steps_;
  StreamOrder& order_;
  const Stream& stream_;
  std::vector<engine::InputCopy> copies_;
  BoundSteps bound_;
  std::unique_ptr<CapturedGraph> graph_;
  std::unique_ptr<StepGraphs> step_graphs_;
  bool has_run_ = false;
  /// Not ours; null while nobody watches.
  GpuWatch* watch_ = nullptr;
};

}  // namespace hone::device::cuda
