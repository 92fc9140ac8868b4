// Runs of a model with the times of all that they announced: what a worker answers to 'trace'.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

/// Times in nanoseconds of the monotonic clock, which all processes of a machine share.
struct TracedRuns {
  struct Run {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  /// One range that the model announced; of one thread, ranges nest.
  struct Range {
    size_t name = 0;  ///< index into `names`
    int64_t thread = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  /// A thread's use of the CPU while a range was open.
  struct Usage {
    size_t range = 0;  ///< index into `ranges`
    int64_t thread = 0;
    std::vector<int64_t> values;  ///< of `counters`
  };
  using Operator = backend::OperatorCall;
  using Allocation = backend::MemoryEvent;
  int64_t process = 0;
  int64_t thread = 0;  ///< that ran the model
  std::vector<Run> runs;
  std::vector<std::string> names;
  std::vector<Range> ranges;
  std::vector<Operator> operators;  ///< their texts are in `names`
  std::vector<Allocation> allocations;
  base::DeviceRecord device;  ///< when it was asked for (ObserveOptions::device)
  std::vector<backend::StepInfo> steps;
  std::vector<std::string> counters;  ///< ThreadCounters::names(), when they were asked for
  std::string counters_missing;       ///< ThreadCounters::missing()
  std::vector<Usage> usages;          ///< threads that used nothing are left out
};

struct TraceOptions {
  backend::ObserveOptions observe;
  /// Record each thread's use in every range. Reading it takes a system call a thread, twice a range.
  bool thread_counters = false;
};

/// Runs it `count` times, on the input sets in rotation. With `transfers`, a run takes its inputs from the
/// host and brings its outputs back.
TracedRuns trace_runs(backend::Executable& executable, std::span<const std::vector<tensor::Tensor>> sets,
                      int64_t count, bool transfers, const TraceOptions& options);

Json to_json(const TracedRuns& runs);
/// Operators, allocations, usages, what the device did, and predecessors and rivals of steps may be missing.
/// Bad input naming the field when another is, or when one has another type or cannot be.
TracedRuns parse_traced_runs(const Json& json);

}  // namespace hone::bench
