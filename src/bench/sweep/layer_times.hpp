// The times of a run's layers, from runs in which every step was announced, or from the profiler of the
// system that ran them.
#pragma once

#include <vector>

#include "backend/layer_profile.hpp"
#include "bench/results/run_record.hpp"
#include "bench/worker/traced_runs.hpp"

namespace hone::bench {

/// Returns figures in the order of the engine; empty for a backend that does not describe its steps, or not
/// when they run. A layer that never ran has no time. On a GPU, the time of a layer is the sum of its kernels
/// and copies; on the CPU, it is that of its range. If there are several runs, the first is left out.
std::vector<LayerFigure> layer_figures(const TracedRuns& traced);

/// Bad input if the description of the engine is not JSON of TensorRT's inspector.
std::vector<LayerFigure> layer_figures(const backend::LayerProfile& profile);

}  // namespace hone::bench
