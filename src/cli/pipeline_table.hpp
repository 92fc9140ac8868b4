// The end of a run of the pipeline, for people: rates, stages, and what bounds them.
#pragma once

#include <cstdio>
#include <string>

#include "task/pipeline_report.hpp"

namespace hone::cli {

/// `decoding`, `preprocessing`: where, as task::DetectOutcome has them.
void print_pipeline(const task::PipelineReport& report, const std::string& decoding,
                    const std::string& preprocessing, std::FILE* to);

}  // namespace hone::cli
