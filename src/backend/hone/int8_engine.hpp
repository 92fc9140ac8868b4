// Finds which part of a quantized model an engine multiplies as integers, and whether the model is faster so
// at all.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/engine.hpp"
#include "engine/kernel.hpp"
#include "engine/search/search_budget.hpp"

namespace hone::backend {

/// How a model got its Q/DQ.
struct Int8Source {
  /// "calibration: 500 samples".
  std::string origin;
  /// The model in floating point; null where there is none.
  std::shared_ptr<const graph::Graph> floats;
  /// False for Q/DQ of a model that is built in floating point.
  bool is_asked_for = true;
};

/// Shares of the operations of all convolutions and matrix products, at the tuned shapes.
struct Int8Shares {
  double quantized = 0;  ///< whose operands stand for integers
  double executed = 0;   ///< that steps multiply as integers
};

/// `graph`: what the engine was built of.
Int8Shares int8_shares(const std::shared_ptr<const engine::Engine>& engine, const engine::Device& device,
                       const graph::Graph& graph);

/// "int8 in 96.9 % of the multiply-adds, calibration: 500 samples", or how much of that is computed in
/// floating point.
std::string int8_note(const Int8Shares& shares, std::string_view origin, std::string_view device);

/// Reads the share from the engine's metadata; absent for one without int8, or with a share out of range.
std::optional<double> int8_share_of(const engine::Engine& engine);

/// Medians of the times of whole runs on generated inputs of the tuned shapes, taking turns.
struct RunTimes {
  double first_ms = 0;
  double second_ms = 0;
};
/// Medians; they come from a few runs where there is no time for more.
RunTimes compare_engines(const std::shared_ptr<const engine::Engine>& first,
                         const std::shared_ptr<const engine::Engine>& second, const engine::Device& device,
                         const engine::SearchBudget& budget);

}  // namespace hone::backend
