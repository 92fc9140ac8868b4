// See tactic_search.hpp.
#include "engine/search/tactic_search.hpp"

#include <algorithm>
#include <charconv>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/clock.hpp"
#include "engine/context.hpp"
#include "engine/search/batch_group.hpp"
#include "engine/search/step_signature.hpp"
#include "engine/search/step_timer.hpp"
#include "engine/search/tactic_refinement.hpp"
#include "engine/search/tactic_trials.hpp"

namespace hone::engine {
namespace {

/// A challenger must be this much faster than the incumbent.
constexpr double kMargin = 0.97;
/// After one look, candidates slower than the best by this factor are not timed again.
constexpr double kHopeless = 1.5;
/// Nor are more than so many of the fastest: their programs, which take turns, are all in memory.
constexpr size_t kMostTimed = 16;
/// Seconds after which no further round is timed, of one layout's steps and of layouts.
constexpr double kBudgetSeconds = 6;
/// The same for trying choices in whole networks, and at levels above 3.
constexpr double kRefineSeconds = 30;
constexpr double kLongRefineSeconds = 60;

/// Of the cache's entry that says so, for builds that may not try.
std::string unfit_key(const graph::Graph& bound, Precision precision) {
  return "unfit inputs " + graph_signature(bound, precision);
}

class Search {
 public:
  Search(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
         const BuildOptions& options, TimingCache& cache)
      : engine_(engine),
        bound_(std::move(bound)),
        device_(device),
        options_(options),
        cache_(cache),
        trials_(engine, bound_, device, options.optimization_level >= 5) {
    cache_.accept_short_of_memory(options.cached_only);
  }

  void run() {
    std::vector<Layout> considered = device_.image_layouts(engine_.precision);
    if (options_.optimization_level < 3) considered.resize(1);
    const std::string graph_key = "layout " + graph_signature(*bound_, engine_.precision);
    const std::vector<Layout> layouts = open_layouts(considered, graph_key);
    if (layouts.size() > 1) refuse_to_time("the choice of a layout for this network");
    std::vector<LayoutSearch> searches;
    std::exception_ptr first_failure;
    bool short_of_memory = false;
    for (size_t i = 0; i < layouts.size(); ++i) {
      report(static_cast<double>(i) / static_cast<double>(layouts.size()),
             fmt::format("timing tactics, {}", layout_name(layouts[i])));
      const bool fit = trials_.fits([&] { searches.push_back(search_layout(layouts[i])); });
      if (!fit && !first_failure) first_failure = trials_.failure();
      if (!fit && trials_.short_of_memory()) short_of_memory = true;
    }
    if (searches.empty()) std::rethrow_exception(first_failure);
    const size_t best = layouts.size() == 1 ? 0 : fastest(searches, graph_key, short_of_memory);
    engine_.layout = searches[best].layout;
    cache_.accept_short_of_memory(true);
    for (const Layout layout : considered) append_log(layout, searches[best]);
    cache_.accept_short_of_memory(options_.cached_only);
    engine_.tactics = searches[best].tactics(bound_->nodes.size());
    searches.clear();
    if (options_.optimization_level >= 3 && device_.splits_batches()) choose_group();
  }

 private:
  void report(double done, const std::string& what) const {
    if (options_.progress) options_.progress(done, what);
  }

  /// The lowest level whose search looks as closely as this one at what both look at.
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
    // Of a network that nothing could be timed of, the cache lacks nothing.
    if (const TimingEntry* unfit = cache_.find(unfit_key(*bound_, engine_.precision), least_level()))
      throw UnfitInputs(Error(ErrorKind::kBadInput, unfit->chosen), unfit->short_of_memory);
    fail_environment("the timing cache lacks {}", lacks);
  }

