// See capture.hpp.
#include "trace/collect/capture.hpp"

#include <fmt/format.h>

#include <cmath>
#include <regex>

#include "base/error.hpp"

namespace hone::trace {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr const char* kProfilerApi = "cudaProfilerApi";
constexpr const char* kNvtx = "nvtx:";

void check_seconds(const char* option, double value) {
  constexpr double kMost = 1e7;
  if (!(value >= 0 && value <= kMost)) fail_usage("{} must be between 0 and {:.0f} seconds", option, kMost);
}

}  // namespace

void check_capture(const CaptureOptions& options) {
  check_seconds("--delay", options.delay_s);
  check_seconds("--duration", options.duration_s);
  if (!options.range.empty()) {
    const bool named = options.range.starts_with(kNvtx) && options.range != kNvtx;
    if (options.range != kProfilerApi && !named)
      fail_usage("--capture-range is {} or {}NAME, not '{}'", kProfilerApi, kNvtx, options.range);
    if (options.delay_s > 0 || options.duration_s > 0)
      fail_usage("--capture-range says when to record, so --delay and --duration cannot");
  }
  try {
    const std::regex checked(options.kernels);
  } catch (const std::regex_error&) {
    fail_usage("--kernels is no regular expression: '{}'", options.kernels);
  }
}

std::vector<std::string> capture_variables(const CaptureOptions& options, Time now) {
  std::vector<std::string> result;
  const Time from = now + std::llround(options.delay_s * kNanoseconds);
  if (options.delay_s > 0 || options.duration_s > 0)
    result.push_back(fmt::format("HONE_TRACE_FROM_NS={}", from));
  if (options.duration_s > 0)
    result.push_back(
        fmt::format("HONE_TRACE_UNTIL_NS={}", from + std::llround(options.duration_s * kNanoseconds)));
  if (!options.range.empty()) result.push_back("HONE_TRACE_RANGE=" + options.range);
  if (!options.kernels.empty()) result.push_back("HONE_TRACE_KERNELS=" + options.kernels);
  return result;
}

void note_capture(const CaptureOptions& options, Trace& trace) {
  const bool empty = trace.host_events.empty() && trace.device_events.empty() && trace.kernel_metrics.empty();
  if (!options.range.empty()) {
    trace.doubt(Severity::kNote, "capture", fmt::format("only {} was recorded", options.range), 0);
    if (empty)
      trace.doubt(Severity::kLoss, "capture",
                  options.range == kProfilerApi
                      ? "nothing was recorded: the program never called cudaProfilerStart"
                      : "nothing was recorded: no thread entered the range",
                  0);
  } else if (options.delay_s > 0 || options.duration_s > 0) {
    const std::string end =
        options.duration_s > 0 ? fmt::format("{:g} s", options.delay_s + options.duration_s) : "its end";
    trace.doubt(
        Severity::kNote, "capture",
        fmt::format("only what happened from {:g} s after the start of the program to {} was recorded",
                    options.delay_s, end),
        0);
  }
  if (!options.kernels.empty())
    trace.doubt(Severity::kDoubt, "capture",
                fmt::format("only kernels with '{}' in their names were recorded: times without a kernel are "
                            "not times without work",
                            options.kernels),
                0);
}

}  // namespace hone::trace
