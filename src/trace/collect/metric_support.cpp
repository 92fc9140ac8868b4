// See metric_support.hpp. The question needs the headers of CUPTI, so libhone-inject.so asks it.
#include "trace/collect/metric_support.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/plugin.hpp"

namespace hone::trace {
namespace {

/// The function hone_know_metrics of plugin/know_metrics.cpp.
using KnowMetrics = int (*)(const char* chip, const char* const* names, size_t count, uint8_t* known,
                            char* text, size_t size);

bool all_known(const MetricFormula& formula, const std::vector<std::string>& names,
               const std::vector<uint8_t>& known) {
  const auto is_known = [&](const MetricTerm& term) {
    return known[static_cast<size_t>(std::find(names.begin(), names.end(), term.metric) - names.begin())] !=
           0;
  };
  return std::all_of(formula.sum.begin(), formula.sum.end(), is_known) &&
         std::all_of(formula.divisor.begin(), formula.divisor.end(), is_known);
}

}  // namespace

MetricSupport metric_support(const std::string& chip, const std::vector<WantedMetric>& metrics) {
  const std::vector<std::string> names = hardware_metrics(metrics);
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  std::vector<uint8_t> known(names.size());
  std::array<char, 512> text{};
  MetricSupport support;
  try {
    const auto ask = reinterpret_cast<KnowMetrics>(base::load_plugin_symbol("inject", "hone_know_metrics"));
    const int asked =
        ask(chip.c_str(), pointers.data(), pointers.size(), known.data(), text.data(), text.size());
    (asked != 0 ? support.chip : support.problem) = text.data();
  } catch (const Error& error) {
    support.problem = error.what();
  }
  if (support.chip.empty()) return support;
  for (const WantedMetric& metric : metrics) support.known.push_back(all_known(metric.formula, names, known));
  return support;
}

}  // namespace hone::trace
