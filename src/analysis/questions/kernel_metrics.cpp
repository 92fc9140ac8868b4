// See kernel_metrics.hpp.
#include "analysis/questions/kernel_metrics.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hone::analysis {
namespace {

using trace::KernelMetric;

/// Rows of one kernel stay together, even if a later launch has an additional metric.
class Table {
 public:
  void add(const trace::Trace& trace, const KernelMetric& value) {
    std::vector<KernelMetricRow>& rows = rows_of(value);
    const std::string& metric = trace.text(value.metric);
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const KernelMetricRow& each) { return each.metric == metric; });
    if (row == rows.end())
      row = rows.insert(rows.end(), {value.device, trace.text(value.kernel), metric, trace.text(value.unit),
                                     0, value.value, value.value, 0});
    ++row->invocations;
    row->min = std::min(row->min, value.value);
    row->max = std::max(row->max, value.value);
    row->mean += (value.value - row->mean) / static_cast<double>(row->invocations);
  }

  std::vector<KernelMetricRow> take() {
    std::vector<KernelMetricRow> result;
    for (std::vector<KernelMetricRow>& rows : kernels_) result.insert(result.end(), rows.begin(), rows.end());
    return result;
  }

 private:
  std::vector<KernelMetricRow>& rows_of(const KernelMetric& value) {
    const auto [place, is_new] = places_.try_emplace({value.device, value.kernel}, kernels_.size());
    if (is_new) kernels_.emplace_back();
    return kernels_[place->second];
  }

  std::map<std::pair<int32_t, trace::StringId>, size_t> places_;
  std::vector<std::vector<KernelMetricRow>> kernels_;
};

}  // namespace

KernelMetricTable tabulate_kernel_metrics(const trace::Trace& trace) {
  Table table;
  std::set<std::pair<int64_t, int64_t>> launches;
  for (const KernelMetric& value : trace.kernel_metrics) {
    table.add(trace, value);
    launches.insert({value.process, value.launch});
  }
  return {static_cast<int64_t>(launches.size()), table.take()};
}

}  // namespace hone::analysis