  LayoutSearch search_layout(Layout layout) {
    LayoutSearch search = find_steps(*bound_, layout, engine_.precision, least_level(), cache_);
    reopen_unknown(search);
    if (const std::string doubt = trials_.doubt_of_cached(search); !doubt.empty()) {
      refuse_to_time(fmt::format("right choices: {}", doubt));
      // Either side may be the wrong one; a search of its own has more voters.
      for (StepSearch& step : search.steps) step.reopen();
    } else if (std::all_of(search.steps.begin(), search.steps.end(), is_cached)) {
      return search;
    }
    list_candidates(search);
    const auto open = std::find_if(search.steps.begin(), search.steps.end(), is_open);
    if (open != search.steps.end()) {
      refuse_to_time(fmt::format("the times of {}, the first of {} such steps",
                                 bound_->nodes[open->nodes.front()].name,
                                 std::count_if(open, search.steps.end(), is_open)));
    }
    time_candidates(search);
    check_together(search);
    if (device_.overlaps_steps() && options_.optimization_level >= 2) {
      report(0.5, "trying choices in the whole network");
      refine_choices(
          search, bound_->nodes.size(), trials_,
          [&](const std::string& tactic) { return device_.starts_early(tactic); },
          options_.optimization_level >= 4 ? kLongRefineSeconds : kRefineSeconds);
    }
    for (StepSearch& step : search.steps) {
      if (step.cached || step.candidates.empty()) continue;
      cache_.set(step.signature, step.entry(options_.optimization_level));
      engine_.tuned = true;
    }
    return search;
  }

  /// Opens steps for which the cache chose what the device does not offer.
  void reopen_unknown(LayoutSearch& search) const {
    const std::vector<std::string> tactics = search.tactics(bound_->nodes.size());
    if (std::all_of(tactics.begin(), tactics.end(), [](const std::string& name) { return name.empty(); }))
      return;
    const std::set<size_t> doubted = nodes_run_otherwise(*trials_.program(search.layout, tactics), tactics);
    if (!doubted.empty()) search.reopen(doubted, *trials_.listed_program(search.layout));
  }

  void list_candidates(LayoutSearch& search) {
    std::map<size_t, StepSearch*> step_of;
    for (StepSearch& step : search.steps) step_of[step.nodes.front()] = &step;
    const auto listed = trials_.listed_program(search.layout);
    search.preparations = listed->preparations();
    for (const ProgramStep& made : listed->steps()) {
      const auto found = made.node < 0 ? step_of.end() : step_of.find(static_cast<size_t>(made.node));
      if (found == step_of.end()) continue;
      StepSearch& step = *found->second;
      if (!step.cached || step.refusals.empty()) step.refusals = made.refusals;
      if (step.cached) continue;
      for (const std::string& tactic : made.candidates) step.candidates.push_back({tactic, {}, {}});
    }
  }

  std::unique_ptr<Program> program_of_round(const LayoutSearch& search, size_t k) const {
    return trials_.program(search.layout, search.tactics_of_round(k, bound_->nodes.size()));
  }

  /// One sample of every step of round `k`.
  void time_round(LayoutSearch& search, Program& program, size_t k) const {
    StepTimer timer(program);
    timer.sample(trials_.inputs());
    search.take_times(timer, program, k);
  }

  /// What the rounds, which took candidate k of every step, compute.
  struct Look {
    std::vector<Ballot> ballots;
    /// Of each round; none where it could not run, which says nothing of the others.
    std::vector<std::optional<size_t>> votes;
  };

  /// One look at every candidate, one program after another: all of them at once would take much memory.
  Look look(LayoutSearch& search) {
    Look seen;
    for (size_t k = 0; k < search.rounds(); ++k) {
      std::optional<size_t> vote;
      trials_.fits([&] {
        const auto made = program_of_round(search, k);
        Outputs outputs = trials_.first_outputs(*made);
        time_round(search, *made, k);
        vote = trials_.vote(std::move(outputs), seen.ballots);
      });
      seen.votes.push_back(vote);
    }
    if (seen.ballots.empty()) trials_.rethrow_failure();
    return seen;
  }

  /// Several looks, for which the programs take turns: all of them, or as many as fit at a time.
  void time_interleaved(LayoutSearch& search, int looks) {
    const size_t rounds = search.rounds();
    const auto begin = base::Clock::now();
    for (size_t first = 0; first < rounds;) {
      std::vector<std::unique_ptr<Program>> programs;
      while (first + programs.size() < rounds && trials_.fits([&] {
        auto made = program_of_round(search, first + programs.size());
        made->executor();
        programs.push_back(std::move(made));
      })) {
      }
      for (int i = 0; i < looks && (i == 0 || base::seconds_since(begin) <= kBudgetSeconds); ++i) {
        for (size_t k = 0; k < programs.size(); ++k)
          trials_.fits([&] { time_round(search, *programs[k], first + k); });
      }
      first += std::max<size_t>(1, programs.size());
    }
  }

