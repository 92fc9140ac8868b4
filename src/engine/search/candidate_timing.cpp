// See candidate_timing.hpp.
#include "engine/search/candidate_timing.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "engine/search/disturbance.hpp"
#include "engine/search/step_timer.hpp"

namespace hone::engine {
namespace {

/// After one sample (two if other work disturbed it), candidates that are slower than the best by this factor
/// are not timed again.
constexpr double kHopeless = 1.5;
/// Limit on the fastest candidates that are timed, because all their programs take turns and are in memory at
/// the same time.
constexpr size_t kMostTimed = 16;
/// After this number of seconds, no further samples of the promising candidates are begun.
constexpr double kLookSeconds = 6;
/// Shares of the remaining budget: for one sample of every candidate, and for checking candidates that ran
/// only in wrong networks. The rest is for further samples.
constexpr double kFirstLookShare = 0.7;
constexpr double kCheckShare = 0.6;

/// The outputs of the rounds; round k used candidate k of every step.
struct FirstLook {
  std::vector<Ballot> ballots;
  /// The ballot of each round; nothing if it could not run, which proves nothing about the others.
  std::vector<std::optional<size_t>> votes;
};

/// A candidate of a step (both by index) that is neither proven right nor wrong.
struct Suspect {
  size_t step;
  size_t candidate;
};

class CandidateTiming {
 public:
  CandidateTiming(LayoutSearch& search, TacticTrials& trials, const SearchProgress& progress)
      : search_(search), trials_(trials), progress_(progress) {}

  Plans run(int looks, const SearchBudget& budget) {
    trials_.forget_misfit();
    const Disturbance disturbance(trials_.device());
    refuse_wrong(look_once(budget.part(kFirstLookShare)), budget.part(kCheckShare));
    refuse_untimed();
    if (disturbance.was_seen()) look_at_hopeless_again(budget.part(kFirstLookShare));
    std::vector<std::vector<Candidate>> hopeless = set_aside_hopeless();
    look_again(looks, budget);
    for (size_t i = 0; i < search_.steps.size(); ++i) {
      StepSearch& step = search_.steps[i];
      if (step.cached || step.candidates.empty()) continue;
      step.choose();
      for (Candidate& candidate : hopeless[i]) step.candidates.push_back(std::move(candidate));
    }
    return std::move(sound_);
  }

 private:
  std::unique_ptr<Execution> program_of_round(size_t k) const {
    return trials_.program(search_.layout, search_.plans_of_round(k));
  }

  /// Takes one sample of every step of round `k`.
  void time_round(Execution& program, size_t k) {
    StepTimer timer(program);
    timer.sample(trials_.inputs());
    search_.take_times(timer, program.program(), k);
  }

  /// Runs one program after another, because all of them together would take much memory. The first one
  /// always runs.
  FirstLook look_once(const SearchBudget& budget) {
    FirstLook seen;
    const size_t rounds = search_.rounds();
    for (size_t k = 0; k < rounds && (k == 0 || !budget.is_over()); ++k) {
      progress_.report(fmt::format("timing tactics, round {} of {}", k + 1, rounds));
      std::optional<size_t> vote;
      trials_.fits([&] {
        const auto made = program_of_round(k);
        Outputs outputs = trials_.first_outputs(*made);
        time_round(*made, k);
        vote = trials_.vote(std::move(outputs), seen.ballots);
      });
      seen.votes.push_back(vote);
    }
    if (seen.ballots.empty()) trials_.rethrow_failure();
    leave_out_unseen(seen.votes.size());
    return seen;
  }

  /// Leaves out the candidates that no round has used.
  void leave_out_unseen(size_t round) {
    for (StepSearch& step : search_.steps) {
      if (step.cached || step.candidates.empty()) continue;
      std::vector<bool> taken(step.candidates.size(), false);
      for (size_t k = 0; k < round; ++k) taken[search_.candidate_of_round(step, k)] = true;
      for (size_t i = taken.size(); i-- > 0;) {
        if (!taken[i]) step.leave_out(i);
      }
    }
  }

