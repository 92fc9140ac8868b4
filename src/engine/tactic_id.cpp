// See tactic_id.hpp.
#include "engine/tactic_id.hpp"

namespace hone::engine {

std::string TacticId::text() const { return variant.empty() ? name : name + ":" + variant; }

TacticId parse_tactic_id(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace hone::engine
