// Fields of times, trends, estimates and doubts, which many answers hold.
#pragma once

#include "analysis/names.hpp"
#include "base/described.hpp"
#include "base/statistics.hpp"
#include "base/trend.hpp"
#include "trace/trace.hpp"

namespace hone::base {

/// In ns, unless the field that holds it says otherwise.
template <>
struct Description<Summary> {
  static constexpr std::string_view kName = "TimeSummary";
  static constexpr auto kFields = std::tuple{
      Field{"n", &Summary::n, "How many values there are", unit::kCount, origin::kMeasured},
      Field{"mean_ns", &Summary::mean, "Sum of the values by their number", unit::kNs, origin::kMeasured},
      Field{"sd_ns", &Summary::sd, "Standard deviation of the sample (divided by n - 1)", unit::kNs,
            origin::kMeasured},
      Field{"min_ns", &Summary::min, "Smallest value", unit::kNs, origin::kMeasured},
      Field{"max_ns", &Summary::max, "Largest value", unit::kNs, origin::kMeasured},
      Field{"p25_ns", &Summary::p25, "A quarter of the values is at most this", unit::kNs, origin::kMeasured},
      Field{"median_ns", &Summary::p50, "Half of the values are at most this", unit::kNs, origin::kMeasured},
      Field{"p75_ns", &Summary::p75, "Three quarters of the values are at most this", unit::kNs,
            origin::kMeasured},
      Field{"median_low_ns", [](const Summary& s) { return s.p50_interval.low; },
            "Lower end of the median's 95 % confidence interval, from order statistics; null below 6 values",
            unit::kNs, origin::kEstimated},
      Field{"median_high_ns", [](const Summary& s) { return s.p50_interval.high; },
            "Upper end of the median's 95 % confidence interval, from order statistics; null below 6 values",
            unit::kNs, origin::kEstimated}};
};

template <>
struct Description<Trend> {
  static constexpr std::string_view kName = "Trend";
  static constexpr auto kFields = std::tuple{
      Field{"slope", &Trend::slope, "Median of the changes from one value to the next (Theil and Sen)",
            unit::kNs, origin::kEstimated},
      Field{"low", &Trend::low, "Lower end of its 95 % confidence interval", unit::kNs, origin::kEstimated},
      Field{"high", &Trend::high, "Upper end of its 95 % confidence interval", unit::kNs, origin::kEstimated},
      Field{"certain", &Trend::certain, "Whether the interval leaves out 0: the values do grow or fall"}};
};

template <>
struct Description<trace::Doubt> {
  static constexpr std::string_view kName = "Doubt";
  static constexpr auto kFields = std::tuple{
      Field{"severity", [](const trace::Doubt& doubt) { return analysis::severity_name(doubt.severity); },
            "note: good to know; doubt: figures may be off; loss: something was not recorded"},
      Field{"about", &trace::Doubt::about, "Part of the trace that it concerns"},
      Field{"text", &trace::Doubt::text, "What is the matter"},
      Field{"count", &trace::Doubt::count, "How many times, where that can be told", unit::kCount}};
};

}  // namespace hone::base