  /// Refuses candidates with which the network computes a wrong result or cannot run. The candidates of a
  /// right round are right. Candidates of a wrong round that no right round has proven are tried in an
  /// otherwise right network, first together and then by halves.
  void refuse_wrong(FirstLook seen, const SearchBudget& budget) {
    trials_.expect(seen.ballots, search_.layout);
    std::vector<bool> right;
    for (const Ballot& ballot : seen.ballots) right.push_back(trials_.agrees(ballot.outputs));
    seen.ballots.clear();  // they take memory that candidates need
    const auto is_right = [&](std::optional<size_t> vote) { return vote && right[*vote]; };
    const auto first = std::find_if(seen.votes.begin(), seen.votes.end(), is_right);
    sound_ = search_.plans_of_round(static_cast<size_t>(first - seen.votes.begin()));
    known_.clear();
    for (const StepSearch& step : search_.steps) known_.emplace_back(step.candidates.size(), false);
    for (size_t k = 0; k < seen.votes.size(); ++k) {
      if (!is_right(seen.votes[k])) continue;
      for (const Suspect& shown : unknown_of_round(k)) known_[shown.step][shown.candidate] = true;
    }
    for (size_t k = 0; k < seen.votes.size(); ++k) {
      if (!is_right(seen.votes[k])) find_wrong(unknown_of_round(k), budget);
    }
    // Removes from the end, so that earlier indices stay valid.
    std::sort(wrong_.begin(), wrong_.end(), [](const Wrong& a, const Wrong& b) {
      return std::pair(a.suspect.step, a.suspect.candidate) > std::pair(b.suspect.step, b.suspect.candidate);
    });
    for (const Wrong& wrong : wrong_) {
      StepSearch& step = search_.steps[wrong.suspect.step];
      if (wrong.reason.empty()) {
        step.leave_out(wrong.suspect.candidate);
        continue;
      }
      step.refuse(wrong.suspect.candidate, wrong.reason);
      step.short_of_memory = step.short_of_memory || wrong.short_of_memory;
    }
  }

  /// The candidates that round `k` used for steps with a choice, except those already judged.
  std::vector<Suspect> unknown_of_round(size_t k) const {
    std::vector<Suspect> suspects;
    for (size_t i = 0; i < search_.steps.size(); ++i) {
      const StepSearch& step = search_.steps[i];
      if (step.cached || step.candidates.size() < 2) continue;
      const size_t candidate = search_.candidate_of_round(step, k);
      if (!known_[i][candidate]) suspects.push_back({i, candidate});
    }
    return suspects;
  }

  void find_wrong(std::span<const Suspect> suspects, const SearchBudget& budget) {
    if (suspects.empty()) return;
    if (budget.is_over()) {
      for (const Suspect& suspect : suspects) note_wrong(suspect, "");
      return;
    }
    progress_.report("checking what networks compute");
    Plans plans = sound_;
    for (const auto& [step, candidate] : suspects) {
      for (const StepKey& key : search_.steps[step].keys)
        plans[key] = search_.steps[step].candidates[candidate].plan;
    }
    const std::string reason = trials_.mistake([&] {
      const auto made = trials_.program(search_.layout, plans);
      const bool agrees = trials_.agrees(*made);
      if (agrees) time_untimed(suspects, *made);
      return agrees;
    });
    if (reason.empty()) {
      for (const auto& [step, candidate] : suspects) known_[step][candidate] = true;
    } else if (suspects.size() == 1) {
      note_wrong(suspects.front(), reason);
    } else {
      find_wrong(suspects.first(suspects.size() / 2), budget);
      find_wrong(suspects.subspan(suspects.size() / 2), budget);
    }
  }

  /// `reason` is empty if there was no time to find out.
  void note_wrong(const Suspect& suspect, const std::string& reason) {
    known_[suspect.step][suspect.candidate] = true;
    wrong_.push_back({suspect, reason, reason == trials_.misfit() && trials_.short_of_memory()});
  }

  /// Takes one sample of candidates whose round could not run.
  void time_untimed(std::span<const Suspect> suspects, Execution& program) {
    std::optional<StepTimer> timer;
    for (const auto& [step, candidate] : suspects) {
      StepSearch& searched = search_.steps[step];
      if (!searched.candidates[candidate].times.empty()) continue;
      if (!timer) timer.emplace(program).sample(trials_.inputs());
      searched.take_times(*timer, plans_that_run(program.program()), candidate);
    }
  }

