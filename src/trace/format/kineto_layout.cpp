// See kineto_layout.hpp.
#include "trace/format/kineto_layout.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>

namespace hone::trace {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

bool is_api(HostKind kind) { return kind == HostKind::kRuntimeApi || kind == HostKind::kDriverApi; }

/// Readers build one tree per thread from these events.
bool nests(HostKind kind) { return kind != HostKind::kOverhead; }

int64_t largest_id(const Trace& trace) {
  int64_t largest = 0;
  for (const HostEvent& event : trace.host_events) largest = std::max(largest, event.external_id);
  return std::min(largest, int64_t{1} << 53);  // later numbers stay exact where readers use doubles
}

/// Visits the events of a thread together with the events that enclose them.
class Walker {
 public:
  Walker(const Trace& trace, HostLayout& layout)
      : trace_(trace), layout_(layout), next_id_(largest_id(trace)) {}

  void visit(size_t index) {
    const HostEvent& event = trace_.host_events[index];
    if (event.thread != thread_) open_.clear();
    thread_ = event.thread;
    while (!open_.empty() && layout_.ends[open_.back()] <= event.start) open_.pop_back();
    layout_.ends[index] = event.end;
    if (nests(event.kind) && !open_.empty() && event.end > layout_.ends[open_.back()]) {
      layout_.ends[index] = layout_.ends[open_.back()];
      ++layout_.cut;
    }
    layout_.external_ids[index] = is_api(event.kind) ? id_of_call(event) : id_of_own(event);
    layout_.parents[index] = enclosing(HostKind::kPython);
    if (nests(event.kind)) open_.push_back(index);
  }

 private:
  int64_t id_of_own(const HostEvent& event) {
    if (event.external_id > 0 && used_.insert(event.external_id).second) return event.external_id;
    used_.insert(++next_id_);
    return next_id_;
  }

  int64_t id_of_call(const HostEvent& event) const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (owns_calls(trace_, trace_.host_events[open_[i]])) return layout_.external_ids[open_[i]];
    }
    return std::max<int64_t>(event.external_id, 0);
  }

  int64_t enclosing(HostKind kind) const {
    for (size_t i = open_.size(); i-- > 0;) {
      if (trace_.host_events[open_[i]].kind == kind) return static_cast<int64_t>(open_[i]);
    }
    return kNone;
  }

  const Trace& trace_;
  HostLayout& layout_;
  std::vector<size_t> open_;
  std::unordered_set<int64_t> used_;
  int64_t next_id_;
  int32_t thread_ = -1;
};

/// The thread with the most iterations: readers expect that iterations do not overlap.
int32_t stepping_thread(const Trace& trace) {
  std::map<int32_t, int64_t> counts;
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostKind::kStep) ++counts[event.thread];
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? -1 : most->first;
}

bool is_step_name(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return false;
  const std::string_view number = name.substr(kStepPrefix.size());
  return !number.empty() && number.size() < 10 &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Uses the names of the iterations if all have one and the names differ, else numbers from 0.
void name_steps(const Trace& trace, HostLayout& layout) {
  const int32_t thread = stepping_thread(trace);
  std::vector<size_t> steps;
  Time last_end = 0;
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (event.kind != HostKind::kStep || event.thread != thread) continue;
    if (!steps.empty() && event.start < last_end) continue;
    steps.push_back(i);
    last_end = layout.ends[i];
  }
  std::set<std::string_view> names;
  for (const size_t step : steps) {
    const std::string& name = trace.text(trace.host_events[step].name);
    if (is_step_name(name)) names.insert(name);
  }
  const bool keep = names.size() == steps.size();
  for (size_t i = 0; i < steps.size(); ++i) {
    layout.step_names[steps[i]] =
        keep ? trace.text(trace.host_events[steps[i]].name) : std::string(kStepPrefix) + std::to_string(i);
  }
}

/// If two calls have the same correlation, the program made the runtime's call.
void find_launches(const Trace& trace, HostLayout& layout) {
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const HostEvent& event = trace.host_events[i];
    if (!is_api(event.kind) || event.correlation <= 0) continue;
    const auto [place, added] = layout.launches.emplace(event.correlation, i);
    if (!added && trace.host_events[place->second].kind == HostKind::kDriverApi) place->second = i;
  }
}

}  // namespace

bool owns_calls(const Trace& trace, const HostEvent& event) {
  if (event.kind == HostKind::kOperator || event.kind == HostKind::kEngineStep) return true;
  if (event.kind != HostKind::kRange) return false;
  const std::string& name = trace.text(event.name);
  return name.starts_with("nccl:") || name.starts_with("gloo:");
}

HostLayout lay_out(const Trace& trace) {
  HostLayout layout;
  const size_t count = trace.host_events.size();
  layout.ends.resize(count);
  layout.external_ids.resize(count);
  layout.parents.resize(count, kNone);
  Walker walker(trace, layout);
  for (size_t i = 0; i < count; ++i) walker.visit(i);
  name_steps(trace, layout);
  find_launches(trace, layout);
  return layout;
}

int64_t process_of(const Trace& trace, const HostLayout& layout, int64_t correlation, int64_t context) {
  const auto launch = layout.launches.find(correlation);
  if (launch != layout.launches.end()) {
    const HostEvent& event = trace.host_events[launch->second];
    return trace.threads[static_cast<size_t>(event.thread)].process;
  }
  for (const Context& row : trace.contexts) {
    if (row.id == context) return row.process;
  }
  return kNone;
}

}  // namespace hone::trace
