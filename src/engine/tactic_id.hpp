// The name of a tactic and of the variant with which it runs a step. It is a text only in files and for
// people.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace hone::engine {

/// Takes the place of a tactic if a node runs as pieces.
inline constexpr std::string_view kDissolved = "dissolved";

struct TacticId {
  /// Empty: no tactic is named.
  std::string name;
  /// One of Tactic::variants(); empty for a tactic with only one way, or for the first variant that accepts.
  std::string variant;

  auto operator<=>(const TacticId&) const = default;
  bool empty() const { return name.empty(); }
  bool dissolves() const { return name == kDissolved; }
  /// "cudnn:e3k1=2", or "chain" without a variant.
  std::string text() const;
};

/// Parses the result of text(): the variant follows the first colon and may contain others.
TacticId parse_tactic_id(std::string_view text);

}  // namespace hone::engine
