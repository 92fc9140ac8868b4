// Runs a program on the GPU: all steps as one captured CUDA graph where no step needs the host.
#include "device/cuda/plugin/execution/cuda_executor.hpp"

#include <nvtx3/nvToolsExt.h>

#include <array>
#include <chrono>
#include <cstring>

#include "device/cuda/plugin/captured_graph.hpp"
#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/execution/overlapped_runs.hpp"
#include "device/cuda/plugin/execution/program_memory.hpp"
#include "device/cuda/plugin/queue.hpp"
#include "device/cuda/plugin/runtime.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/plugin/watch/gpu_watch.hpp"
#include "device/cuda/plugin/watch/stamped_steps.hpp"
#include "engine/program/dynamic_values.hpp"
#include "engine/program/program.hpp"

namespace hone::device::cuda {
namespace {

using engine::Operand;
using engine::Program;
using engine::ProgramStep;
using tensor::DType;
using tensor::Tensor;

/// A step is an NVTX range, open while its work is handed over: profilers then know which kernels are its
/// own, in a captured graph too.
class StepRange {
 public:
  explicit StepRange(const ProgramStep& step) { nvtxRangePushA(step.name.c_str()); }
  ~StepRange() { nvtxRangePop(); }
  StepRange(const StepRange&) = delete;
  StepRange& operator=(const StepRange&) = delete;
};

class CudaExecutor final : public engine::Executor {
 public:
  /// On the GPU, which is current.
  CudaExecutor(const Program& program, Gpu& gpu)
      : program_(program),
        gpu_(gpu),
        memory_(program, gpu),
        dynamic_(program),
        pinned_(program.graph()),
        first_(program, memory_, gpu) {
    for (const ProgramStep& step : program.steps()) {
      host_steps_ = host_steps_ || step.runs_on_host();
      states_.push_back(step.kernel == nullptr ? nullptr : step.kernel->make_state());
    }
    if (host_steps_) open_outputs_ = program.make_outputs();
  }

