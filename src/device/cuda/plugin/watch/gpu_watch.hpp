// Watches a program on the GPU without a profiler, because CUPTI's kernel tracing takes 0.9 us per kernel and
// 10 us per launch of a graph.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/watch/gpu_clock.hpp"
#include "device/cuda/plugin/watch/stamped_steps.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"

namespace hone::device::cuda {

/// Replaces the plain calls during its lifetime. It watches one stream of the current GPU, which must be idle
/// when the watch is made. Kernels record their own times. Copies are timed by the host, from the call to the
/// end of the wait for it, minus the time that a copy of a few bytes takes, because any query of the GPU
/// costs more than most copies.
class GpuWatch final : public engine::DeviceWatch {
 public:
  /// `at_end` is called when the watch ends.
  GpuWatch(Gpu& gpu, const Stream& stream, const std::vector<engine::ProgramStep>& steps,
           const StepRunner& run_step, std::function<void()> at_end);
  ~GpuWatch() override { at_end_(); }
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
  void launch_steps();
  void synchronize();
  base::DeviceRecord finish() override;

 private:
  int64_t text(std::string_view text);
  /// The operating system's id of the calling thread.
  int64_t thread();
  /// Makes the call and records it.
  template <class F>
  int64_t call(int64_t name, bool waits, F&& make);
  int64_t measure_latency(cudaMemcpyKind kind);
  void describe_steps(const std::vector<engine::ProgramStep>& steps);
  void add_copies(std::vector<base::DeviceWork> copies, int64_t wait);
  void add_kernels(int64_t call, std::span<const KernelStamp> stamps);
  void add_notes();

  /// The work that had ended when a call returned. The watched program waits meanwhile, so only this data is
  /// recorded.
  struct Wait {
    int64_t call = 0;
    size_t copies = 0;  ///< submitted since the previous wait
    int64_t run = -1;   ///< the call that launched the steps since then
  };

  Gpu& gpu_;
  const Stream& stream_;
  std::function<void()> at_end_;
  StampedSteps steps_;
  GpuClock clock_;
  int64_t to_device_ns_ = 0;  ///< the time of copies of a few bytes
  int64_t to_host_ns_ = 0;
  std::vector<Wait> waits_;
  std::vector<base::DeviceWork> copies_;  ///< without times
  std::vector<KernelStamp> stamps_;       ///< of all runs
  size_t copies_waited_for_ = 0;
  int64_t run_ = -1;      ///< the call that launched the steps, since the last wait
  int64_t early_ns_ = 0;  ///< sum of the times by which kernels began before the previous ones had ended
  std::map<std::string, int64_t, std::less<>> texts_;
  std::thread::id caller_;  ///< of the latest call
  int64_t thread_ = 0;
  base::DeviceRecord record_;
  int64_t copy_name_;
  int64_t launch_name_;
  int64_t wait_name_;
  std::vector<base::DeviceWork> kernels_;  ///< with the GPU's times
  std::vector<base::DeviceWork> pattern_;  ///< the work of one run of the steps, without times
};

/// A watch of these steps; null if their graph is not a chain, because times are only recorded in chains.
std::unique_ptr<GpuWatch> watch_steps(Gpu& gpu, const Stream& stream,
                                      const std::vector<engine::ProgramStep>& steps,
                                      const StepRunner& run_step, std::function<void()> at_end);

}  // namespace hone::device::cuda
