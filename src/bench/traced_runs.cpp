// See traced_runs.hpp.
#include "bench/traced_runs.hpp"

#include <unistd.h>

#include <ctime>
#include <map>
#include <mutex>

#include "base/ranges.hpp"
#include "bench/protocol.hpp"

namespace hone::bench {
namespace {

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  constexpr int64_t kBillion = 1'000'000'000;
  return static_cast<int64_t>(time.tv_sec) * kBillion + time.tv_nsec;
}

/// Writes down every range that is announced while it lives.
class Recorder final : public base::RangeListener {
 public:
  explicit Recorder(TracedRuns& runs) : runs_(runs) { base::listen_to_ranges(this); }
  ~Recorder() override { base::listen_to_ranges(nullptr); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void begin(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = ids_.try_emplace(name, runs_.names.size());
    if (is_new) runs_.names.push_back(name);
    const int64_t thread = gettid();
    open_[thread].push_back(runs_.ranges.size());
    runs_.ranges.push_back({place->second, thread, now_ns(), 0});
  }

  void end() override {
    const int64_t time = now_ns();
    const std::lock_guard lock(mutex_);
    std::vector<size_t>& open = open_[gettid()];
    runs_.ranges[open.back()].end_ns = time;
    open.pop_back();
  }

 private:
  TracedRuns& runs_;
  std::mutex mutex_;
  std::map<std::string, size_t> ids_;
  std::map<int64_t, std::vector<size_t>> open_;
};

}  // namespace

TracedRuns trace_runs(backend::Executable& executable, std::span<const std::vector<tensor::Tensor>> sets,
                      int64_t count, bool transfers) {
  TracedRuns traced;
  traced.process = getpid();
  traced.thread = gettid();
  const Recorder recorder(traced);
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<tensor::Tensor>& inputs = sets[static_cast<size_t>(i) % sets.size()];
    if (!transfers) executable.upload(inputs);
    const int64_t start = now_ns();
    if (transfers) {
      executable.run(inputs);
    } else {
      executable.execute();
    }
    traced.runs.push_back({start, now_ns()});
  }
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
  for (const backend::StepInfo& step : traced.steps) {
    steps.push_back({{"name", step.name},
                     {"kind", step.kind},
                     {"tactic", step.tactic},
                     {"sources", step.sources},
                     {"inputs", step.inputs},
                     {"outputs", step.outputs},
                     {"flops", step.flops},
                     {"bytes", step.bytes}});
  }
  return {{"process", traced.process}, {"thread", traced.thread},     {"runs", std::move(runs)},
          {"names", traced.names},     {"ranges", std::move(ranges)}, {"steps", std::move(steps)}};
}

TracedRuns parse_traced_runs(const Json& json) {
  TracedRuns traced;
  traced.process = member<int64_t>(json, "process");
  traced.thread = member<int64_t>(json, "thread");
  traced.names = member<std::vector<std::string>>(json, "names");
  for (const auto& [start, end] : member<std::vector<std::pair<int64_t, int64_t>>>(json, "runs"))
    traced.runs.push_back({start, end});
  for (const auto& [name, thread, start, end] :
       member<std::vector<std::tuple<size_t, int64_t, int64_t, int64_t>>>(json, "ranges")) {
    if (name >= traced.names.size())
      fail_bad_input("the field 'ranges' names text {} of {}", name, traced.names.size());
    traced.ranges.push_back({name, thread, start, end});
  }
  for (const Json& step : member<std::vector<Json>>(json, "steps")) {
    backend::StepInfo& info = traced.steps.emplace_back();
    info.name = member<std::string>(step, "name");
    info.kind = member<std::string>(step, "kind");
    info.tactic = member<std::string>(step, "tactic");
    info.sources = member<std::vector<std::string>>(step, "sources");
    info.inputs = member<std::vector<std::string>>(step, "inputs");
    info.outputs = member<std::vector<std::string>>(step, "outputs");
    info.flops = member<double>(step, "flops");
    info.bytes = member<double>(step, "bytes");
  }
  return traced;
}

}  // namespace hone::bench
