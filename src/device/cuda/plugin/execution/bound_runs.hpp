// Runs a program on a caller's memory, in the order of submission, even in different streams.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/execution/program_steps.hpp"
#include "device/cuda/plugin/execution/step_graphs.hpp"
#include "device/cuda/plugin/watch/gpu_watch.hpp"

namespace hone::device::cuda {

/// Orders the work of different streams, because the runs of a program share memory and must not overlap.
class StreamOrder {
 public:
  /// `own` is a stream that outlives this object; it has the first turn.
  explicit StreamOrder(const Stream& own) : own_(own), latest_(own.get()) {}

  /// Makes work that is submitted to the stream from now on wait for earlier work.
  void begin(cudaStream_t stream);
  /// Ends a run. A foreign stream may no longer exist when the next run begins, so its state is recorded now.
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
  /// Captures the steps, for which libraries must have loaded their kernels. If the host computes some steps,
  /// the stretches between them are captured after the first run, which loads their kernels.
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
  /// Not owned; null if nothing watches.
  GpuWatch* watch_ = nullptr;
};

}  // namespace hone::device::cuda
