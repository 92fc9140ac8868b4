// The JSON files that trtexec writes, of our own measurements, for the scripts and viewers that read them:
// --exportProfile, --exportLayerInfo, --exportTimes (TensorRT 8 to 10).
#pragma once

#include "analysis/questions/layers.hpp"
#include "analysis/questions/steps.hpp"
#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::report {

/// `[{"count": iterations}, {"name", "timeMs", "averageMs", "medianMs", "percentage"}, ...]`; times over all
/// iterations, shares of their sum. Names are escaped, which trtexec does not.
Json trtexec_profile(const analysis::LayerTable& table);

/// `{"Layers": [...], "Bindings": []}` with Name, LayerType, Inputs, Outputs, TacticName and, of the model's
/// nodes, Metadata, as far as they were recorded. Dimensions are those of "float32 1x64x56x56"; what
/// surrounds them is the format.
Json trtexec_layer_info(const analysis::LayerTable& table);

/// An object for each iteration, ms since the first began: when its launches were made (Enq, host clock), and
/// when its copies to the device (H2d), its other work (Compute) and its copies back (D2h) began and ended on
/// the device. Parts that an iteration does not have begin and end where the part before ended. Without
/// device events an iteration computes from its start to its end. h2dMs and d2hMs are the time in which one
/// copy or more went on, computeMs is from begin to end; latencyMs is h2dMs + computeMs + d2hMs. Bad input
/// when no iterations were announced.
Json trtexec_times(const trace::Trace& trace, const analysis::StepList& steps);

}  // namespace hone::report
