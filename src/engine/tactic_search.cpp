// See tactic_search.hpp.
#include "engine/tactic_search.hpp"

#include <algorithm>
#include <chrono>

#include "engine/context.hpp"
#include "engine/step_signature.hpp"
#include "engine/step_timer.hpp"

namespace hone::engine {
namespace {

/// A challenger must be this much faster than the default.
constexpr double kMargin = 0.97;
/// After one look, candidates slower than the best by this factor are not timed again.
constexpr double kHopeless = 1.5;
/// Seconds that timing one layout may take, beyond the first look.
constexpr double kBudgetSeconds = 6;

struct Candidate {
  std::string tactic;
  std::vector<double> times;
  TimingEntry::Time cached;
};

/// Candidates of one node; the first is the device's favourite.
struct NodeSearch {
  std::vector<Candidate> candidates;
  std::vector<std::string> refusals;
  std::string signature;
  bool cached = false;
  size_t chosen = 0;
};

struct LayoutSearch {
  Layout layout;
  std::vector<NodeSearch> nodes;
  std::unique_ptr<Program> program;
  std::vector<std::string> tactics;
};

class Search {
 public:
  Search(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
         const BuildOptions& options, TimingCache& cache)
      : engine_(engine),
        bound_(std::move(bound)),
        device_(device),
        options_(options),
        cache_(cache),
        inputs_(timing_inputs(*bound_)) {}

  void run() {
    std::vector<Layout> layouts = device_.image_layouts(engine_.compute_dtype);
    const std::string graph_key = "layout " + graph_signature(*bound_, engine_.compute_dtype);
    if (options_.optimization_level < 3) layouts.resize(1);
    const TimingEntry* known = cache_.find(graph_key);
    if (known != nullptr) {
      std::erase_if(layouts, [&](Layout layout) { return layout_name(layout) != known->chosen; });
      if (layouts.empty()) layouts = {device_.image_layouts(engine_.compute_dtype).front()};
    }
    std::vector<LayoutSearch> searches;
    for (size_t i = 0; i < layouts.size(); ++i) {
      report(static_cast<double>(i) / static_cast<double>(layouts.size()),
             fmt::format("timing tactics, {}", layout_name(layouts[i])));
      searches.push_back(search_layout(layouts[i]));
    }
    const size_t best = searches.size() == 1 ? 0 : fastest(searches, graph_key);
    for (size_t i = 0; i < searches.size(); ++i) append_log(searches[i], i == best);
    engine_.layout = searches[best].layout;
    engine_.tactics = searches[best].tactics;
    searches.clear();
    if (options_.optimization_level >= 3) choose_group();
  }

 private:
  void report(double done, const std::string& what) const {
    if (options_.progress) options_.progress(done, what);
  }

  std::unique_ptr<Program> program(Layout layout, const std::vector<std::string>& tactics, bool list) const {
    return build_program(bound_, device_, engine_.weights,
                         {.compute_dtype = engine_.compute_dtype,
                          .layout = layout,
                          .tactics = tactics,
                          .list_candidates = list});
  }

  LayoutSearch search_layout(Layout layout) {
    LayoutSearch search{layout, std::vector<NodeSearch>(bound_->nodes.size()), nullptr, {}};
    search.tactics.resize(bound_->nodes.size());
    bool all_cached = true;
    for (size_t i = 0; i < bound_->nodes.size(); ++i) {
      NodeSearch& node = search.nodes[i];
      node.signature = step_signature(*bound_, bound_->nodes[i], layout, engine_.compute_dtype);
      const TimingEntry* entry = cache_.find(node.signature);
      node.cached = entry != nullptr;
      if (entry != nullptr) use_cached(node, *entry);
      all_cached = all_cached && (node.cached || is_view(bound_->nodes[i]));
    }
    if (!all_cached) {
      list_candidates(search);
      time_candidates(search);
    }
    for (size_t i = 0; i < search.nodes.size(); ++i) {
      NodeSearch& node = search.nodes[i];
      if (!node.candidates.empty()) search.tactics[i] = node.candidates[node.chosen].tactic;
    }
    search.program = program(layout, search.tactics, false);
    return search;
  }

  static void use_cached(NodeSearch& node, const TimingEntry& entry) {
    for (const auto& [tactic, time] : entry.times) {
      if (tactic == entry.chosen) node.chosen = node.candidates.size();
      node.candidates.push_back({tactic, {}, time});
    }
  }

