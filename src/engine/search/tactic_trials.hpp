// Networks that a tactic search makes and runs to see what they compute with other tactics.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "engine/program/execution.hpp"
#include "engine/search/output_check.hpp"
#include "engine/search/tactic_candidates.hpp"

namespace hone::engine {

/// Thrown if the inputs that the search made up cannot be run. The model may be sound: its inputs may be
/// shapes or indices, which random numbers are not.
struct UnfitInputs : Error {
  UnfitInputs(const Error& error, bool memory) : Error(error), short_of_memory(memory) {}
  bool short_of_memory;  ///< of which there may be more another time
};

class TacticTrials {
 public:
  /// `bound`: the engine's graph with the shapes to tune for. `exhaustive`: candidates that nobody recommends
  /// are listed too.
  TacticTrials(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
               bool exhaustive);
  TacticTrials(const TacticTrials&) = delete;  // the check looks at the inputs
  TacticTrials& operator=(const TacticTrials&) = delete;

  std::unique_ptr<Execution> program(Layout layout, const Plans& plans) const {
    return std::make_unique<Execution>(make(layout, plans, engine_.policy(), false), device_);
  }
  /// One whose steps run by these plans or else, knowing their candidates, by the device's favourites in that
  /// policy.
  std::unique_ptr<Program> listed_program(Layout layout, const Plans& plans,
                                          const NumericPolicy& policy) const {
    return make(layout, plans, policy, true);
  }

  /// Does it, unless there is no room for it, on the device or within the limit for tensors, or a step cannot
  /// run: then false, and misfit() and failure() say why. LostDevice passes.
  bool fits(const std::function<void()>& action);
  const std::string& misfit() const { return misfit_; }
  /// True if that was for want of memory, of which there may be more another time.
  bool short_of_memory() const { return short_of_memory_; }
  void forget_misfit() {
    misfit_.clear();
    short_of_memory_ = false;
  }
  [[noreturn]] void rethrow_failure() const { std::rethrow_exception(failure_); }
  std::exception_ptr failure() const { return failure_; }

  /// Outputs of a program that has not run yet. UnfitInputs where it cannot run with these inputs.
  Outputs first_outputs(Execution& made) const;

  /// Why what the action tries cannot be taken: the action says whether outputs are right, or fails.
  std::string mistake(const std::function<bool()>& action);
  std::string mistake_of(Layout layout, const Plans& plans) {
    return mistake([&] { return agrees(*program(layout, plans)); });
  }

  /// Why choices of an earlier search cannot be taken: another network than the one that they were right in
  /// may show what is wrong with them. The other steps run by the device's favourites, or by the reference
  /// where one of those cannot run.
  std::string doubt_of_cached(const LayoutSearch& search);

  /// See OutputCheck; where no two of the outputs agree, the reference decides.
  void expect(const std::vector<Ballot>& ballots, Layout layout) {
    check_.expect(ballots, [&] { return reference_outputs(layout); });
  }
  size_t vote(Outputs outputs, std::vector<Ballot>& ballots) const {
    return check_.vote(std::move(outputs), ballots);
  }
  bool agrees(const Outputs& outputs) const { return check_.agrees(outputs); }
  bool agrees(Execution& program) const { return check_.agrees(program); }

  const std::vector<tensor::Tensor>& inputs() const { return inputs_; }
  const Device& device() const { return device_; }

 private:
  std::unique_ptr<Program> make(Layout layout, const Plans& plans, const NumericPolicy& policy,
                                bool list) const;
  Plans all_by_reference(Layout layout) const;
  Outputs reference_outputs(Layout layout) const {
    return first_outputs(*program(layout, all_by_reference(layout)));
  }

  Engine& engine_;
  std::shared_ptr<const graph::Graph> bound_;
  const Device& device_;
  bool exhaustive_;
  std::vector<tensor::Tensor> inputs_;
  OutputCheck check_;
  /// Why the last trial that did not fit did not: the sentence of the present layout's, and the error.
  std::string misfit_;
  bool short_of_memory_ = false;
  std::exception_ptr failure_;
};

}  // namespace hone::engine
