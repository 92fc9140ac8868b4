// Chooses the tactic that runs a step: asks those of the device in order until one makes an offer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// The tactics' answers to one request.
struct TacticAnswer {
  /// The tactic and the offer of the first one that accepts; empty as long as all tactics refuse.
  TacticId tactic;
  Offer offer;
  /// As in ProgramStep.
  std::vector<TacticRefusal> refusals;
  std::vector<TacticId> candidates;
  /// The first packed form of a constant that a tactic needs and the engine lacks.
  std::optional<MissingForm> missing;

  bool offers() const { return !tactic.empty(); }
};

class TacticChoice {
 public:
  TacticChoice(const Device& device, WeightStore& weights) : device_(device), weights_(weights) {}

  /// Asks the device's tactics, first the `wanted` one; the reference only if it is wanted. If candidates are
  /// requested, variants are listed without asking them after the first offer, because preparing one may take
  /// long.
  TacticAnswer ask(const StepRequest& request, const TacticId& wanted, bool list_candidates);
  /// Asks the reference, after all other tactics refused. Environment error if one of them could run the step
  /// with a packed form of a constant that is missing; internal error if the reference lacks the operator.
  void ask_reference(const StepRequest& request, TacticAnswer& answer);
  /// True if a tactic of the device makes an offer.
  bool is_taken(const StepRequest& request);

  /// Starts to prepare the listed candidates in the background: the first variants of all steps before the
  /// second variant of any step, which is the order of a search. The requests' graphs and nodes must still
  /// exist.
  std::vector<Preparation> prepare() const;

 private:
  void ask_one(const Tactic& tactic, const StepRequest& request, const TacticId& wanted, TacticAnswer& answer,
               bool list);
  Offer ask_way(const Tactic& tactic, const StepRequest& request, const std::string* variant,
                TacticAnswer& answer);
  std::vector<std::string> list_variants(const Tactic& tactic, const StepRequest& request);
  Offer first_offer(const Tactic& tactic, const StepRequest& request, const std::string& named,
                    std::vector<std::string>& variants, TacticAnswer& answer, bool list);

  const Device& device_;
  WeightStore& weights_;
  /// A tactic's variants for a step.
  struct Listed {
    const Tactic* tactic;
    StepRequest request;
    std::vector<std::string> variants;
  };

  std::vector<Listed> listed_;
};

}  // namespace hone::engine
