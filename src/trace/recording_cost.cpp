// See recording_cost.hpp.
#include "trace/recording_cost.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace hone::trace {
namespace {

constexpr const char* kPlain = "latency_plain_ms";
constexpr const char* kPlainLow = "latency_plain_low_ms";
constexpr const char* kPlainHigh = "latency_plain_high_ms";
constexpr const char* kRecorded = "latency_recorded_ms";
/// Its value is one of the words below; traces of earlier versions lack it.
constexpr const char* kVerdict = "recording_cost";
constexpr std::string_view kDiffers = "differs";
constexpr std::string_view kNoise = "noise";
constexpr std::string_view kTooFewRuns = "too few runs";

/// If the intervals of the medians overlap or are unbounded, no difference is proven.
std::string_view verdict(const base::Interval& plain, const base::Interval& recorded) {
  if (!plain.bounded() || !recorded.bounded()) return kTooFewRuns;
  return recorded.low <= plain.high && plain.low <= recorded.high ? kNoise : kDiffers;
}

std::string text_of(const Trace& trace, const char* key) {
  const auto found = trace.metadata.find(key);
  return found == trace.metadata.end() ? "" : found->second;
}

std::optional<double> positive(const std::string& digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

/// Without a verdict, the uncertainty of the medians is unknown, but recording cannot make a run faster.
std::string cost_text(double share, std::string_view verdict) {
  if (verdict == kTooFewRuns) return "too few runs to tell";
  if (verdict == kNoise) return "no difference beyond noise";
  constexpr double kLeastShown = 0.0005;
  if (verdict != kDiffers && share < kLeastShown) return "no difference that can be told";
  return fmt::format("{:+.1f} %", 100 * share);
}

}  // namespace

std::optional<RecordingCost> RecordingCost::of(const Trace& trace) {
  const std::optional<double> plain = positive(text_of(trace, kPlain));
  const std::optional<double> recorded = positive(text_of(trace, kRecorded));
  if (!plain || !recorded) return std::nullopt;
  RecordingCost cost{*plain, *recorded, std::nullopt,
                     cost_text(*recorded / *plain - 1, text_of(trace, kVerdict))};
  const std::optional<double> low = positive(text_of(trace, kPlainLow));
  const std::optional<double> high = positive(text_of(trace, kPlainHigh));
  if (low && high && *low <= *high) cost.plain_interval = base::Interval{*low, *high};
  return cost;
}

void describe_cost(Trace& trace, const base::Summary& plain, const base::Summary& recorded) {
  trace.metadata[kPlain] = fmt::format("{:.6f}", plain.p50);
  if (plain.p50_interval.bounded()) {
    trace.metadata[kPlainLow] = fmt::format("{:.6f}", plain.p50_interval.low);
    trace.metadata[kPlainHigh] = fmt::format("{:.6f}", plain.p50_interval.high);
  }
  trace.metadata[kRecorded] = fmt::format("{:.6f}", recorded.p50);
  trace.metadata[kVerdict] = verdict(plain.p50_interval, recorded.p50_interval);
}

}  // namespace hone::trace
