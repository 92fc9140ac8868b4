// Which tactic runs a step: the device's are asked in order until one offers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/kernel.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// The tactics' answers to one request.
struct TacticAnswer {
  /// The first offer's; empty while all that were asked refuse.
  TacticId tactic;
  Offer offer;
  /// ProgramStep's.
  std::vector<TacticRefusal> refusals;
  std::vector<TacticId> candidates;
  /// The first form of a constant that a tactic wants and the engine does not hold.
  std::optional<MissingForm> missing;

  bool offers() const { return !tactic.empty(); }
};

class TacticChoice {
 public:
  TacticChoice(const Device& device, WeightStore& weights) : device_(device), weights_(weights) {}

  /// The device's tactics, the one that is `wanted` first; the reference only where it is wanted. Candidates
  /// are listed where that was asked for: after the first offer, variants unasked, since it may take long to
  /// get one of them ready.
  TacticAnswer ask(const StepRequest& request, const TacticId& wanted, bool list_candidates);
  /// The reference, which closes the list of tactics that refused. Environment error when one of them would
  /// run the step with a form of a constant that is missing, internal error when the reference has not the
  /// operator.
  void ask_reference(const StepRequest& request, TacticAnswer& answer);
  /// True if a tactic of the device makes an offer.
  bool is_taken(const StepRequest& request);

  /// Starts to get the listed candidates ready: the first variants of all steps before the second one of any,
  /// as a search asks for them. The requests' graphs and nodes must still be there.
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
