// See metric_values.hpp.
#include "trace/collect/metric_values.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>

namespace hone::trace {
namespace {

using Counted = std::unordered_map<StringId, double>;

struct Term {
  double factor;
  StringId metric;
};

struct Formula {
  StringId name;
  StringId unit;
  std::vector<Term> sum;
  std::vector<Term> divisor;
};

std::vector<Term> terms(Trace& trace, const std::vector<MetricTerm>& from) {
  std::vector<Term> result;
  for (const MetricTerm& term : from) result.push_back({term.factor, trace.strings.intern(term.metric)});
  return result;
}

std::optional<double> sum_of(const std::vector<Term>& terms, const Counted& counted) {
  double sum = 0;
  for (const Term& term : terms) {
    const auto found = counted.find(term.metric);
    if (found == counted.end()) return std::nullopt;
    sum += term.factor * found->second;
  }
  return sum;
}

std::optional<double> value_of(const Formula& formula, const Counted& counted) {
  const std::optional<double> sum = sum_of(formula.sum, counted);
  if (!sum || formula.divisor.empty()) return sum;
  const std::optional<double> divisor = sum_of(formula.divisor, counted);
  if (!divisor || *divisor == 0) return std::nullopt;
  return *sum / *divisor;
}

/// Adds the rows of one launch.
void add_values(std::span<const KernelMetric> launch, const std::vector<Formula>& formulas,
                std::vector<KernelMetric>& to) {
  Counted counted;
  for (const KernelMetric& row : launch) counted[row.metric] = row.value;
  for (const Formula& formula : formulas) {
    const std::optional<double> value = value_of(formula, counted);
    if (!value || !std::isfinite(*value)) continue;
    KernelMetric row = launch.front();
    row.metric = formula.name;
    row.unit = formula.unit;
    row.value = *value;
    to.push_back(row);
  }
}

}  // namespace

void finish_metrics(Trace& trace, const std::vector<WantedMetric>& wanted) {
  std::vector<Formula> formulas;
  for (const WantedMetric& metric : wanted)
    formulas.push_back({trace.strings.intern(metric.name), trace.strings.intern(metric.unit),
                        terms(trace, metric.formula.sum), terms(trace, metric.formula.divisor)});
  const auto place = [](const KernelMetric& row) { return std::tie(row.process, row.launch); };
  std::vector<KernelMetric> counted = std::move(trace.kernel_metrics);
  trace.kernel_metrics.clear();
  if (counted.empty()) return;
  std::stable_sort(counted.begin(), counted.end(),
                   [&](const KernelMetric& a, const KernelMetric& b) { return place(a) < place(b); });
  for (auto first = counted.begin(); first != counted.end();) {
    const auto last = std::find_if(first, counted.end(),
                                   [&](const KernelMetric& row) { return place(row) != place(*first); });
    add_values({first, last}, formulas, trace.kernel_metrics);
    first = last;
  }
  trace.doubt(Severity::kNote, "metrics",
              "kernels ran one by one, each as often as its metrics took passes, so times are not the "
              "program's own, and what else the GPU did was not recorded",
              0);
}

}  // namespace hone::trace