  /// Refuses candidates with which the network computes something else, or that cannot run.
  void refuse_wrong(LayoutSearch& search, Look seen) {
    trials_.expect(seen.ballots, search.layout);
    std::vector<bool> right;
    for (const Ballot& ballot : seen.ballots) right.push_back(trials_.agrees(ballot.outputs));
    seen.ballots.clear();  // they take room that candidates want
    const auto is_right = [&](std::optional<size_t> vote) { return vote && right[*vote]; };
    const auto sound_round = std::find_if(seen.votes.begin(), seen.votes.end(), is_right);
    const std::vector<std::string> sound =
        search.tactics_of_round(static_cast<size_t>(sound_round - seen.votes.begin()), bound_->nodes.size());
    for (StepSearch& step : search.steps) {
      if (step.cached) continue;
      for (size_t k = std::min(step.candidates.size(), seen.votes.size()); k-- > 0;) {
        const bool failed = !seen.votes[k];
        if (is_right(seen.votes[k]) || step.candidates.size() < 2) continue;
        std::vector<std::string> tactics = sound;
        for (const size_t node : step.nodes) tactics[node] = step.candidates[k].tactic;
        const std::string wrong = trials_.mistake([&] {
          const auto alone = trials_.program(search.layout, tactics);
          const bool right = trials_.agrees(*alone);
          if (right && failed) time_alone(step, k, *alone);
          return right;
        });
        if (!wrong.empty()) refuse(step, k, wrong);
      }
    }
    sound_tactics_ = sound;
  }

  void refuse(StepSearch& step, size_t k, const std::string& reason) const {
    step.refuse(k, reason);
    if (reason == trials_.misfit() && trials_.short_of_memory()) step.short_of_memory = true;
  }

  /// One sample of a step by its candidate `k`, which that program runs it by.
  void time_alone(StepSearch& step, size_t k, Program& program) const {
    StepTimer timer(program);
    timer.sample(trials_.inputs());
    step.take_times(timer, tactics_that_run(program, bound_->nodes.size()), k);
  }

  /// Candidates that are right one by one can be wrong together; then as many as possible are kept.
  void check_together(LayoutSearch& search) {
    if (!trials_.mistake_of(search.layout, search.tactics(bound_->nodes.size())).empty())
      keep_what_agrees(search, bound_->nodes.size(), sound_tactics_, trials_);
  }

  void time_candidates(LayoutSearch& search) {
    trials_.forget_misfit();
    refuse_wrong(search, look(search));
    std::vector<std::vector<Candidate>> hopeless(search.steps.size());
    for (size_t i = 0; i < search.steps.size(); ++i) {
      StepSearch& step = search.steps[i];
      if (step.cached) continue;
      for (size_t k = step.candidates.size(); k-- > 0;) {
        if (step.candidates[k].times.empty() && step.candidates.size() > 1)
          refuse(step, k, trials_.misfit().empty() ? "it cannot run this step" : trials_.misfit());
      }
      std::vector<double> medians = {1e300};
      for (size_t k = 0; k < step.candidates.size(); ++k) medians.push_back(step.median(k));
      std::sort(medians.begin(), medians.end());
      const double limit =
          std::min(medians.front() * kHopeless, medians[std::min(kMostTimed, medians.size()) - 1]);
      // Hopeless ones stay in the list for the log, behind the others, with their few samples.
      const auto middle =
          std::stable_partition(step.candidates.begin(), step.candidates.end(),
                                [&](const Candidate& c) { return sample_quantile(c.times, 0.5) <= limit; });
      hopeless[i].assign(std::make_move_iterator(middle), std::make_move_iterator(step.candidates.end()));
      step.candidates.erase(middle, step.candidates.end());
    }
    time_interleaved(search, options_.optimization_level >= 4 ? 15 : 7);
    for (size_t i = 0; i < search.steps.size(); ++i) {
      StepSearch& step = search.steps[i];
      if (step.cached || step.candidates.empty()) continue;
      step.choose();
      for (Candidate& candidate : hopeless[i]) step.candidates.push_back(std::move(candidate));
    }
  }