  void list_candidates(LayoutSearch& search) {
    const auto listed = program(search.layout, {}, true);
    for (const ProgramStep& step : listed->steps()) {
      if (step.node < 0) continue;
      NodeSearch& node = search.nodes[static_cast<size_t>(step.node)];
      node.refusals = step.refusals;
      if (node.cached) continue;
      for (const std::string& tactic : step.candidates) node.candidates.push_back({tactic, {}, {}});
    }
  }

  /// Runs programs that differ in their choices; `width` candidates of each node take part.
  void run_rounds(LayoutSearch& search, size_t width, int warmup, int rounds) {
    std::vector<std::unique_ptr<Program>> programs;
    for (size_t k = 0; k < width; ++k) {
      std::vector<std::string> tactics(search.nodes.size());
      for (size_t i = 0; i < tactics.size(); ++i) {
        const NodeSearch& node = search.nodes[i];
        if (!node.candidates.empty())
          tactics[i] = node.candidates[node.cached ? node.chosen : k % node.candidates.size()].tactic;
      }
      programs.push_back(program(search.layout, tactics, false));
    }
    for (auto& program : programs) {
      for (int i = 0; i < warmup; ++i) program->run(inputs_);
    }
    const auto begin = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) {
      for (size_t k = 0; k < width; ++k) {
        StepTimer timer(*programs[k]);
        timer.sample(inputs_);
        for (size_t i = 0; i < search.nodes.size(); ++i) {
          NodeSearch& node = search.nodes[i];
          if (node.cached || node.candidates.empty()) continue;
          auto& times = node.candidates[k % node.candidates.size()].times;
          times.insert(times.end(), timer.node_times(i).begin(), timer.node_times(i).end());
        }
      }
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (round >= 2 && elapsed.count() > kBudgetSeconds) return;
    }
  }

  static size_t widest(const LayoutSearch& search) {
    size_t width = 1;
    for (const NodeSearch& node : search.nodes)
      width = std::max(width, node.cached ? 1 : node.candidates.size());
    return width;
  }

  void time_candidates(LayoutSearch& search) {
    run_rounds(search, widest(search), 1, 1);
    for (NodeSearch& node : search.nodes) {
      if (node.cached || node.candidates.size() < 2) continue;
      double best = 1e300;
      for (const Candidate& candidate : node.candidates)
        best = std::min(best, sample_quantile(candidate.times, 0.5));
      // Hopeless ones stay in the list for the log, behind the others, with their one sample.
      std::stable_partition(node.candidates.begin(), node.candidates.end(), [&](const Candidate& c) {
        return sample_quantile(c.times, 0.5) <= best * kHopeless;
      });
    }
    std::vector<std::vector<Candidate>> hopeless(search.nodes.size());
    for (size_t i = 0; i < search.nodes.size(); ++i) {
      NodeSearch& node = search.nodes[i];
      if (node.cached || node.candidates.size() < 2) continue;
      const double best = sample_quantile(
          std::min_element(node.candidates.begin(), node.candidates.end(), by_median)->times, 0.5);
      while (node.candidates.size() > 1 &&
             sample_quantile(node.candidates.back().times, 0.5) > best * kHopeless) {
        hopeless[i].push_back(std::move(node.candidates.back()));
        node.candidates.pop_back();
      }
    }
    run_rounds(search, widest(search), 0, options_.optimization_level >= 4 ? 15 : 7);
    for (size_t i = 0; i < search.nodes.size(); ++i) {
      NodeSearch& node = search.nodes[i];
      if (node.cached || node.candidates.empty()) continue;
      choose(node);
      for (Candidate& candidate : hopeless[i]) node.candidates.push_back(std::move(candidate));
      remember(node);
    }
  }

  static bool by_median(const Candidate& a, const Candidate& b) {
    return sample_quantile(a.times, 0.5) < sample_quantile(b.times, 0.5);
  }

  static void choose(NodeSearch& node) {
    const double incumbent = sample_quantile(node.candidates[0].times, 0.5);
    const double quartile = sample_quantile(node.candidates[0].times, 0.25);
    const auto best = std::min_element(node.candidates.begin(), node.candidates.end(), by_median);
    const double median = sample_quantile(best->times, 0.5);
    if (median < incumbent * kMargin && median < quartile)
      node.chosen = static_cast<size_t>(best - node.candidates.begin());
  }

  void remember(NodeSearch& node) {
    TimingEntry entry{node.candidates[node.chosen].tactic, {}};
    for (Candidate& candidate : node.candidates) {
      candidate.cached = {sample_quantile(candidate.times, 0.5), sample_quantile(candidate.times, 0.25),
                          static_cast<int>(candidate.times.size())};
      entry.times[candidate.tactic] = candidate.cached;
    }
    cache_.set(node.signature, std::move(entry));
  }

