// See tactic_search.hpp.
#include "engine/search/tactic_search.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "engine/context.hpp"
#include "engine/search/batch_group.hpp"
#include "engine/search/candidate_timing.hpp"
#include "engine/search/disturbance.hpp"
#include "engine/search/policy_choice.hpp"
#include "engine/search/step_signature.hpp"
#include "engine/search/step_timer.hpp"
#include "engine/search/tactic_refinement.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {
namespace {

/// A challenger must be faster than the incumbent by this factor.
constexpr double kMargin = 0.97;
/// After this number of seconds, no further round of layouts is timed.
constexpr double kLayoutSeconds = 6;
/// Limits in seconds on trying choices in whole networks, up to level 3 and above it.
constexpr double kRefineSeconds = 30;
constexpr double kLongRefineSeconds = 60;
/// Shares of the budget for layouts, with and without timing of batch groups; the rest is for packing the
/// chosen weights.
constexpr double kLayoutsShareBesideGroups = 0.8;
constexpr double kLayoutsShare = 0.93;
/// Shares of a layout's time for candidates of nodes, without and with later trials in whole networks; and
/// the share of the rest for candidates of pieces of dissolved nodes.
constexpr double kCandidatesShare = 0.9;
constexpr double kCandidatesShareBesideTrials = 0.6;
constexpr double kPiecesShare = 0.25;

/// The key of the cache's entry about a network whose inputs are unfit, for builds that may not try.
std::string unfit_key(const graph::Graph& bound, const Engine& engine) {
  return "unfit inputs " + graph_signature(bound, engine.policies);
}

class Search {
 public:
  Search(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
         const BuildOptions& options, TimingCache& cache, const SearchBudget& budget)
      : engine_(engine),
        bound_(std::move(bound)),
        device_(device),
        options_(options),
        cache_(cache),
        trials_(engine, bound_, device, options.optimization_level >= 5),
        budget_(budget),
        progress_(options.progress, budget_) {
    accept_incomplete(options.cached_only);
    if (cache_.has_disturbed() && !options.cached_only && is_quiet(device)) cache_.retake_disturbed();
  }

  void run() {
    std::vector<Layout> considered = device_.image_layouts(engine_.precision());
    if (options_.optimization_level < 3) considered.resize(1);
    const std::string graph_key = "layout " + graph_signature(*bound_, engine_.policies);
    const std::vector<Layout> layouts = open_layouts(considered, graph_key);
    if (layouts.size() > 1) refuse_to_time("the choice of a layout for this network");
    std::vector<LayoutSearch> searches;
    std::exception_ptr first_failure;
    bool short_of_memory = false;
    const SearchBudget layouts_budget =
        budget_.part(groups_images() ? kLayoutsShareBesideGroups : kLayoutsShare);
    for (size_t i = 0; i < layouts.size() && (searches.empty() || !layouts_budget.is_over()); ++i) {
      const SearchBudget budget = layouts_budget.part(1.0 / static_cast<double>(layouts.size() - i));
      const bool fit = trials_.fits([&] { searches.push_back(search_layout(layouts[i], searches, budget)); });
      if (!fit && !first_failure) first_failure = trials_.failure();
      if (!fit && trials_.short_of_memory()) short_of_memory = true;
    }
    if (searches.empty()) std::rethrow_exception(first_failure);
    const size_t best = layouts.size() == 1
                            ? 0
                            : fastest(searches, graph_key, short_of_memory, searches.size() < layouts.size());
    engine_.layout = searches[best].layout;
    accept_incomplete(true);
    for (const Layout layout : considered) append_log(layout, searches[best]);
    accept_incomplete(options_.cached_only);
    engine_.plans = searches[best].plans();
    engine_.cut_short = searches[best].left_out();
    searches.clear();
    if (groups_images()) choose_group();
  }

 private:
  bool groups_images() const { return options_.optimization_level >= 3 && device_.splits_batches(); }

  void accept_incomplete(bool accept) { cache_.accept_incomplete(accept, budget_.seconds()); }

  /// The lowest level whose search is as thorough as this one in the parts that both have.
  int least_level() const {
    if (options_.optimization_level > 3) return options_.optimization_level;
    return device_.overlaps_steps() ? std::min(options_.optimization_level, 2) : 1;
  }