  /// Index of the search whose layout is; `short_of_memory`: another one found none.
  size_t fastest(std::vector<LayoutSearch>& searches, const std::string& key, bool short_of_memory) {
    struct Network {
      size_t search;
      std::unique_ptr<Program> program;
      std::vector<double> totals;
    };
    std::vector<Network> networks;
    trials_.forget_misfit();
    for (size_t i = 0; i < searches.size(); ++i) {
      trials_.fits([&] {
        auto made = trials_.program(searches[i].layout, searches[i].tactics(bound_->nodes.size()));
        trials_.first_outputs(*made);
        networks.push_back({i, std::move(made), {}});
      });
    }
    if (networks.empty()) trials_.rethrow_failure();
    const auto begin = base::Clock::now();
    for (int round = 0; round < 7 && (round < 2 || base::seconds_since(begin) < kBudgetSeconds); ++round) {
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
    for (const LayoutSearch& search : searches)
      entry.short_of_memory =
          entry.short_of_memory || std::any_of(search.steps.begin(), search.steps.end(),
                                               [](const StepSearch& step) { return step.short_of_memory; });
    entry.chosen = layout_name(searches[best->search].layout);
    cache_.set(key, std::move(entry));
    return best->search;
  }

  /// As the cache has it, so that a build that finds everything there logs what the one before it did.
  void append_log(Layout layout, const LayoutSearch& chosen) {
    const bool is_chosen = layout == chosen.layout;
    LayoutSearch search = find_steps(*bound_, layout, engine_.precision, least_level(), cache_);
    for (size_t i = 0; i < search.steps.size(); ++i) {
      StepSearch& step = search.steps[i];
      if (!step.cached && is_chosen) step = chosen.steps[i];
      for (const size_t node : step.nodes) {
        const std::string& name = bound_->nodes[node].name;
        for (size_t k = 0; k < step.candidates.size(); ++k) {
          const Candidate& candidate = step.candidates[k];
          engine_.log.push_back({name, candidate.tactic, layout, candidate.cached.median_us,
                                 candidate.cached.lower_quartile_us, candidate.cached.samples,
                                 is_chosen && k == step.chosen, ""});
        }
        for (const std::string& refusal : step.refusals) {
          // A variant's name can hold a colon, but no space follows it.
          const size_t colon = refusal.find(": ");
          engine_.log.push_back(
              {name, refusal.substr(0, colon), layout, 0, 0, 0, false, refusal.substr(colon + 2)});
        }
      }
    }
  }

  /// How many images should go through the network together.
  void choose_group() {
    const int64_t batch =
        trials_.inputs().empty() || trials_.inputs()[0].rank() == 0 ? 1 : trials_.inputs()[0].shape()[0];
    if (batch < 2 || !splits_by_batch(*engine_.graph)) return;
    const std::string key = "group " + graph_signature(*bound_, engine_.precision);
    if (const TimingEntry* known = cache_.find(key, least_level())) {
      const char* const end = known->chosen.data() + known->chosen.size();
      int64_t images = -1;
      if (std::from_chars(known->chosen.data(), end, images).ptr == end && images >= 0 && images <= batch) {
        engine_.micro_batch = images;
        return;
      }
    }
    refuse_to_time("the choice of a batch group for this network");
    report(0.9, "timing batch groups");
    trials_.forget_misfit();
    const auto groups = time_batch_groups(engine_, device_, trials_.inputs(), batch,
                                          [this](const auto& action) { return trials_.fits(action); });
    if (!groups) trials_.rethrow_failure();
    engine_.micro_batch = groups->chosen;
    TimingEntry entry{.chosen = std::to_string(groups->chosen),
                      .level = options_.optimization_level,
                      .short_of_memory = trials_.short_of_memory()};
    for (const auto& [images, time] : groups->times) entry.times[std::to_string(images)] = time;
    cache_.set(key, std::move(entry));
  }

  Engine& engine_;
  std::shared_ptr<const graph::Graph> bound_;
  const Device& device_;
  const BuildOptions& options_;
  TimingCache& cache_;
  TacticTrials trials_;
  /// Tactics with which the network computes what it should, per node.
  std::vector<std::string> sound_tactics_;
};

}  // namespace

void search_tactics(Engine& engine, const std::shared_ptr<const graph::Graph>& bound, const Device& device,
                    const BuildOptions& options, TimingCache& cache) {
  try {
    Search(engine, bound, device, options, cache).run();
  } catch (const UnfitInputs& error) {
    engine.layout = device.image_layouts(engine.precision).front();
    engine.tactics.clear();
    engine.micro_batch = 0;
    engine.not_timed = error.what();
    if (options.cached_only) return;
    TimingEntry unfit{.chosen = engine.not_timed,
                      .level = options.optimization_level,
                      .short_of_memory = error.short_of_memory};
    unfit.times[unfit.chosen] = {};  // of no samples
    cache.set(unfit_key(*bound, engine.precision), std::move(unfit));
  }
}

}  // namespace hone::engine
