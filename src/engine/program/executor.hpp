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

/// Times of one execution, microseconds; 0 where the device does not report them.
struct ExecutionTimes {
  /// Until the host had handed everything over; where the host does the work, until it was done.
  double enqueue_us = 0;
  /// From the first to the last step, by the device's own clock.
  double device_us = 0;
};

/// The parts of a run on a device with memory of its own, each timed by itself, microseconds; 0 where there
/// is none or the device does not report it.
struct PhaseTimes {
  /// Copies from pinned host memory to the device and back, by the device's clock.
  double h2d_us = 0;
  double d2h_us = 0;
  /// Until the host had handed all steps over, by the host's clock; where the host does the work, until it
  /// was done.
  double enqueue_us = 0;
  /// From the first to the last step, by the device's clock.
  double device_us = 0;
};

/// Watches the executions of one executor that follow, until finish() or its end; the executor outlives it.
class DeviceWatch {
 public:
  virtual ~DeviceWatch() = default;
  /// Called once.
  virtual base::DeviceRecord finish() = 0;
};

/// Where a program's inputs and outputs lie, in graph order.
struct IoAddresses {
  std::vector<const void*> inputs;
  /// Null where the shape is only known when the program runs.
  std::vector<void*> outputs;
};

/// A kernel that copies an input to where the program reads it, before the first step.
struct InputCopy {
  std::shared_ptr<const Kernel> kernel;
  const void* from = nullptr;
  void* to = nullptr;
};

/// Runs of a program whose inputs and outputs stay where they are. The executor outlives it; its end waits
/// for the runs that are under way.
class BoundRuns {
 public:
  virtual ~BoundRuns() = default;
  /// Hands one run over to the queue; without one it is done when the call returns. Allocates and copies
  /// nothing, but what InputCopy says and outputs whose shape depends on data.
  virtual void run(const tensor::Queue* queue) = 0;
  /// An output of the last run whose shape depends on data, on the host.
  virtual const tensor::Tensor& open_output(size_t index) const = 0;
  /// Watches the runs that follow, each of which is done when run() returns; null where it cannot. It may run
  /// the steps first.
  virtual std::unique_ptr<DeviceWatch> watch() { return nullptr; }
};

/// Used by one thread at a time. The program outlives it.
class Executor {
 public:
  /// Every byte of poisoned memory: 0xFFFF... is a NaN of every floating-point type.
  static constexpr int kPoison = 0xFF;

  virtual ~Executor() = default;
  /// Brings inputs (in graph order, of the program's shapes) to where the steps read them. They must stay
  /// valid until the execution after it is done.
  virtual void upload(std::span<const tensor::Tensor> inputs) = 0;
  /// Runs all steps on the inputs uploaded last; returns when they are done. `step_times`, when given,
  /// receives microseconds per step.
  virtual void execute(std::vector<double>* step_times) = 0;
  /// Overwrites all memory that steps write with bytes that are no sensible numbers (NaN, for floats), so
  /// that what a step fails to write shows.
  virtual void poison() = 0;
  /// The outputs of the last execution, in graph order, on the host.
  virtual std::vector<tensor::Tensor> download() = 0;
  /// execute(), timed from the inside.
  virtual ExecutionTimes execute_timed() = 0;
  /// Runs on the inputs uploaded last, in executions of their own; `cold`: with the device's caches emptied
  /// before.
  virtual PhaseTimes time_phases(bool /*cold*/) {
    const ExecutionTimes times = execute_timed();
    return {.enqueue_us = times.enqueue_us, .device_us = times.device_us};
  }
  /// Hands one execution over; with `transfers`, between copies of the inputs that were uploaded last, from
  /// the memory that copies start from, and of the outputs back. Waits only while a few are under way.
  virtual void submit(bool /*transfers*/) { execute(nullptr); }
  /// Waits for everything submitted.
  virtual void finish() {}
  /// Fixes where inputs and outputs lie, in memory that the steps can reach. All executions of the program
  /// share some memory, so a run waits for the previous one, whoever enqueued it.
  virtual std::unique_ptr<BoundRuns> bind(IoAddresses io, std::vector<InputCopy> copies) = 0;
  /// Makes execute() wait for each step before it begins the next one, so that the step's range is its
  /// time.
  virtual void await_steps(bool /*awaits*/) {}
  /// True if watch() tells anything.
  virtual bool can_be_watched() { return false; }
  /// Watches what upload(), execute() and download() do from now on; null where it cannot.
  virtual std::unique_ptr<DeviceWatch> watch() { return nullptr; }
};

/// Runs steps by plain calls on host memory. Kernels get the queue, which outlives the executor.
std::unique_ptr<Executor> make_host_executor(const Program& program, const tensor::Queue* queue = nullptr);

}  // namespace hone::engine