  /// The layouts to choose from: all, or the one that the cache has chosen among them.
  std::vector<Layout> open_layouts(const std::vector<Layout>& considered, const std::string& key) const {
    const TimingEntry* known = considered.size() > 1 ? cache_.find(key, least_level()) : nullptr;
    for (const Layout layout : considered) {
      if (known != nullptr && layout_name(layout) == known->chosen) return {layout};
    }
    return considered;
  }

  static bool is_cached(const StepSearch& step) { return step.cached; }
  static bool is_open(const StepSearch& step) { return !step.cached && !step.candidates.empty(); }

  void refuse_to_time(const std::string& lacks) const {
    if (!options_.cached_only) return;
    // If nothing of a network could be timed, the cache is complete without its steps.
    if (const TimingEntry* unfit = cache_.find(unfit_key(*bound_, engine_), least_level()))
      throw UnfitInputs(Error(ErrorKind::kBadInput, unfit->chosen), unfit->short_of_memory);
    fail_environment("the timing cache lacks {}", lacks);
  }

  /// `others` are the searches of other layouts so far.
  LayoutSearch search_layout(Layout layout, const std::vector<LayoutSearch>& others,
                             const SearchBudget& budget) {
    LayoutSearch search = find_steps(*bound_, layout, engine_.policies, least_level(), cache_);
    reopen_unknown(search);
    const bool cached = std::all_of(search.steps.begin(), search.steps.end(), is_cached);
    if (cached) search_pieces(search, budget);
    if (const std::string doubt = trials_.doubt_of_cached(search); !doubt.empty()) {
      refuse_to_time(fmt::format("right choices: {}", doubt));
      // Either the cached or the new choices may be wrong; a full search has more votes to decide that.
      for (StepSearch& step : search.steps) step.reopen();
      search.others.clear();
      search.pieces.clear();
    } else if (cached) {
      return search;
    }
    list_candidates(search);
    take_equal_steps(search, others);
    refuse_to_time_open(search);
    const Disturbance disturbance(device_);
    const bool refines = device_.overlaps_steps() && options_.optimization_level >= 2;
    const double share = refines ? kCandidatesShareBesideTrials : kCandidatesShare;
    check_together(search, time_candidates(search, trials_, looks(), budget.part(share), progress_), budget);
    choose_policies(search, engine_.policies, trials_, budget, progress_);
    search_pieces(search, budget.part(kPiecesShare));
    if (!search.others.empty() && !trials_.mistake_of(search.layout, search.plans()).empty()) {
      search.others.clear();
      search.pieces.clear();
    }
    if (refines) refine(search, budget);
    keep(search, disturbance.was_seen());
    return search;
  }

  int looks() const { return options_.optimization_level >= 4 ? 15 : 7; }

  void refuse_to_time_open(const LayoutSearch& search) const {
    const auto open = std::find_if(search.steps.begin(), search.steps.end(), is_open);
    if (open == search.steps.end()) return;
    refuse_to_time(fmt::format("the times of {}, the first of {} such steps", open->names.front(),
                               std::count_if(open, search.steps.end(), is_open)));
  }

  /// Adds the results to the cache.
  void keep(LayoutSearch& search, bool disturbed) {
    for (StepSearch& step : search.steps) {
      if (step.cached || step.candidates.empty()) continue;
      TimingEntry entry = step.entry(options_.optimization_level, budget_.seconds());
      entry.disturbed = disturbed;
      cache_.set(step.signature, std::move(entry));
      engine_.tuned = true;
    }
  }

  /// Searches the pieces of the nodes for which dissolving was chosen. The nodes' choices are kept: they were
  /// compared with pieces that run by the device's defaults.
  void search_pieces(LayoutSearch& nodes, const SearchBudget& budget) {
    const Plans plans = nodes.plans();
    if (std::none_of(plans.begin(), plans.end(),
                     [](const auto& item) { return item.second.tactic.dissolves(); }))
      return;
    LayoutSearch search = find_pieces(trials_.program(nodes.layout, plans)->program(), nodes,
                                      engine_.policies, least_level(), cache_);
    reopen_unknown(search);
    if (!std::all_of(search.steps.begin(), search.steps.end(), is_cached)) time_pieces(search, budget);
    nodes.others.clear();
    for (const auto& [key, plan] : search.plans()) {
      if (!key.path.empty()) nodes.others[key] = plan;
    }
    nodes.pieces = std::move(search.steps);
  }

