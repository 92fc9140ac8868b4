// Runs a program's steps and owns the memory of their operands, on the host or on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/device_record.hpp"
#include "tensor/queue.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

class Kernel;
class Program;

/// Times of one execution in microseconds; 0 if the device does not report them.
struct ExecutionTimes {
  /// Until the host had submitted everything; if the host does the work, until it was finished.
  double enqueue_us = 0;
  /// From the first to the last step, by the device's own clock.
  double device_us = 0;
};

/// The parts of a run on a device with its own memory, each timed separately, in microseconds; 0 if a part
/// does not exist or is not reported.
struct PhaseTimes {
  /// Copies from pinned host memory to the device and back, by the device's clock.
  double h2d_us = 0;
  double d2h_us = 0;
  /// Until the host had submitted all steps, by the host's clock; if the host does the work, until it was
  /// finished.
  double enqueue_us = 0;
  /// From the first to the last step, by the device's clock.
  double device_us = 0;
};

/// Watches the following executions of one executor, until finish() or its destruction; the executor must
/// outlive it.
class DeviceWatch {
 public:
  virtual ~DeviceWatch() = default;
  /// Call it only once.
  virtual base::DeviceRecord finish() = 0;
};

/// The addresses of a program's inputs and outputs, in graph order.
struct IoAddresses {
  std::vector<const void*> inputs;
  /// Null if the shape becomes known only at run time.
  std::vector<void*> outputs;
};

/// A kernel that copies an input to the memory where the program reads it, before the first step.
struct InputCopy {
  std::shared_ptr<const Kernel> kernel;
  const void* from = nullptr;
  void* to = nullptr;
};

/// Runs a program whose inputs and outputs stay at the same addresses. The executor must outlive it; its
/// destruction waits for runs in progress.
class BoundRuns {
 public:
  virtual ~BoundRuns() = default;
  /// Submits one run to the queue; without a queue, the run is finished when the call returns. It allocates
  /// and copies nothing, except by InputCopy and for outputs whose shape depends on data.
  virtual void run(const tensor::Queue* queue) = 0;
  /// An output of the last run whose shape depends on data, on the host.
  virtual const tensor::Tensor& open_output(size_t index) const = 0;
  /// Watches the following runs, each of which is finished when run() returns; null if that is not possible.
  /// It may run the steps first.
  virtual std::unique_ptr<DeviceWatch> watch() { return nullptr; }
};

/// Used by one thread at a time. The program must outlive it.
class Executor {
 public:
  /// The value of every byte of poisoned memory: 0xFFFF... is a NaN in every floating-point type.
  static constexpr int kPoison = 0xFF;

  virtual ~Executor() = default;
  /// Copies inputs (in graph order, with the program's shapes) to where the steps read them. They must stay
  /// valid until the next execution is finished.
  virtual void upload(std::span<const tensor::Tensor> inputs) = 0;
  /// Runs all steps on the inputs uploaded last, and returns when they are finished. If `step_times` is
  /// given, it receives microseconds per step.
  virtual void execute(std::vector<double>* step_times) = 0;
  /// Overwrites all memory that steps write with bytes that are no valid results (NaN for floats), so that
  /// missing writes become visible.
  virtual void poison() = 0;
  /// Returns the outputs of the last execution, in graph order, on the host.
  virtual std::vector<tensor::Tensor> download() = 0;
  /// Like execute(), with times.
  virtual ExecutionTimes execute_timed() = 0;
  /// Times separate executions on the inputs uploaded last; if `cold`, the device's caches are emptied before
  /// each.
  virtual PhaseTimes time_phases(bool /*cold*/) {
    const ExecutionTimes times = execute_timed();
    return {.enqueue_us = times.enqueue_us, .device_us = times.device_us};
  }
  /// Submits one execution. With `transfers`, it also copies the inputs that were uploaded last from staging
  /// memory, and copies the outputs back. Waits only if several executions are already in progress.
  virtual void submit(bool /*transfers*/) { execute(nullptr); }
  /// Waits for everything that was submitted.
  virtual void finish() {}
  /// Fixes the addresses of inputs and outputs, in memory that the steps can access. All executions of the
  /// program share some memory, so a run waits for the previous one, whoever submitted it.
  virtual std::unique_ptr<BoundRuns> bind(IoAddresses io, std::vector<InputCopy> copies) = 0;
  /// Makes execute() wait for each step before it begins the next one, so that the step's range shows its
  /// time.
  virtual void await_steps(bool /*awaits*/) {}
  /// True if watch() can report anything.
  virtual bool can_be_watched() { return false; }
  /// Watches upload(), execute() and download() from now on; null if that is not possible.
  virtual std::unique_ptr<DeviceWatch> watch() { return nullptr; }
};

/// Runs steps by plain calls on host memory. Kernels receive the queue, which must outlive the executor.
std::unique_ptr<Executor> make_host_executor(const Program& program, const tensor::Queue* queue = nullptr);

}  // namespace hone::engine
