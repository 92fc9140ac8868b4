// See metrics.hpp.
#include "trace/collect/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace hone::trace {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

/// The parts between separators.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(text);
  return parts;
}

MetricTerm parse_term(std::string_view text) {
  MetricTerm term;
  if (const size_t star = text.find(" * "); star != std::string_view::npos) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + star, term.factor);
    if (error != std::errc() || end != text.data() + star) fail_bad_input("no factor: '{}'", text);
    text.remove_prefix(star + 3);
  }
  if (text.empty() || text.find_first_not_of(kNameCharacters) != std::string_view::npos)
    fail_bad_input("no metric: '{}'", text);
  term.metric = text;
  return term;
}

std::vector<MetricTerm> parse_sum(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  std::vector<MetricTerm> terms;
  for (const std::string_view part : split(text, " + ")) terms.push_back(parse_term(part));
  return terms;
}

/// Levenshtein distance: the number of characters to insert, remove or replace.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

std::string_view nearest_name(std::string_view name) {
  const auto by_distance = [name](const MetricInfo& a, const MetricInfo& b) {
    return distance(name, a.name) < distance(name, b.name);
  };
  return std::min_element(metric_table().begin(), metric_table().end(), by_distance)->name;
}

std::string unit_of_today(std::string_view name) {
  const auto holds = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (holds(".pct")) return "%";
  if (holds("time_duration")) return "ns";
  const bool a_second = holds(".per_second");
  if (holds("bytes") && !holds(".per_cycle")) return a_second ? "B/s" : "B";
  return a_second ? "1/s" : "";
}

/// Tests for a current name, such as "sm__warps_active.avg": the unit of the GPU, two underscores, a counter,
/// a point, and the aggregation.
bool is_of_today(std::string_view name) {
  return name.find("__") != std::string_view::npos && name.find('.') != std::string_view::npos &&
         name.find_first_not_of(kNameCharacters) == std::string_view::npos;
}

WantedMetric want_metric(const std::string& name) {
  for (const MetricInfo& metric : metric_table()) {
    if (metric.name == name) return {name, std::string(metric.unit), parse_formula(metric.expression)};
  }
  if (is_of_today(name)) return {name, unit_of_today(name), {{{1, name}}, {}}};
  if (name.find("__") != std::string::npos)
    fail_usage("metric '{}' does not say how its parts are put together, as in {}.avg or {}.sum", name, name,
               name);
  fail_usage("metric '{}' is not known; the nearest name is {} (hone profile --query-metrics lists them)",
             name, nearest_name(name));
}

}  // namespace

MetricFormula parse_formula(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, " / ");
  if (parts.size() > 2) fail_bad_input("more than one division: '{}'", text);
  MetricFormula formula{parse_sum(parts[0]), {}};
  if (parts.size() == 2) formula.divisor = parse_sum(parts[1]);
  return formula;
}

std::vector<WantedMetric> want_metrics(const std::vector<std::string>& names) {
  std::vector<WantedMetric> wanted;
  for (const std::string& name : names) {
    const bool known = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const WantedMetric& metric) { return metric.name == name; });
    if (!known) wanted.push_back(want_metric(name));
  }
  return wanted;
}

std::vector<std::string> hardware_metrics(const std::vector<WantedMetric>& wanted) {
  std::vector<std::string> names;
  for (const WantedMetric& metric : wanted) {
    for (const auto* terms : {&metric.formula.sum, &metric.formula.divisor}) {
      for (const MetricTerm& term : *terms) {
        if (std::find(names.begin(), names.end(), term.metric) == names.end()) names.push_back(term.metric);
      }
    }
  }
  return names;
}

}  // namespace hone::trace
