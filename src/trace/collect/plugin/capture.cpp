// See capture.hpp.
#include "trace/collect/plugin/capture.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/collect/plugin/clock.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();
/// Longest time that launches are assumed to wait in queues of the GPU.
constexpr uint64_t kQueueNanoseconds = 10'000'000'000;

struct Window {
  uint64_t start;
  uint64_t end;
};

struct Rules {
  bool limited = false;
  bool profiler_api = false;
  uint32_t range = 0;  ///< text id
  std::optional<std::regex> kernels;

  std::mutex mutex;
  std::vector<Window> windows;  ///< ordered by time; only the last one may be open
  int depth = 0;
  std::unordered_map<uint32_t, bool> wanted;
};

/// Never destroyed: records arrive while the process exits.
Rules& rules() {
  static auto* instance = new Rules;
  return *instance;
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

uint64_t number(std::string_view text, uint64_t otherwise) {
  return text.empty() ? otherwise : std::strtoull(text.data(), nullptr, 10);
}

void write_edge(uint64_t time, bool opens) {
  raw::Window record;
  record.time = time;
  record.opens = opens ? 1 : 0;
  Batch batch;
  batch.add(record);
  append(batch);
}

bool overlaps_window(uint64_t start, uint64_t end, uint64_t longer) {
  Rules& r = rules();
  if (!r.limited || is_abandoned()) return true;
  const std::lock_guard lock(r.mutex);
  const auto after = std::partition_point(r.windows.begin(), r.windows.end(),
                                          [end](const Window& window) { return window.start <= end; });
  if (after == r.windows.begin()) return false;
  const uint64_t last = (after - 1)->end;
  return last == kForever || last + longer >= start;
}

std::string demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

}  // namespace

void read_capture_rules() {
  Rules& r = rules();
  const std::string_view from = variable("HONE_TRACE_FROM_NS");
  const std::string_view until = variable("HONE_TRACE_UNTIL_NS");
  const std::string_view range = variable("HONE_TRACE_RANGE");
  r.limited = !from.empty() || !until.empty() || !range.empty();
  if (range == "cudaProfilerApi") r.profiler_api = true;
  if (range.starts_with("nvtx:")) r.range = text_id(range.substr(5));
  if (r.limited && range.empty()) {
    r.windows.push_back({number(from, 0), number(until, kForever)});
    write_edge(r.windows.back().start, true);
    if (!until.empty()) write_edge(r.windows.back().end, false);
  }
  try {
    if (const std::string_view text = variable("HONE_TRACE_KERNELS"); !text.empty())
      r.kernels.emplace(std::string(text));
  } catch (const std::regex_error&) {
    constexpr uint32_t kLoss = 2;
    report_loss(kLoss, "collector", "the filter of kernels is no regular expression; all were recorded", 0);
  }
}

bool is_bounded_by_profiler_api() { return rules().profiler_api; }

bool is_capture_range(uint32_t name) { return rules().range != 0 && rules().range == name; }

void open_window() {
  if (is_abandoned()) return;
  Rules& r = rules();
  const std::lock_guard lock(r.mutex);
  if (r.depth++ > 0) return;
  r.windows.push_back({clock_now(), kForever});
  write_edge(r.windows.back().start, true);
}

void close_window() {
  if (is_abandoned()) return;
  Rules& r = rules();
  const std::lock_guard lock(r.mutex);
  if (r.depth == 0 || --r.depth > 0) return;
  r.windows.back().end = clock_now();
  write_edge(r.windows.back().end, false);
}

bool is_captured(uint64_t start, uint64_t end) { return overlaps_window(start, end, 0); }

bool may_be_captured(uint64_t start, uint64_t end) { return overlaps_window(start, end, kQueueNanoseconds); }

bool is_kernel_wanted(const char* name, uint32_t id) {
  Rules& r = rules();
  if (!r.kernels) return true;
  const std::lock_guard lock(r.mutex);
  const auto [place, is_new] = r.wanted.try_emplace(id, false);
  if (is_new) place->second = std::regex_search(demangled(name), *r.kernels);
  return place->second;
}

}  // namespace hone::trace::inject
