// The name of a tactic and of the way in which it runs a step. Text only in files and for people.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace hone::engine {

/// Stands for a tactic where a node runs as the pieces that it is dissolved into.
inline constexpr std::string_view kDissolved = "dissolved";

struct TacticId {
  /// Empty: none is named.
  std::string name;
  /// Which of Tactic::variants(); empty for a tactic with one way only, or for the first that accepts.
  std::string variant;

  auto operator<=>(const TacticId&) const = default;
  bool empty() const { return name.empty(); }
  bool dissolves() const { return name == kDissolved; }
  /// "cudnn:e3k1=2", or "chain" without a variant.
  std::string text() const;
};

/// Parses the result of text(): the variant follows the first colon and may hold others.
TacticId parse_tactic_id(std::string_view text);

}  // namespace hone::engine