  size_t fastest(std::vector<LayoutSearch>& searches, const std::string& key) {
    std::vector<std::vector<double>> totals(searches.size());
    for (auto& search : searches) search.program->run(inputs_);
    for (int round = 0; round < 7; ++round) {
      for (size_t i = 0; i < searches.size(); ++i) {
        StepTimer timer(*searches[i].program);
        timer.sample(inputs_);
        totals[i].push_back(timer.total_times()[0]);
      }
    }
    size_t best = 0;
    TimingEntry entry;
    for (size_t i = 0; i < searches.size(); ++i) {
      if (sample_quantile(totals[i], 0.5) < sample_quantile(totals[best], 0.5) * kMargin) best = i;
      entry.times[std::string(layout_name(searches[i].layout))] = {sample_quantile(totals[i], 0.5),
                                                                   sample_quantile(totals[i], 0.25),
                                                                   static_cast<int>(totals[i].size())};
    }
    entry.chosen = layout_name(searches[best].layout);
    cache_.set(key, std::move(entry));
    return best;
  }

  void append_log(const LayoutSearch& search, bool chosen_layout) {
    for (size_t i = 0; i < search.nodes.size(); ++i) {
      const NodeSearch& node = search.nodes[i];
      const std::string& step = bound_->nodes[i].name;
      for (size_t k = 0; k < node.candidates.size(); ++k) {
        const Candidate& candidate = node.candidates[k];
        engine_.log.push_back({step, candidate.tactic, search.layout, candidate.cached.median_us,
                               candidate.cached.lower_quartile_us, candidate.cached.samples,
                               chosen_layout && k == node.chosen, node.cached, ""});
      }
      for (const std::string& refusal : node.refusals) {
        const size_t colon = refusal.find(": ");
        engine_.log.push_back({step, refusal.substr(0, colon), search.layout, 0, 0, 0, false, false,
                               refusal.substr(colon + 2)});
      }
    }
  }

  /// How many images should go through the network together.
  void choose_group() {
    const int64_t batch = inputs_.empty() || inputs_[0].rank() == 0 ? 1 : inputs_[0].shape()[0];
    if (batch < 2 || !splits_by_batch(*engine_.graph)) return;
    const std::string key = "group " + graph_signature(*bound_, engine_.compute_dtype);
    if (const TimingEntry* known = cache_.find(key)) {
      engine_.micro_batch = std::stoll(known->chosen);
      return;
    }
    report(0.9, "timing batch groups");
    std::vector<int64_t> groups = {0};
    for (int64_t group = 1; group < batch; group *= 2) groups.push_back(group);
    std::vector<std::unique_ptr<Context>> contexts;
    for (const int64_t group : groups) {
      auto variant = std::make_shared<Engine>(engine_);
      variant->micro_batch = group;
      variant->shapes.clear();
      contexts.push_back(std::make_unique<Context>(std::move(variant), device_, engine_.threads));
      contexts.back()->run(inputs_);
    }
    std::vector<std::vector<double>> times(groups.size());
    for (int round = 0; round < 5; ++round) {
      for (size_t i = 0; i < groups.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        contexts[i]->run(inputs_);
        times[i].push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
      }
    }
    size_t best = 0;
    TimingEntry entry;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (sample_quantile(times[i], 0.5) < sample_quantile(times[best], 0.5) * kMargin) best = i;
      entry.times[std::to_string(groups[i])] = {
          sample_quantile(times[i], 0.5), sample_quantile(times[i], 0.25), static_cast<int>(times[i].size())};
    }
    entry.chosen = std::to_string(groups[best]);
    engine_.micro_batch = groups[best];
    cache_.set(key, std::move(entry));
  }

  Engine& engine_;
  std::shared_ptr<const graph::Graph> bound_;
  const Device& device_;
  const BuildOptions& options_;
  TimingCache& cache_;
  std::vector<tensor::Tensor> inputs_;
};

}  // namespace

void search_tactics(Engine& engine, const std::shared_ptr<const graph::Graph>& bound, const Device& device,
                    const BuildOptions& options, TimingCache& cache) {
  try {
    Search(engine, bound, device, options, cache).run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput) throw;
    // Inputs that are shapes or indices cannot be made up: such a model is built without timing.
    engine.layout = device.image_layouts(engine.compute_dtype).front();
    engine.tactics.clear();
    engine.micro_batch = 0;
    engine.log = {
        {.step = "(all)", .tactic = "(not timed)", .layout = engine.layout, .refusal = error.what()}};
  }
}

}  // namespace hone::engine
