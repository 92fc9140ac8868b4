// Layers of a run with their times, from runs in which every step announced itself, or from the profiler of
// the system that ran them.
#pragma once

#include <vector>

#include "backend/layer_profile.hpp"
#include "bench/results/run_record.hpp"
#include "bench/worker/traced_runs.hpp"

namespace hone::bench {

/// Figures in the order of the engine; empty for a backend that does not describe its steps. On a GPU the
/// time of a layer is the sum of its kernels and copies, on the CPU that of its range. The first of several
/// runs is left out.
std::vector<LayerFigure> layer_figures(const TracedRuns& traced);

/// Bad input where the description of the engine is no JSON of TensorRT's inspector.
std::vector<LayerFigure> layer_figures(const backend::LayerProfile& profile);

}  // namespace hone::bench