  void upload(std::span<const Tensor> inputs) override {
    const DeviceGuard guard(gpu_.context());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].byte_size() == 0) continue;
      std::memcpy(pinned_.inputs[i].data(), inputs[i].bytes(), inputs[i].byte_size());
      copy(first_.io.inputs[i].data(), pinned_.inputs[i].data(), inputs[i].byte_size(),
           cudaMemcpyHostToDevice);
    }
    synchronize();
  }

  void execute(std::vector<double>* step_times) override {
    const DeviceGuard guard(gpu_.context());
    latest_ = &first_.io;
    if (step_times != nullptr) {
      execute_stepwise(*step_times);
    } else if (host_steps_) {
      hand_over();
    } else if (watch_ != nullptr) {
      watch_->launch_steps();
    } else {
      steps_graph().launch(stream_);
    }
    synchronize();
  }

  void submit(bool transfers) override {
    const DeviceGuard guard(gpu_.context());
    if (transfers && !host_steps_) {
      latest_ = &overlapped_runs().submit();
      return;
    }
    latest_ = &first_.io;
    const Event& done = done_[submissions_ % done_.size()];
    if (submissions_ >= done_.size()) check(cudaEventSynchronize(done.get()), "the GPU work");
    if (transfers) copy_inputs();
    if (host_steps_) {
      hand_over();
    } else {
      steps_graph().launch(stream_);
    }
    if (transfers) copy_outputs();
    check(cudaEventRecord(done.get(), stream_.get()), "an event");
    ++submissions_;
  }

  void finish() override {
    const DeviceGuard guard(gpu_.context());
    if (overlapped_runs_ != nullptr) overlapped_runs_->finish();
    stream_.synchronize();
    submissions_ = 0;
  }

  engine::PhaseTimes time_phases(bool cold) override {
    const DeviceGuard guard(gpu_.context());
    engine::PhaseTimes times;
    times.h2d_us = timed([this] { copy_inputs(); });
    if (!host_steps_) bracketed_graph();  // made here, since making it runs the steps
    if (cold) gpu_.evict_l2();
    times.device_us = device_time();
    times.d2h_us = timed([this] { copy_outputs(); });
    const auto start = std::chrono::steady_clock::now();
    submit(false);
    const std::chrono::duration<double, std::micro> enqueue = std::chrono::steady_clock::now() - start;
    finish();
    times.enqueue_us = enqueue.count();
    return times;
  }

  engine::ExecutionTimes execute_timed() override {
    const DeviceGuard guard(gpu_.context());
    latest_ = &first_.io;
    if (host_steps_) {
      const auto start = std::chrono::steady_clock::now();
      execute(nullptr);
      const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
      return {elapsed.count(), 0};
    }
    const CapturedGraph& graph = steps_graph();
    check(cudaEventRecord(begin_.get(), stream_.get()), "an event");
    const auto start = std::chrono::steady_clock::now();
    graph.launch(stream_);
    const std::chrono::duration<double, std::micro> enqueue = std::chrono::steady_clock::now() - start;
    check(cudaEventRecord(end_.get(), stream_.get()), "an event");
    stream_.synchronize();
    return {enqueue.count(), elapsed_us(begin_, end_)};
  }

  void poison() override {
    const DeviceGuard guard(gpu_.context());
    const auto fill = [this](const DeviceBytes& bytes) {
      if (bytes.size() != 0)
        check(cudaMemsetAsync(bytes.data(), kPoison, static_cast<size_t>(bytes.size()), stream_.get()),
              "a fill");
    };
    fill(memory_.arena());
    fill(memory_.scratch());
    for (const Binding* binding : {&first_, second_.get()}) {
      if (binding == nullptr) continue;
      for (const DeviceBytes& output : binding->io.outputs) fill(output);
    }
    stream_.synchronize();
  }

  std::vector<Tensor> download() override {
    const DeviceGuard guard(gpu_.context());
    std::vector<Tensor> results = program_.make_outputs();
    copy_outputs();
    synchronize();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) results[i] = open_outputs_[i];
      if (results[i].byte_size() != 0 && first_.io.outputs[i].size() != 0)
        std::memcpy(results[i].mutable_bytes(), pinned_.outputs[i].data(), results[i].byte_size());
    }
    return results;
  }

  bool can_be_watched() const override { return !host_steps_; }

  std::unique_ptr<engine::DeviceWatch> watch() override {
    const DeviceGuard guard(gpu_.context());
    if (!make_stamped_steps()) return nullptr;
    // Libraries load their kernels when first used, which a capture forbids.
    hand_over();
    stream_.synchronize();
    auto watch = std::make_unique<GpuWatch>(
        gpu_, stream_, program_.steps(),
        [this](size_t step, StampSource* stamps) { run_step(step, first_, stamps); },
        [this] { watch_ = nullptr; });
    watch_ = watch.get();
    return watch;
  }

 private:
  void hand_over() { hand_over(first_); }
  void hand_over(const Binding& binding) {
    for (size_t i = 0; i < binding.steps.size(); ++i) run_step(i, binding);
  }

  void run_step(size_t index, const Binding& binding, StampSource* stamps = nullptr) {
    const ProgramStep& step = program_.steps()[index];
    const StepRange range(step);
    if (step.kernel == nullptr) {
      dynamic_.run(
          step, [this](const Operand& operand) { return fetch(operand); },
          [this](const Operand& operand, const Tensor& value) { store(operand, value); });
    } else if (step.kernel->runs_on_host()) {
      run_on_host(step, index);
    } else {
      const Binding::Step& bound = binding.steps[index];
      const EarlyKernel* const next = early_kernel(index + 1);
      const EarlyKernel* const ahead = index == 0 ? nullptr : early_kernel(index - 1);
      const CudaQueue queue(stream_, gpu_.properties(), stamps);
      step.kernel->run({.inputs = bound.inputs,
                        .outputs = bound.outputs,
                        .scratch = memory_.scratch().data(),
                        .counters = memory_.counters(step),
                        .state = states_[index].get(),
                        .queue = &queue,
                        .neighbours = {.next_waits = next != nullptr && next->waits(),
                                       .previous_leaves_room = ahead != nullptr && ahead->leaves_room()}});
    }
  }

  /// Null where there is no such step, or its kernel is another.
  const EarlyKernel* early_kernel(size_t step) const {
    if (step >= program_.steps().size()) return nullptr;
    return dynamic_cast<const EarlyKernel*>(program_.steps()[step].kernel.get());
  }

  void run_on_host(const ProgramStep& step, size_t index) {
    std::vector<Tensor> inputs(step.inputs.size());
    std::vector<const void*> input_pointers(step.inputs.size(), nullptr);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i].storage == Operand::Storage::kAbsent) continue;
      inputs[i] = fetch(step.inputs[i]);
      input_pointers[i] = inputs[i].bytes();
    }
    std::vector<Tensor> outputs(step.outputs.size());
    std::vector<void*> output_pointers(step.outputs.size(), nullptr);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i].storage == Operand::Storage::kAbsent) continue;
      outputs[i] = Tensor(step.outputs[i].desc.dtype, step.outputs[i].desc.shape);
      output_pointers[i] = outputs[i].mutable_bytes();
    }
    step.kernel->run({.inputs = input_pointers, .outputs = output_pointers, .state = states_[index].get()});
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i].storage != Operand::Storage::kAbsent) store(step.outputs[i], outputs[i]);
    }
  }

  Tensor fetch(const Operand& operand) {
    if (operand.storage == Operand::Storage::kConstant) {
      return {operand.desc.dtype, operand.desc.shape, static_cast<const std::byte*>(operand.data), nullptr};
    }
    Tensor value(operand.desc.dtype, operand.desc.shape);
    copy(value.mutable_bytes(), memory_.address(operand, first_.io), value.byte_size(),
         cudaMemcpyDeviceToHost);
    stream_.synchronize();
    return value;
  }

  void store(const Operand& operand, const Tensor& value) {
    if (operand.desc.dtype == DType::kUndefined) {
      open_outputs_[static_cast<size_t>(operand.position)] = value.clone();
      return;
    }
    copy(memory_.address(operand, first_.io), value.bytes(), value.byte_size(), cudaMemcpyHostToDevice);
    stream_.synchronize();
  }

  auto copier(cudaMemcpyKind kind) const {
    return [this, kind](void* to, const void* from, size_t bytes) { copy(to, from, bytes, kind); };
  }
  void copy_inputs() const { cuda::copy_inputs(pinned_, first_.io, copier(cudaMemcpyHostToDevice)); }
  void copy_outputs() const { cuda::copy_outputs(*latest_, pinned_, copier(cudaMemcpyDeviceToHost)); }

  void synchronize() const {
    if (watch_ != nullptr) return watch_->synchronize();
    stream_.synchronize();
  }

  void copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) const {
    if (watch_ != nullptr) return watch_->copy(to, from, bytes, kind);
    if (bytes != 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "a copy");
  }

  /// Microseconds between events around what `enqueue` hands to the stream.
  template <class F>
  double timed(F&& enqueue) const {
    check(cudaEventRecord(begin_.get(), stream_.get()), "an event");
    enqueue();
    check(cudaEventRecord(end_.get(), stream_.get()), "an event");
    stream_.synchronize();
    return elapsed_us(begin_, end_);
  }

  /// Microseconds from the first to the last step; 0 where steps run on the host.
  double device_time() {
    if (host_steps_) return 0;
    bracketed_graph().launch(stream_);
    stream_.synchronize();
    return elapsed_us(begin_, end_);
  }

  /// The steps between two events. Around the launch of a graph, events would hold the way from the host to
  /// the device as well.
  const CapturedGraph& bracketed_graph() {
    if (bracketed_graph_ == nullptr) {
      bracketed_graph_ = capture([this] {
        check(cudaEventRecordWithFlags(begin_.get(), stream_.get(), cudaEventRecordExternal), "an event");
        hand_over();
        check(cudaEventRecordWithFlags(end_.get(), stream_.get(), cudaEventRecordExternal), "an event");
      });
    }
    return *bracketed_graph_;
  }

  const CapturedGraph& steps_graph() {
    if (graph_ == nullptr) graph_ = capture([this] { hand_over(); });
    return *graph_;
  }

  OverlappedRuns& overlapped_runs() {
    if (overlapped_runs_ == nullptr) {
      steps_graph();
      second_ = std::make_unique<Binding>(program_, memory_, gpu_);
      second_graph_ = capture([this] { hand_over(*second_); });
      overlapped_runs_ = std::make_unique<OverlappedRuns>(
          stream_, pinned_,
          std::array{OverlappedRuns::Lane{&first_.io, graph_.get()},
                     OverlappedRuns::Lane{&second_->io, second_graph_.get()}});
    }
    return *overlapped_runs_;
  }

  template <class F>
  std::unique_ptr<CapturedGraph> capture(F&& record) {
    // Once outside of a capture: libraries load their kernels when first used, which a capture forbids.
    hand_over();
    stream_.synchronize();
    return std::make_unique<CapturedGraph>(stream_, Graph(stream_, record));
  }

  /// Microseconds from the end of one step to that of the next, as they are when steps overlap: kernels stamp
  /// themselves. Between events where steps run on the host, or a library forks the stream.
  void execute_stepwise(std::vector<double>& times) {
    if (!make_stamped_steps()) return execute_between_events(times);
    stamped_steps_->launch(stream_);
    stream_.synchronize();
    times = step_times(stamped_steps_->nodes(), stamped_steps_->stretches(), stamped_steps_->stamps(),
                       first_.steps.size());
  }

  /// Whether there are.
  bool make_stamped_steps() {
    if (host_steps_ || stamped_steps_ != nullptr || forks_) return stamped_steps_ != nullptr;
    hand_over();  // as capture() does
    stream_.synchronize();
    try {
      stamped_steps_ = std::make_unique<StampedSteps>(
          gpu_.memory(), stream_, first_.steps.size(),
          [this](size_t step, StampSource* stamps) { run_step(step, first_, stamps); });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInternal) throw;
      forks_ = true;
    }
    return stamped_steps_ != nullptr;
  }

  void execute_between_events(std::vector<double>& times) {
    times.assign(first_.steps.size(), 0.0);
    while (step_events_.size() <= first_.steps.size()) step_events_.emplace_back();
    const auto record = [this](size_t i) {
      check(cudaEventRecord(step_events_[i].get(), stream_.get()), "an event");
    };
    for (size_t i = 0; i < first_.steps.size(); ++i) {
      record(i);
      run_step(i, first_);
    }
    record(first_.steps.size());
    stream_.synchronize();
    for (size_t i = 0; i < first_.steps.size(); ++i)
      times[i] = elapsed_us(step_events_[i], step_events_[i + 1]);
  }

  const Program& program_;
  Gpu& gpu_;
  Stream stream_;
  ProgramMemory memory_;
  engine::DynamicValues dynamic_;
  PinnedIo pinned_;
  Binding first_;
  /// Of each step's kernel; null where it has none.
  std::vector<std::unique_ptr<engine::KernelState>> states_;
  /// Whether any step runs on the host, so that nothing can be captured.
  bool host_steps_ = false;
  /// Outputs whose shape is only known when the program runs.
  std::vector<Tensor> open_outputs_;
  Event begin_;
  Event end_;
  std::vector<Event> step_events_;
  std::unique_ptr<CapturedGraph> graph_;
  /// For runs beside those of the first; null while none overlap.
  std::unique_ptr<Binding> second_;
  std::unique_ptr<CapturedGraph> second_graph_;
  std::unique_ptr<OverlappedRuns> overlapped_runs_;
  /// Where the outputs of the last run lie.
  const DeviceIo* latest_ = &first_.io;
  std::unique_ptr<StampedSteps> stamped_steps_;
  bool forks_ = false;  ///< the graph of the steps is no chain, which stamping takes
  std::unique_ptr<CapturedGraph> bracketed_graph_;
  /// Not ours; null while nobody watches.
  GpuWatch* watch_ = nullptr;
  /// Of the submissions that may be under way at the same time: one runs, the next one waits behind it.
  std::array<Event, 2> done_;
  size_t submissions_ = 0;
};

}  // namespace

std::unique_ptr<engine::Executor> make_cuda_executor(const Program& program, Gpu& gpu) {
  const DeviceGuard guard(gpu.context());
  return std::make_unique<CudaExecutor>(program, gpu);
}

}  // namespace hone::device::cuda