  void time_pieces(LayoutSearch& search, const SearchBudget& budget) {
    list_candidates(search);
    // Pieces with only one tactic need no search.
    const bool has_choice = std::any_of(search.steps.begin(), search.steps.end(), [](const StepSearch& step) {
      return !step.cached && step.candidates.size() > 1;
    });
    if (!has_choice) return;
    refuse_to_time_open(search);
    const Disturbance disturbance(device_);
    check_together(search, time_candidates(search, trials_, looks(), budget, progress_), budget);
    keep(search, disturbance.was_seen());
  }

  void refine(LayoutSearch& search, const SearchBudget& budget) {
    const SearchBudget time =
        budget.at_most(options_.optimization_level >= 4 ? kLongRefineSeconds : kRefineSeconds);
    const bool complete = !time.is_over() && refine_choices(
                                                 search, trials_,
                                                 [early = early_tactics()](const TacticId& tactic) {
                                                   return early.contains(tactic.name);
                                                 },
                                                 time, progress_);
    if (complete || !budget.is_limited()) return;
    for (StepSearch& step : search.steps) step.cut_short = step.cut_short || step.candidates.size() > 1;
  }

  /// Names of the tactics for the network's nodes that start early.
  std::set<std::string> early_tactics() const {
    std::set<std::string> names;
    for (const graph::Node& node : bound_->nodes) {
      for (const Tactic* tactic : device_.tactics(node)) {
        if (tactic->starts_early) names.insert(tactic->name);
      }
    }
    return names;
  }

  /// Reopens steps for which the cache chose a tactic that the device does not offer.
  void reopen_unknown(LayoutSearch& search) const {
    const Plans plans = search.plans();
    if (plans.empty()) return;
    const std::set<StepKey> doubted = run_otherwise(trials_.program(search.layout, plans)->program(), plans);
    for (const NumericPolicy& policy : engine_.policies) {
      std::set<StepKey> keys;
      for (const StepKey& key : doubted) {
        // A step whose policy is not one of the engine's always has it in every program.
        const NumericPolicy& own = plans.at(key).policy;
        const auto& all = engine_.policies;
        if (own == policy || (policy == all.front() && std::find(all.begin(), all.end(), own) == all.end()))
          keys.insert(key);
      }
      if (!keys.empty()) search.reopen(keys, *trials_.listed_program(search.layout, search.others, policy));
    }
  }

  void list_candidates(LayoutSearch& search) const {
    std::map<StepKey, StepSearch*> open;
    for (StepSearch& step : search.steps) {
      if (!step.cached) step.refusals.clear();
      // The refusals of a cached step are listed if the cache contains none.
      if (!step.cached || step.refusals.empty()) open[step.keys.front()] = &step;
    }
    for (const NumericPolicy& policy : by_expected_speed()) list_candidates(search, policy, open);
    for (const auto& [key, step] : open) {
      if (!step->cached) step->rank();
    }
  }

  /// The engine's policies, those that the device expects to be faster first, because a step for whose times
  /// there is no budget keeps its first candidate.
  std::vector<NumericPolicy> by_expected_speed() const {
    std::vector<NumericPolicy> policies = engine_.policies;
    const std::vector<NumericPolicy> faster = device_.finer_policies(coarsest_precision(policies));
    std::stable_partition(policies.begin(), policies.end(), [&](const NumericPolicy& policy) {
      return std::find(faster.begin(), faster.end(), policy) != faster.end();
    });
    return policies;
  }

  /// Lists the candidates with one policy, for steps by their first keys.
  void list_candidates(LayoutSearch& search, const NumericPolicy& policy,
                       const std::map<StepKey, StepSearch*>& open) const {
    // Pieces without a plan have the policy of their node.
    Plans others = search.others;
    for (auto& [key, plan] : others) {
      if (plan.tactic.dissolves()) plan.policy = policy;
    }
    const auto listed = trials_.listed_program(search.layout, others, policy);
    search.preparations.insert(search.preparations.end(), listed->preparations().begin(),
                               listed->preparations().end());
    std::map<graph::ValueId, std::string> arrangements;
    std::set<StepKey> done;
    for (const ProgramStep& made : listed->steps()) {
      if (made.node < 0) continue;
      const graph::Node& node = *listed->node_of(made);
      std::string surroundings;
      for (const graph::ValueId id : node.inputs) surroundings += arrangements[id] + ";";
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        arrangements[node.outputs[i]] = made.outputs[i].desc.text();
        surroundings += "> " + arrangements[node.outputs[i]];
      }
      const bool speaks_for_itself = !made.is_piece() || open.contains(made.key());
      const auto found = open.find(speaks_for_itself ? made.key() : StepKey{made.node, {}});
      // All pieces of one node give the same information about it.
      if (found == open.end() || !done.insert(found->first).second) continue;
      StepSearch& step = *found->second;
      step.note_refusals(speaks_for_itself ? made.refusals : made.whole_refusals, policy);
      if (step.cached) continue;
      if (speaks_for_itself) {
        step.list(made, surroundings);
      } else {
        step.list_dissolved(made.plan.policy);
      }
    }
  }

