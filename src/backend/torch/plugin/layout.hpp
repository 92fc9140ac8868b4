// On a GPU either memory layout can be the faster one: NCHW or channels-last.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/torch/plugin/runner.hpp"

namespace hone::backend::aten {

/// Milliseconds of one run.
using Measure = std::function<double(Runner&)>;

struct ChosenRunner {
  std::unique_ptr<Runner> runner;
  /// Why this layout.
  std::string note;
};

/// True if the graph convolves images, so that their layout matters.
bool convolves_images(const graph::Graph& graph);

/// The runner of the layout that measures faster. The two never live at the same time. A layout that cannot
/// run loses; when neither can, the error is that of NCHW.
ChosenRunner choose_layout(const BoundGraph& graph, Placement placement, MakeRunner make,
                           const Measure& measure);

/// Median of some runs on zeros, the device waited for after each.
double measure_runs(const graph::Graph& graph, Runner& runner);

}  // namespace hone::backend::aten
