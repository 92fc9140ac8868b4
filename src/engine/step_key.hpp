// Identifies the step of an engine to which a choice belongs: a node of its graph, or a piece of a dissolved
// node.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::engine {

struct StepKey {
  /// Index of the graph's node, -1 for none.
  int32_t node = -1;
  /// The index of the piece of the node, then the index of a piece of that piece if it is dissolved in turn,
  /// and so on; empty for the node itself.
  std::vector<int32_t> path;

  auto operator<=>(const StepKey&) const = default;
  StepKey piece(int32_t index) const;
  /// "12/0/1".
  std::string text() const;
};

/// Parses the result of text(); bad input for another text.
StepKey parse_step_key(std::string_view text);

}  // namespace hone::engine
