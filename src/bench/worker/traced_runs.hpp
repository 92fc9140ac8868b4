// Runs a model and records the times of all announced ranges, for a worker's answer to 'trace'.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

/// Times are in nanoseconds of the monotonic clock, which all processes of a machine share.
struct TracedRuns {
  struct Run {
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  /// One range that the model announced; the ranges of a thread are nested.
  struct Range {
    size_t name = 0;  ///< index into `names`
    int64_t thread = 0;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
  };
  /// The CPU use of a thread while a range was open.
  struct Usage {
    size_t range = 0;  ///< index into `ranges`
    int64_t thread = 0;
    std::vector<int64_t> values;  ///< values of `counters`
  };
  using Operator = backend::OperatorCall;
  using Allocation = backend::MemoryEvent;
  int64_t process = 0;
  int64_t thread = 0;  ///< the thread that ran the model
  std::vector<Run> runs;
  std::vector<std::string> names;
  std::vector<Range> ranges;
  std::vector<Operator> operators;  ///< their texts are in `names`
  std::vector<Allocation> allocations;
  base::DeviceRecord device;  ///< if it was requested (ObserveOptions::device)
  std::vector<backend::StepInfo> steps;
  std::vector<std::string> counters;  ///< ThreadCounters::names(), if they were requested
  std::string counters_missing;       ///< ThreadCounters::missing()
  std::vector<Usage> usages;          ///< threads without any use are left out
};

struct TraceOptions {
  backend::ObserveOptions observe;
  /// Records the counters of each thread in every range. Reading them takes a system call per thread, twice
  /// per range.
  bool thread_counters = false;
};

/// Runs the model `count` times, on the input sets in rotation. With `transfers`, a run copies its inputs
/// from the host and its outputs back.
TracedRuns trace_runs(backend::Executable& executable, std::span<const std::vector<tensor::Tensor>> sets,
                      int64_t count, bool transfers, const TraceOptions& options);

Json to_json(const TracedRuns& runs);
/// Operators, allocations, usages, the device's work, and predecessors and rivals of steps may be missing.
/// Bad input names any other field that is missing, and fields with a wrong type or an impossible value.
TracedRuns parse_traced_runs(const Json& json);

}  // namespace hone::bench