  /// Steps that run equally in another layout, for example steps without images, are timed once.
  void take_equal_steps(LayoutSearch& search, const std::vector<LayoutSearch>& others) {
    accept_incomplete(true);
    for (StepSearch& step : search.steps) {
      const StepSearch* equal = is_open(step) ? find_equal(step, others) : nullptr;
      const TimingEntry* known = equal == nullptr ? nullptr : cache_.find(equal->signature, least_level());
      if (known == nullptr) continue;
      const TimingEntry entry = *known;
      step.reopen();
      step.use(entry);
      cache_.set(step.signature, entry);
    }
    accept_incomplete(options_.cached_only);
  }

  static const StepSearch* find_equal(const StepSearch& step, const std::vector<LayoutSearch>& others) {
    for (const LayoutSearch& other : others) {
      const auto found = std::find_if(other.steps.begin(), other.steps.end(), [&](const StepSearch& known) {
        return known.keys == step.keys && !known.listed.empty() && known.listed == step.listed;
      });
      if (found != other.steps.end()) return &*found;
    }
    return nullptr;
  }

  /// Candidates that are right one by one may be wrong together; then the largest right part is kept.
  void check_together(LayoutSearch& search, const Plans& sound, const SearchBudget& budget) {
    const Plans chosen = search.plans();
    if (chosen != sound && !trials_.mistake_of(search.layout, chosen).empty())
      keep_what_agrees(search, sound, trials_, budget);
  }

  /// Index of the search with the fastest layout. `short_of_memory` means that another layout did not fit
  /// into memory; `cut_short` means that there was no time for another one.
  size_t fastest(std::vector<LayoutSearch>& searches, const std::string& key, bool short_of_memory,
                 bool cut_short) {
    struct Network {
      size_t search;
      std::unique_ptr<Execution> program;
      std::vector<double> totals;
    };
    std::vector<Network> networks;
    trials_.forget_misfit();
    for (size_t i = 0; i < searches.size(); ++i) {
      trials_.fits([&] {
        auto made = trials_.program(searches[i].layout, searches[i].plans());
        trials_.first_outputs(*made);
        networks.push_back({i, std::move(made), {}});
      });
    }
    if (networks.empty()) trials_.rethrow_failure();
    const Disturbance disturbance(device_);
    const SearchBudget time = budget_.at_most(kLayoutSeconds);
    for (int round = 0; round < 7 && (round == 0 || !time.is_over()); ++round) {
      progress_.report("timing layouts");
      for (Network& network : networks) {
        StepTimer timer(*network.program);
        timer.sample(trials_.inputs());
        network.totals.push_back(timer.total_times()[0]);
      }
    }
    const Network* best = networks.data();
    TimingEntry entry{.level = options_.optimization_level,
                      .short_of_memory = short_of_memory || trials_.short_of_memory()};
    for (const Network& network : networks) {
      const double median = sample_quantile(network.totals, 0.5);
      if (median < sample_quantile(best->totals, 0.5) * kMargin) best = &network;
      entry.times[std::string(layout_name(searches[network.search].layout))] = {
          median, sample_quantile(network.totals, 0.25), static_cast<int>(network.totals.size())};
    }
    for (const LayoutSearch& search : searches) {
      for (const StepSearch& step : search.steps) {
        entry.short_of_memory = entry.short_of_memory || step.short_of_memory;
        cut_short = cut_short || step.cut_short;
      }
    }
    if (cut_short) entry.cut_short_after = budget_.seconds();
    entry.disturbed = disturbance.was_seen();
    entry.chosen = layout_name(searches[best->search].layout);
    cache_.set(key, std::move(entry));
    return best->search;
  }

