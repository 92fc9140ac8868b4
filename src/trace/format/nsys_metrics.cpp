// Counters over time and allocations of an export of Nsight Systems.
#include <algorithm>
#include <map>
#include <string>

#include "trace/format/nsys_import.hpp"

namespace hone::trace {
namespace {

struct Metric {
  StringId name = 0;
  std::string unit;
};

/// Splits "SMs Active [Throughput %]" into name and unit.
Metric parse_metric(Trace& trace, std::string_view name) {
  Metric metric;
  const size_t open = name.rfind(" [");
  if (open != std::string_view::npos && name.ends_with(']')) {
    metric.unit = name.substr(open + 2, name.size() - open - 3);
    if (metric.unit.ends_with("%")) metric.unit = "%";
    name = name.substr(0, open);
  }
  metric.name = trace.strings.intern(name);
  return metric;
}

void read_counters(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  std::map<std::pair<int64_t, int64_t>, Metric> metrics;
  nsys.read("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, 3, [&](const NsysRows& rows) {
    const Metric metric = parse_metric(trace, rows.text(2));
    metrics[{rows.integer(0), rows.integer(1)}] = metric;
    if (!metric.unit.empty()) trace.counter_units[metric.name] = metric.unit;
  });
  int64_t unnamed = 0;
  nsys.read("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, 4, [&](const NsysRows& rows) {
    const auto metric = metrics.find({rows.integer(1), rows.integer(2)});
    if (metric == metrics.end()) {
      ++unnamed;
      return;
    }
    // The lowest byte of the type is the number of the device.
    trace.counter_samples.push_back(
        {rows.integer(0), metric->second.name, static_cast<int32_t>(rows.integer(1) & 0xff), rows.real(3)});
  });
  if (unnamed != 0) trace.doubt(Severity::kLoss, "counters", "had no name and were left out", unnamed);
}

void read_allocations(NsysImport& nsys) {
  Trace& trace = nsys.trace();
  enum { kTime, kBytes, kOperation, kDevice, kAddress, kName };
  nsys.read("CUDA_GPU_MEMORY_USAGE_EVENTS",
            {"start", "bytes", "memoryOperationType", "deviceId", "address", "name"}, 3,
            [&](const NsysRows& rows) {
              Allocation row;
              row.time = rows.integer(kTime);
              row.device = rows.small(kDevice);
              row.address = rows.integer(kAddress);
              const int64_t bytes = std::max<int64_t>(rows.integer(kBytes), 0);
              row.bytes = rows.integer(kOperation) == 0 ? bytes : -bytes;  // 0 allocates, 1 frees
              row.source = trace.strings.intern(rows.text(kName));
              trace.allocations.push_back(row);
            });
}

}  // namespace

void read_nsys_metrics(NsysImport& nsys) {
  read_counters(nsys);
  read_allocations(nsys);
}

}  // namespace hone::trace
