// See traced_runs.hpp.
#include "bench/worker/traced_runs.hpp"

#include <unistd.h>

#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "base/ranges.hpp"
#include "bench/worker/device_json.hpp"
#include "bench/worker/json_rows.hpp"
#include "bench/worker/protocol.hpp"
#include "system/thread_counters.hpp"

namespace hone::bench {
namespace {

/// Records every range that is announced during its lifetime.
class Recorder final : public base::RangeListener {
 public:
  Recorder(TracedRuns& runs, const system::ThreadCounters* counters) : runs_(runs), counters_(counters) {
    read_counters();
    base::listen_to_ranges(this);
  }
  ~Recorder() override { base::listen_to_ranges(nullptr); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void begin(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = ids_.try_emplace(name, runs_.names.size());
    if (is_new) runs_.names.push_back(name);
    const int64_t thread = gettid();
    open_[thread].push_back({runs_.ranges.size(), read_counters()});
    runs_.ranges.push_back({place->second, thread, base::monotonic_ns(), 0});
  }

  void end() override {
    const int64_t time = base::monotonic_ns();
    const std::lock_guard lock(mutex_);
    std::vector<Counted>& open = open_[gettid()];
    runs_.ranges[open.back().range].end_ns = time;
    open.back().at_end = read_counters();
    if (counters_ != nullptr) counted_.push_back(open.back());
    open.pop_back();
  }

  /// Adds the CPU use of threads in the ranges; call it after the last range.
  void add_usages() {
    if (counters_ == nullptr) return;
    read_counters();
    for (const Counted& counted : counted_) {
      const TracedRuns::Range& range = runs_.ranges[counted.range];
      const system::CountedRange around{range.start_ns,
                                        range.end_ns,
                                        readings_[counted.at_start - 1],
                                        readings_[counted.at_start],
                                        readings_[counted.at_end],
                                        readings_[counted.at_end + 1]};
      for (size_t i = 0; i < counters_->threads().size(); ++i) {
        TracedRuns::Usage usage{counted.range, counters_->threads()[i], system::used_in(around, i)};
        if (usage.values.front() > 0) runs_.usages.push_back(std::move(usage));
      }
    }
  }

 private:
  struct Counted {
    size_t range;
    size_t at_start;  ///< index of the counter reading
    size_t at_end = 0;
  };

  /// Returns the index of the reading.
  size_t read_counters() {
    if (counters_ == nullptr) return 0;
    readings_.push_back(counters_->read());
    return readings_.size() - 1;
  }

  TracedRuns& runs_;
  const system::ThreadCounters* counters_;
  std::mutex mutex_;
  std::map<std::string, size_t> ids_;
  std::map<int64_t, std::vector<Counted>> open_;
  std::vector<Counted> counted_;
  std::vector<system::CounterReading> readings_;
};

void add(TracedRuns& traced, backend::Observed observed) {
  const auto before = static_cast<int64_t>(traced.names.size());
  std::move(observed.texts.begin(), observed.texts.end(), std::back_inserter(traced.names));
  traced.operators = std::move(observed.calls);
  for (TracedRuns::Operator& call : traced.operators) {
    for (int64_t* text : {&call.name, &call.shapes, &call.types}) {
      if (*text >= 0) *text += before;
    }
  }
  traced.allocations = std::move(observed.memory);
  traced.device = std::move(observed.device);
}

/// The names to which rows of an answer refer by index.
class Names {
 public:
  explicit Names(const std::vector<std::string>& names) : names_(names), is_list_(names.size()) {}

  void check(int64_t index, const char* field) const {
    if (index < 0 || index >= static_cast<int64_t>(names_.size()))
      fail_bad_input("the field '{}' names text {} of {}", field, index, names_.size());
  }

  /// -1 means none.
  void check_list(int64_t index, const char* field) {
    if (index == -1) return;
    check(index, field);
    const auto place = static_cast<size_t>(index);
    if (is_list_[place]) return;
    if (!names_[place].starts_with('[') || !Json::accept(names_[place]))
      fail_bad_input("the field '{}' names text {} as a JSON list, which it is not", field, index);
    is_list_[place] = true;
  }