  /// In the form of the cache, so that a build that finds everything there writes the same log as the build
  /// before it.
  void append_log(Layout layout, const LayoutSearch& chosen) {
    const bool is_chosen = layout == chosen.layout;
    LayoutSearch search = find_steps(*bound_, layout, engine_.policies, least_level(), cache_);
    for (size_t i = 0; i < search.steps.size(); ++i) {
      const StepSearch& step = search.steps[i];
      append_log(!step.cached && is_chosen ? chosen.steps[i] : step, layout, is_chosen);
    }
    if (!is_chosen) return;
    for (StepSearch piece : chosen.pieces) {
      const TimingEntry* const known = cache_.find(piece.signature, least_level());
      if (known == nullptr) continue;  // it had no choice
      piece.reopen();
      piece.use(*known);
      append_log(piece, layout, is_chosen);
    }
  }

  void append_log(const StepSearch& step, Layout layout, bool is_chosen) {
    for (const std::string& name : step.names) {
      for (size_t k = 0; k < step.candidates.size(); ++k) {
        const Candidate& candidate = step.candidates[k];
        engine_.log.push_back({name,
                               candidate.plan.tactic.text(),
                               layout,
                               candidate.plan.policy,
                               candidate.cached.median_us,
                               candidate.cached.lower_quartile_us,
                               candidate.cached.samples,
                               is_chosen && k == step.chosen,
                               {}});
      }
      for (const auto& [plan, reason] : step.refusals) {
        engine_.log.push_back({name, plan.tactic.text(), layout, plan.policy, 0, 0, 0, false, reason});
      }
    }
  }

  /// Chooses how many images run through the network together.
  void choose_group() {
    const int64_t batch =
        trials_.inputs().empty() || trials_.inputs()[0].rank() == 0 ? 1 : trials_.inputs()[0].shape()[0];
    if (batch < 2 || !splits_by_batch(*engine_.graph)) return;
    const std::string key = "group " + graph_signature(*bound_, engine_.policies);
    if (const TimingEntry* known = cache_.find(key, least_level())) {
      const char* const end = known->chosen.data() + known->chosen.size();
      int64_t images = -1;
      if (std::from_chars(known->chosen.data(), end, images).ptr == end && images >= 0 && images <= batch) {
        engine_.micro_batch = images;
        return;
      }
    }
    refuse_to_time("the choice of a batch group for this network");
    progress_.report("timing batch groups");
    trials_.forget_misfit();
    const Disturbance disturbance(device_);
    const auto groups = time_batch_groups(
        engine_, device_, trials_.inputs(), batch,
        [this](const auto& action) { return trials_.fits(action); }, budget_);
    if (!groups) trials_.rethrow_failure();
    engine_.micro_batch = groups->chosen;
    TimingEntry entry{.chosen = std::to_string(groups->chosen),
                      .level = options_.optimization_level,
                      .short_of_memory = trials_.short_of_memory(),
                      .cut_short_after = groups->cut_short ? budget_.seconds() : 0,
                      .disturbed = disturbance.was_seen()};
    for (const auto& [images, time] : groups->times) entry.times[std::to_string(images)] = time;
    cache_.set(key, std::move(entry));
  }

  Engine& engine_;
  std::shared_ptr<const graph::Graph> bound_;
  const Device& device_;
  const BuildOptions& options_;
  TimingCache& cache_;
  TacticTrials trials_;
  const SearchBudget& budget_;
  SearchProgress progress_;
};

}  // namespace

void search_tactics(Engine& engine, const std::shared_ptr<const graph::Graph>& bound, const Device& device,
                    const BuildOptions& options, TimingCache& cache, const SearchBudget& budget) {
  try {
    Search(engine, bound, device, options, cache, budget).run();
  } catch (const UnfitInputs& error) {
    engine.layout = device.image_layouts(engine.precision()).front();
    engine.plans.clear();
    engine.micro_batch = 0;
    engine.not_timed = error.what();
    if (options.cached_only) return;
    TimingEntry unfit{.chosen = engine.not_timed,
                      .level = options.optimization_level,
                      .short_of_memory = error.short_of_memory};
    unfit.times[unfit.chosen] = {};  // no samples
    cache.set(unfit_key(*bound, engine), std::move(unfit));
  }
}

}  // namespace hone::engine
