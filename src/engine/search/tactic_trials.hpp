// Makes and runs the networks of a tactic search, and checks their results with different tactics.
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

/// Thrown if the network cannot run with the generated inputs. The model may be valid: its inputs may be
/// shapes or indices, for which random numbers are not suitable.
struct UnfitInputs : Error {
  UnfitInputs(const Error& error, bool memory) : Error(error), short_of_memory(memory) {}
  bool short_of_memory;  ///< there may be more memory at another time
};

class TacticTrials {
 public:
  /// `bound` is the engine's graph with the shapes to tune for. With `exhaustive`, candidates that are not
  /// recommended are listed too.
  TacticTrials(Engine& engine, std::shared_ptr<const graph::Graph> bound, const Device& device,
               bool exhaustive);
  TacticTrials(const TacticTrials&) = delete;  // the check refers to the inputs
  TacticTrials& operator=(const TacticTrials&) = delete;

  std::unique_ptr<Execution> program(Layout layout, const Plans& plans) const {
    return std::make_unique<Execution>(make(layout, plans, engine_.policy(), false), device_);
  }
  /// Returns a program that lists candidates. Its steps run by these plans, else by the device's defaults
  /// with this policy.
  std::unique_ptr<Program> listed_program(Layout layout, const Plans& plans,
                                          const NumericPolicy& policy) const {
    return make(layout, plans, policy, true);
  }

  /// Runs the action. Returns false if there is not enough memory, on the device or within the limit for
  /// tensors, or if a step cannot run; misfit() and failure() then give the reason. LostDevice is not caught.
  bool fits(const std::function<void()>& action);
  const std::string& misfit() const { return misfit_; }
  /// True if the reason was too little memory, of which there may be more at another time.
  bool short_of_memory() const { return short_of_memory_; }
  void forget_misfit() {
    misfit_.clear();
    short_of_memory_ = false;
  }
  [[noreturn]] void rethrow_failure() const { std::rethrow_exception(failure_); }
  std::exception_ptr failure() const { return failure_; }

  /// Outputs of a program that has not run yet. Throws UnfitInputs if it cannot run with these inputs.
  Outputs first_outputs(Execution& made) const;

  /// Returns why a choice cannot be used; empty if it can. The action tries it and returns whether the
  /// outputs are right, or throws.
  std::string mistake(const std::function<bool()>& action);
  std::string mistake_of(Layout layout, const Plans& plans) {
    return mistake([&] { return agrees(*program(layout, plans)); });
  }

  /// Returns why choices of an earlier search cannot be used: they were right in their network, but another
  /// network may show that they are wrong. The other steps run by the device's defaults, or by the reference
  /// if a default cannot run.
  std::string doubt_of_cached(const LayoutSearch& search);

  /// See OutputCheck; if no two outputs agree, the reference decides.
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
  /// Why the last failed trial did not fit: the sentence for the present layout, and the error.
  std::string misfit_;
  bool short_of_memory_ = false;
  std::exception_ptr failure_;
};

}  // namespace hone::engine