 private:
  const std::vector<std::string>& names_;
  std::vector<bool> is_list_;  // true if it was already checked
};

Json operators_json(const TracedRuns& traced) {
  Json rows = Json::array();
  for (const TracedRuns::Operator& call : traced.operators)
    rows.push_back(
        {call.name, call.thread, call.start_ns, call.end_ns, call.sequence, call.shapes, call.types});
  return rows;
}

Json allocations_json(const TracedRuns& traced) {
  Json rows = Json::array();
  for (const TracedRuns::Allocation& row : traced.allocations)
    rows.push_back({row.time_ns, row.thread, row.device, row.address, row.bytes, row.total_allocated,
                    row.total_reserved});
  return rows;
}

Json usage_json(const TracedRuns& traced) {
  Json rows = Json::array();
  for (const TracedRuns::Usage& usage : traced.usages)
    rows.push_back({usage.range, usage.thread, usage.values});
  return {{"counters", traced.counters}, {"missing", traced.counters_missing}, {"rows", std::move(rows)}};
}

void parse_usage(const Json& json, TracedRuns& traced) {
  if (!json.contains("usage")) return;
  const Json usage = member<Json>(json, "usage");
  traced.counters = member<std::vector<std::string>>(usage, "counters");
  traced.counters_missing = member<std::string>(usage, "missing");
  for (const auto& [range, thread, values] :
       member<std::vector<std::tuple<size_t, int64_t, std::vector<int64_t>>>>(usage, "rows")) {
    if (range >= traced.ranges.size())
      fail_bad_input("the field 'usage' names range {} of {}", range, traced.ranges.size());
    if (values.size() != traced.counters.size())
      fail_bad_input("the field 'usage' has {} values for {} counters", values.size(),
                     traced.counters.size());
    traced.usages.push_back({range, thread, values});
  }
}

Json step_json(const backend::StepInfo& step) {
  Json rivals = Json::array();
  for (const backend::Rival& rival : step.rivals) rivals.push_back(to_json(rival));
  return {{"name", step.name},          {"kind", step.kind},     {"tactic", step.tactic},
          {"sources", step.sources},    {"inputs", step.inputs}, {"outputs", step.outputs},
          {"flops", step.flops},        {"bytes", step.bytes},   {"predecessors", step.predecessors},
          {"rivals", std::move(rivals)}};
}

/// `position` is its index among the steps.
backend::StepInfo parse_step(const Json& json, size_t position) {
  backend::StepInfo step;
  step.name = member<std::string>(json, "name");
  step.kind = member<std::string>(json, "kind");
  step.tactic = member<std::string>(json, "tactic");
  step.sources = member<std::vector<std::string>>(json, "sources");
  step.inputs = member<std::vector<std::string>>(json, "inputs");
  step.outputs = member<std::vector<std::string>>(json, "outputs");
  step.flops = member<double>(json, "flops");
  step.bytes = member<double>(json, "bytes");
  step.predecessors = member_or(json, "predecessors", std::vector<int32_t>());
  for (const int32_t from : step.predecessors) {
    if (from < 0 || std::cmp_greater_equal(from, position))
      fail_bad_input("the field 'predecessors' of step {} names step {}", position, from);
  }
  for (const Json& rival : member_or(json, "rivals", std::vector<Json>()))
    step.rivals.push_back(parse_rival(rival));
  return step;
}

}  // namespace

TracedRuns trace_runs(backend::Executable& executable, std::span<const std::vector<tensor::Tensor>> sets,
                      int64_t count, bool transfers, const TraceOptions& options) {
  TracedRuns traced;
  traced.process = getpid();
  traced.thread = gettid();
  std::unique_ptr<system::ThreadCounters> counters;
  if (options.thread_counters) {
    counters = std::make_unique<system::ThreadCounters>();
    traced.counters = counters->names();
    traced.counters_missing = counters->missing();
  }
  Recorder recorder(traced, counters.get());
  const std::unique_ptr<backend::Observer> observer = executable.observe(options.observe);
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<tensor::Tensor>& inputs = sets[static_cast<size_t>(i) % sets.size()];
    if (!transfers) executable.upload(inputs);
    const int64_t start = base::monotonic_ns();
    if (transfers) {
      executable.run(inputs);
    } else {
      executable.execute();
    }
    traced.runs.push_back({start, base::monotonic_ns()});
  }
  recorder.add_usages();
  if (observer != nullptr) add(traced, observer->finish());
  traced.steps = executable.steps();
  return traced;
}

Json to_json(const TracedRuns& traced) {
  Json runs = Json::array();
  for (const TracedRuns::Run& run : traced.runs) runs.push_back({run.start_ns, run.end_ns});
  Json ranges = Json::array();
  for (const TracedRuns::Range& range : traced.ranges)
    ranges.push_back({range.name, range.thread, range.start_ns, range.end_ns});
  Json steps = Json::array();
  for (const backend::StepInfo& step : traced.steps) steps.push_back(step_json(step));
  Json json = {{"process", traced.process},
               {"thread", traced.thread},
               {"runs", std::move(runs)},
               {"names", traced.names},
               {"ranges", std::move(ranges)},
               {"operators", operators_json(traced)},
               {"allocations", allocations_json(traced)},
               {"usage", usage_json(traced)},
               {"steps", std::move(steps)}};
  if (!traced.device.calls.empty()) json["device_record"] = to_json(traced.device);
  return json;
}

TracedRuns parse_traced_runs(const Json& json) {
  TracedRuns traced;
  traced.process = member<int64_t>(json, "process");
  traced.thread = member<int64_t>(json, "thread");
  traced.names = member<std::vector<std::string>>(json, "names");
  for (const auto& [start, end] : rows<2>(json, "runs")) {
    if (start < 0 || end < start) fail_bad_input("the field 'runs' holds a run from {} to {}", start, end);
    traced.runs.push_back({start, end});
  }
  Names names(traced.names);
  for (const auto& [name, thread, start, end] : rows<4>(json, "ranges")) {
    names.check(name, "ranges");
    traced.ranges.push_back({static_cast<size_t>(name), thread, start, end});
  }
  for (const auto& [name, thread, start, end, sequence, shapes, types] : rows<7>(json, "operators", true)) {
    names.check(name, "operators");
    names.check_list(shapes, "operators");
    names.check_list(types, "operators");
    traced.operators.push_back({name, thread, start, end, sequence, shapes, types});
  }
  for (const auto& [time, thread, device, address, bytes, allocated, reserved] :
       rows<7>(json, "allocations", true)) {
    if (!std::in_range<int32_t>(device)) fail_bad_input("the field 'allocations' holds device {}", device);
    traced.allocations.push_back({time, thread, device, address, bytes, allocated, reserved});
  }
  parse_usage(json, traced);
  if (json.contains("device_record")) traced.device = parse_device_record(json["device_record"]);
  for (const Json& step : member<std::vector<Json>>(json, "steps"))
    traced.steps.push_back(parse_step(step, traced.steps.size()));
  return traced;
}

}  // namespace hone::bench
