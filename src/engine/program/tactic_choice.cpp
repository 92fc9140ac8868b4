// See tactic_choice.hpp.
#include "engine/program/tactic_choice.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace hone::engine {

TacticAnswer TacticChoice::ask(const StepRequest& request, const TacticId& wanted, bool list_candidates) {
  TacticAnswer answer;
  if (wanted.name == reference_tactic().name) ask_one(reference_tactic(), request, wanted, answer, false);
  std::vector<const Tactic*> tactics = device_.tactics(request.node);
  std::stable_partition(tactics.begin(), tactics.end(),
                        [&](const Tactic* tactic) { return tactic->name == wanted.name; });
  for (const Tactic* tactic : tactics) {
    if (answer.offers() && !list_candidates) break;
    ask_one(*tactic, request, wanted, answer, list_candidates);
  }
  return answer;
}

void TacticChoice::ask_reference(const StepRequest& request, TacticAnswer& answer) {
  // The reference reads constants in plain form, so it also needs the missing one.
  if (answer.missing) throw MissingForm(*answer.missing);
  ask_one(reference_tactic(), request, {}, answer, false);
  if (!answer.offers())
    fail_internal("no tactic runs {}: {}", request.node.text(), fmt::join(texts_of(answer.refusals), "; "));
}

bool TacticChoice::is_taken(const StepRequest& request) {
  TacticAnswer answer;
  for (const Tactic* tactic : device_.tactics(request.node)) {
    ask_one(*tactic, request, {}, answer, false);
    if (answer.offers()) return true;
  }
  return false;
}

void TacticChoice::ask_one(const Tactic& tactic, const StepRequest& request, const TacticId& wanted,
                           TacticAnswer& answer, bool list) {
  const std::string& name = tactic.name;
  std::vector<std::string> variants;
  if (list && answer.offers()) variants = list_variants(tactic, request);
  for (const std::string& variant : variants) answer.candidates.push_back({name, variant});
  if (!variants.empty()) return;
  Offer offer =
      first_offer(tactic, request, name == wanted.name ? wanted.variant : "", variants, answer, list);
  if (offer.refusal) {
    answer.refusals.push_back({{name, {}}, std::move(offer.refusal)});
    return;
  }
  if (variants.empty()) answer.candidates.push_back({name, {}});
  for (const std::string& variant : variants) answer.candidates.push_back({name, variant});
  if (answer.offers()) return;
  answer.tactic = answer.candidates.front();
  answer.offer = std::move(offer);
}

/// Returns its offer, for one variant if there are several. The tactic refuses if the engine lacks the packed
/// form of a constant that it needs.
Offer TacticChoice::ask_way(const Tactic& tactic, const StepRequest& request, const std::string* variant,
                            TacticAnswer& answer) {
  try {
    return variant == nullptr ? tactic.offer(request, weights_)
                              : tactic.offer_variant(request, weights_, *variant);
  } catch (const MissingForm& error) {
    if (!answer.missing) answer.missing = error;
    return Offer::refuse(error.sentence());
  }
}

std::vector<std::string> TacticChoice::list_variants(const Tactic& tactic, const StepRequest& request) {
  std::vector<std::string> variants = tactic.variants(request);
  if (!variants.empty()) listed_.push_back({&tactic, request, variants});
  return variants;
}

std::vector<Preparation> TacticChoice::prepare() const {
  std::vector<Preparation> preparations;
  size_t most = 0;
  for (const Listed& listed : listed_) most = std::max(most, listed.variants.size());
  for (size_t k = 0; k < most; ++k) {
    for (const Listed& listed : listed_) {
      if (k < listed.variants.size())
        preparations.push_back(listed.tactic->expect(listed.request, {listed.variants[k]}));
    }
  }
  std::erase(preparations, nullptr);
  return preparations;
}

/// Returns the tactic's offer for the variant `named`, if any, else for the first of `variants` that does not
/// refuse; variants before it are removed from the list.
Offer TacticChoice::first_offer(const Tactic& tactic, const StepRequest& request, const std::string& named,
                                std::vector<std::string>& variants, TacticAnswer& answer, bool list) {
  Offer offer;
  if (!named.empty()) {
    variants = {named};
    offer = ask_way(tactic, request, &named, answer);
    if (!offer.refusal) return offer;
  }
  variants = list ? list_variants(tactic, request) : tactic.variants(request);
  if (variants.empty()) return ask_way(tactic, request, nullptr, answer);
  std::erase(variants, named);  // it has refused
  for (; !variants.empty(); variants.erase(variants.begin())) {
    offer = ask_way(tactic, request, &variants.front(), answer);
    if (!offer.refusal) break;
  }
  return offer;
}

}  // namespace hone::engine
