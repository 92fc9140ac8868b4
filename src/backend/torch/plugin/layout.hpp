// Chooses between the memory layouts NCHW and channels-last: on a GPU either can be faster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {

/// Returns the milliseconds of one run.
using Measure = std::function<double(Runner&)>;

struct ChosenRunner {
  std::unique_ptr<Runner> runner;
  /// The reason for this layout.
  std::string note;
};

/// True if the graph convolves images, so that their layout matters.
bool convolves_images(const graph::Graph& graph);

/// The runner with the layout that was measured as faster. The two never exist at the same time. If one
/// layout cannot run, the other is chosen; if neither can, the error is that of NCHW.
ChosenRunner choose_layout(const BoundGraph& graph, Placement placement, MakeRunner make,
                           const Measure& measure);

/// Median of some runs on zeros, with a wait for the device after each.
double measure_runs(const graph::Graph& graph, Runner& runner);

}  // namespace hone::backend::aten
