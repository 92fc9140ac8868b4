// Watches a program on the GPU without a profiler: CUPTI's kernel tracing takes 0.9 us a kernel, and 10 us a
// launch of a graph.
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

/// Takes the place of plain calls while it lives. Watches one stream of a GPU, which is current and has
/// nothing under way when it is made. Kernels are timed by their stamps. Copies are timed by the host, from
/// the call to the end of the wait for it, less what that takes for a copy of a few bytes: anything that asks
/// the GPU costs more than most copies take.
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
  /// The operating system's number of the calling thread.
  int64_t thread();
  /// Makes the call and records it.
  template <class F>
  int64_t call(int64_t name, bool waits, F&& make);
  int64_t measure_latency(cudaMemcpyKind kind);
  void describe_steps(const std::vector<engine::ProgramStep>& steps);
  void add_copies(std::vector<base::DeviceWork> copies, int64_t wait);
  void add_kernels(int64_t call, std::span<const KernelStamp> stamps);
  void add_notes();

  /// The work that had ended when a call returned. The watched program waits meanwhile, so only this much is
  /// noted.
  struct Wait {
    int64_t call = 0;
    size_t copies = 0;  ///< handed over since the wait before
    int64_t run = -1;   ///< the call that launched the steps since then
  };

  Gpu& gpu_;
  const Stream& stream_;
  std::function<void()> at_end_;
  StampedSteps steps_;
  GpuClock clock_;
  int64_t to_device_ns_ = 0;  ///< what copies of a few bytes take
  int64_t to_host_ns_ = 0;
  std::vector<Wait> waits_;
  std::vector<base::DeviceWork> copies_;  ///< without times
  std::vector<KernelStamp> stamps_;       ///< of all runs
  size_t copies_waited_for_ = 0;
  int64_t run_ = -1;      ///< the call that launched the steps, since the last wait
  int64_t early_ns_ = 0;  ///< by which kernels began before those ahead had ended
  std::map<std::string, int64_t, std::less<>> texts_;
  std::thread::id caller_;  ///< of the latest call
  int64_t thread_ = 0;
  base::DeviceRecord record_;
  int64_t copy_name_;
  int64_t launch_name_;
  int64_t wait_name_;
  std::vector<base::DeviceWork> kernels_;  ///< with the GPU's times
  std::vector<base::DeviceWork> pattern_;  ///< what one run of the steps does, without times
};

/// A watch of these steps; null where their graph is no chain, which stamps need.
std::unique_ptr<GpuWatch> watch_steps(Gpu& gpu, const Stream& stream,
                                      const std::vector<engine::ProgramStep>& steps,
                                      const StepRunner& run_step, std::function<void()> at_end);

}  // namespace hone::device::cuda
