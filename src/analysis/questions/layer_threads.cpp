// See layer_threads.hpp.
#include "analysis/questions/layer_threads.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/schema/layers.hpp"

namespace hone::analysis {
namespace {

using trace::StringId;
using trace::Time;
using trace::Trace;

/// The steps by their times.
std::map<std::pair<Time, Time>, StringId> steps_of(const Trace& trace) {
  std::map<std::pair<Time, Time>, StringId> steps;
  for (const trace::HostEvent& event : trace.host_events) {
    if (event.kind == trace::HostKind::kEngineStep) steps[{event.start, event.end}] = event.name;
  }
  return steps;
}

struct Account {
  LayerThreads layer;
  std::map<int32_t, double> cpu;  ///< by thread
};

void add(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

void count(const std::string& counter, const trace::ThreadUsage& usage, Account& account) {
  const auto value = static_cast<double>(usage.value);
  if (counter == "CPU time") {
    account.layer.cpu += value;
    account.cpu[usage.thread] += value;
  } else if (counter == "cycles") {
    add(account.layer.cycles, value);
  } else if (counter == "instructions") {
    add(account.layer.instructions, value);
  } else if (counter == "cache misses") {
    add(account.layer.cache_misses, value);
  }
}

/// The imbalance of a layer in which up to `threads` threads may have worked.
double imbalance(const LayerThreads& layer, size_t threads) {
  if (threads < 2 || layer.slowest <= 0) return 0;
  return 1 - layer.cpu / static_cast<double>(threads) / layer.slowest;
}

}  // namespace

LayerThreadTable analyze_layer_threads(const Trace& trace) {
  LayerThreadTable table;
  if (trace.thread_usages.empty()) return table;
  const auto steps = steps_of(trace);
  std::map<StringId, Account> accounts;
  for (const auto& [times, name] : steps) {
    LayerThreads& layer = accounts[name].layer;
    layer.name = trace.text(name);
    layer.wall += static_cast<double>(times.second - times.first);
    ++layer.calls;
  }
  std::set<int32_t> threads;
  for (const trace::ThreadUsage& usage : trace.thread_usages) {
    const auto step = steps.find({usage.start, usage.end});
    if (step == steps.end()) continue;
    threads.insert(usage.thread);
    count(trace.text(usage.counter), usage, accounts.at(step->second));
  }
  table.threads = static_cast<int64_t>(threads.size());
  for (auto& [name, account] : accounts) {
    for (const auto& [thread, cpu] : account.cpu)
      account.layer.slowest = std::max(account.layer.slowest, cpu);
    account.layer.imbalance = imbalance(account.layer, threads.size());
    table.layers.push_back(std::move(account.layer));
  }
  std::stable_sort(table.layers.begin(), table.layers.end(),
                   [](const LayerThreads& a, const LayerThreads& b) { return a.wall > b.wall; });
  return table;
}

Json to_json(const LayerThreadTable& table) { return base::described_json(table); }

}  // namespace hone::analysis
