// Converts the stages of `hone detect` to a trace, with a thread and its ranges for each stage.
#pragma once

#include <string>
#include <vector>

#include "task/pipeline_report.hpp"
#include "trace/trace.hpp"

namespace hone::record {

/// Returns a trace of the stages; its clock is base::monotonic_ns(), like that of recorded programs.
/// `statistics` is the report as JSON text, which the page shows.
trace::Trace pipeline_trace(const std::vector<task::StageTimes>& stages, const task::PipelineReport& report,
                            const std::string& statistics);

/// Adds the stages and the metadata of that trace to a trace of the same run that contains the GPU's work.
void add_pipeline(const trace::Trace& stages, trace::Trace* trace);

}  // namespace hone::record
