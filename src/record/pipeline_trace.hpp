// The stages of `hone detect` as a trace: a thread and its ranges for each stage.
#pragma once

#include <string>
#include <vector>

#include "task/pipeline_report.hpp"
#include "trace/trace.hpp"

namespace hone::record {

/// A trace of the stages; its clock is base::monotonic_ns(), as that of recorded programs. `statistics`: the
/// report as JSON text, which the page shows.
trace::Trace pipeline_trace(const std::vector<task::StageTimes>& stages, const task::PipelineReport& report,
                            const std::string& statistics);

/// Puts the stages and the metadata of that trace into one of the same run that holds the GPU's work.
void add_pipeline(const trace::Trace& stages, trace::Trace* trace);

}  // namespace hone::record
