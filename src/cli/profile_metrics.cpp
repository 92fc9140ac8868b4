// See profile_metrics.hpp.
#include "cli/profile_metrics.hpp"

#include <fmt/core.h>

#include "base/error.hpp"
#include "base/json.hpp"
#include "trace/collect/metric_support.hpp"

namespace hone::cli {
namespace {

using trace::MetricInfo;
using trace::MetricSupport;

Json json_of(const MetricSupport& support) {
  Json metrics = Json::array();
  for (size_t i = 0; i < trace::metric_table().size(); ++i) {
    const MetricInfo& metric = trace::metric_table()[i];
    metrics.push_back({{"name", metric.name},
                       {"expression", metric.expression},
                       {"unit", metric.unit},
                       {"description", metric.description},
                       {"available", support.known.empty() ? Json() : Json(bool(support.known[i]))}});
  }
  return {{"schema", "hone.metrics"},
          {"version", 1},
          {"chip", support.chip.empty() ? Json() : Json(support.chip)},
          {"problem", support.problem.empty() ? Json() : Json(support.problem)},
          {"metrics", std::move(metrics)}};
}

void print_list(const MetricSupport& support) {
  size_t missing = 0;
  for (size_t i = 0; i < trace::metric_table().size(); ++i) {
    const MetricInfo& metric = trace::metric_table()[i];
    const bool known = support.known.empty() || support.known[i];
    missing += known ? 0 : 1;
    fmt::print("{}{}{}\n    {}\n    {}\n", metric.name,
               metric.unit.empty() ? "" : fmt::format(" ({})", metric.unit),
               known ? "" : fmt::format("  not on {}", support.chip), metric.description, metric.expression);
  }
  fmt::print("\n{} names of nvprof, with the metrics measured instead. ", trace::metric_table().size());
  if (support.chip.empty()) {
    fmt::print("Which of them a GPU has is not known here: {}.\n", support.problem);
  } else {
    fmt::print("{} has {} of them.\n", support.chip, trace::metric_table().size() - missing);
  }
  fmt::print(
      "Names of Nsight Compute are taken as they are, as in --metrics dram__bytes_read.sum.\n"
      "Metrics that nvprof gave as a level from 0 to 10 (utilization) are in per cent.\n");
}

}  // namespace

void list_metrics(const std::string& chip, bool json) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : trace::metric_table()) names.emplace_back(metric.name);
  const MetricSupport support = trace::metric_support(chip, trace::want_metrics(names));
  if (!chip.empty() && support.chip.empty())
    fail_usage("what the chip '{}' can measure is not known: {}", chip, support.problem);
  if (json) {
    fmt::print("{}\n", json_of(support).dump(2));
  } else {
    print_list(support);
  }
}

}  // namespace hone::cli
