// Writes hone's measurements as the JSON files of trtexec, for scripts and viewers that read them:
// --exportProfile, --exportLayerInfo, --exportTimes (TensorRT 8 to 10).
#pragma once

#include "analysis/questions/layers.hpp"
#include "analysis/questions/steps.hpp"
#include "base/json.hpp"
#include "trace/trace.hpp"

namespace hone::report {

/// `[{"count": iterations}, {"name", "timeMs", "averageMs", "medianMs", "percentage"}, ...]`. Times are
/// summed over all iterations, and percentages are shares of the total. Unlike in trtexec's files, names are
/// escaped.
Json trtexec_profile(const analysis::LayerTable& table);

/// `{"Layers": [...], "Bindings": []}` with Name, LayerType, Inputs, Outputs, TacticName and (the nodes of
/// the model) Metadata, as far as they were recorded. In a type such as "float32 1x64x56x56", the numbers
/// become the dimensions and the rest becomes the format.
Json trtexec_layer_info(const analysis::LayerTable& table);

/// One object for each iteration. Times are in ms since the begin of the first one: when its work was
/// launched (Enq, on the host's clock), and when its copies to the device (H2d), its other work (Compute) and
/// its copies to the host (D2h) began and ended on the device. A missing part begins and ends at the end of
/// the previous part. Without device events, Compute lasts from the start of an iteration to its end. h2dMs
/// and d2hMs are the times in which at least one copy ran, computeMs is from begin to end, and latencyMs is
/// h2dMs + computeMs + d2hMs. Bad input if the trace has no iterations.
Json trtexec_times(const trace::Trace& trace, const analysis::StepList& steps);

}  // namespace hone::report
