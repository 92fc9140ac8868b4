// The end of a run of the pipeline, for people: rates, stages, and what bounds them.
#pragma once

#include <cstdio>

#include "task/pipeline_report.hpp"

namespace hone::cli {

void print_pipeline(const task::PipelineReport& report, std::FILE* to);

}  // namespace hone::cli