  /// Refuses candidates that were never timed, because another kernel ran whenever they were requested.
  void refuse_untimed() {
    for (StepSearch& step : search_.steps) {
      for (size_t k = step.candidates.size(); !step.cached && k-- > 0;) {
        if (!step.candidates[k].times.empty() || step.candidates.size() < 2) continue;
        const bool misfit = !trials_.misfit().empty();
        step.refuse(k, misfit ? trials_.misfit() : "it cannot run this step");
        if (misfit && trials_.short_of_memory()) step.short_of_memory = true;
      }
    }
  }

  /// The least of a candidate's samples, because other work makes times only longer.
  static double least(const Candidate& candidate) { return sample_quantile(candidate.times, 0); }

  /// The largest least sample with which a candidate is still timed further.
  static double hopeless_from(const StepSearch& step) {
    std::vector<double> times = {1e300};
    for (const Candidate& candidate : step.candidates) times.push_back(least(candidate));
    std::sort(times.begin(), times.end());
    return std::min(times.front() * kHopeless, times[std::min(kMostTimed, times.size()) - 1]);
  }

  /// Takes a second sample of candidates that a single sample would rule out, because other work may have
  /// made it slow.
  void look_at_hopeless_again(const SearchBudget& budget) {
    const auto is_doubtful = [&](const StepSearch& step, size_t k) {
      if (step.cached || step.candidates.size() < 2) return false;
      const Candidate& candidate = step.candidates[search_.candidate_of_round(step, k)];
      return candidate.times.size() <= step.keys.size() && least(candidate) > hopeless_from(step);
    };
    const size_t rounds = search_.rounds();
    for (size_t k = 0; k < rounds && !budget.is_over(); ++k) {
      if (std::none_of(search_.steps.begin(), search_.steps.end(),
                       [&](const StepSearch& step) { return is_doubtful(step, k); }))
        continue;
      progress_.report(fmt::format("timing tactics that were disturbed, round {} of {}", k + 1, rounds));
      trials_.fits([&] { time_round(*program_of_round(k), k); });
    }
  }

  /// They return to the list for the log, after the others, with their few samples.
  std::vector<std::vector<Candidate>> set_aside_hopeless() {
    std::vector<std::vector<Candidate>> hopeless(search_.steps.size());
    for (size_t i = 0; i < search_.steps.size(); ++i) {
      StepSearch& step = search_.steps[i];
      if (step.cached) continue;
      const double limit = hopeless_from(step);
      const auto middle = std::stable_partition(step.candidates.begin(), step.candidates.end(),
                                                [&](const Candidate& c) { return least(c) <= limit; });
      hopeless[i].assign(std::make_move_iterator(middle), std::make_move_iterator(step.candidates.end()));
      step.candidates.erase(middle, step.candidates.end());
    }
    return hopeless;
  }

  /// Programs take turns: all of them, or those that fit into memory at a time.
  void look_again(int looks, const SearchBudget& budget) {
    if (budget.is_over()) return;
    const size_t rounds = search_.rounds();
    const SearchBudget time = budget.at_most(kLookSeconds);
    for (size_t first = 0; first < rounds;) {
      std::vector<std::unique_ptr<Execution>> programs;
      while (first + programs.size() < rounds && trials_.fits([&] {
        auto made = program_of_round(first + programs.size());
        made->executor();
        programs.push_back(std::move(made));
      })) {
      }
      for (int i = 0; i < looks && (i == 0 || !time.is_over()) && !budget.is_over(); ++i) {
        progress_.report(fmt::format("timing the fastest tactics, look {} of {}", i + 1, looks));
        for (size_t k = 0; k < programs.size(); ++k)
          trials_.fits([&] { time_round(*programs[k], first + k); });
      }
      first += std::max<size_t>(1, programs.size());
    }
  }

  struct Wrong {
    Suspect suspect;
    std::string reason;
    bool short_of_memory;
  };

  LayoutSearch& search_;
  TacticTrials& trials_;
  const SearchProgress& progress_;
  Plans sound_;
  /// For each candidate of each step: true if it is known whether the network is right or wrong with it.
  std::vector<std::vector<bool>> known_;
  std::vector<Wrong> wrong_;
};

}  // namespace

Plans time_candidates(LayoutSearch& search, TacticTrials& trials, int looks, const SearchBudget& budget,
                      const SearchProgress& progress) {
  return CandidateTiming(search, trials, progress).run(looks, budget);
}

}  // namespace hone::engine
