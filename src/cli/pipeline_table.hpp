// The end of a run of the pipeline, for people: rates, stages, and what bounds them.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "task/pipeline_report.hpp"
#include "task/transfers.hpp"

namespace hone::cli {

/// `decoding`, `preprocessing`: where, as task::DetectOutcome has them.
void print_pipeline(const task::PipelineReport& report, const std::string& decoding,
                    const std::string& preprocessing, std::FILE* to);

/// Prints the copies between the host and the network's device, if there were any.
void print_transfers(const std::vector<task::TransferReport>& transfers, std::FILE* to);

}  // namespace hone::cli
