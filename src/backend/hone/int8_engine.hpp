// Finds the part of a quantized model that an engine multiplies
// as integers, and whether that makes the model faster.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "engine/kernel.hpp"
#include "engine/search/search_budget.hpp"

namespace hone::backend {

/// The origin of a model's Q/DQ.
struct Int8Source {
  /// "calibration: 500 samples".
  std::string origin;
  /// The model in floating point; null if there is none.
  std::shared_ptr<const graph::Graph> floats;
  /// False for Q/DQ in a model that is built in floating point.
  bool is_asked_for = true;
};

/// Shares of the operations of all convolutions and matrix products, for the tuned shapes.
struct Int8Shares {
  double quantized = 0;  ///< operations whose operands are quantized
  double executed = 0;   ///< operations that steps execute on integers
};

/// `graph` is the graph from which the engine was built.
Int8Shares int8_shares(const std::shared_ptr<const engine::Engine>& engine, const engine::Device& device,
                       const graph::Graph& graph);

/// "int8 in 96.9 % of the multiply-adds, calibration: 500 samples". If floating point computes a part of what
/// is quantized, the text also gives the share of that part.
std::string int8_note(const Int8Shares& shares, std::string_view origin, std::string_view device);

/// Reads the share from the engine's metadata; nullopt for an engine without int8 or a share out of range.
std::optional<double> int8_share_of(const engine::Engine& engine);

/// Median times of whole runs on generated inputs of the tuned shapes; the engines take turns.
struct RunTimes {
  double first_ms = 0;
  double second_ms = 0;
};
/// Returns medians; they come from only a few runs if there is no time for more.
RunTimes compare_engines(const std::shared_ptr<const engine::Engine>& first,
                         const std::shared_ptr<const engine::Engine>& second, const engine::Device& device,
                         const engine::SearchBudget& budget);

}  // namespace hone::backend
