// Fields of a layer of a run in the result file.
#pragma once

#include "bench/results/run_record.hpp"
#include "bench/results/run_schema.hpp"

namespace hone::base {

template <>
struct Description<bench::LayerFigure> {
  using Layer = bench::LayerFigure;
  static constexpr std::string_view kName = "RunLayer";
  static constexpr auto kFields = std::tuple{
      Field{"name", &Layer::name, "Name of the layer"},
      Field{"kind", &Layer::kind, "Operator, where the system tells"},
      Field{"tactic", &Layer::tactic, "How the system runs it, where it tells"},
      Field{"sources", &Layer::sources, "Nodes of the model that it computes"},
      Field{"inputs", &Layer::inputs, "Types and shapes of its inputs"},
      Field{"outputs", &Layer::outputs, "Types and shapes of its outputs"},
      Field{"time_ms", &Layer::time, "Time in one run, in runs of their own after the measured ones",
            unit::kMs, origin::kMeasured},
      Field{"flops", &Layer::flops, "Arithmetic work; a multiply-add is two. 0 where it is not known",
            unit::kFlop, origin::kEstimated},
      Field{"bytes", &Layer::bytes, "Inputs, weights and outputs, each counted once. 0 where it is not known",
            unit::kBytes, origin::kEstimated}};
};

}  // namespace hone::base
