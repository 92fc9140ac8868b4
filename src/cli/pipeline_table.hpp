// Prints the summary of a pipeline run: rates, stages, and the stage that limits the rate.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "task/pipeline_report.hpp"
#include "task/transfers.hpp"

namespace hone::cli {

/// `decoding` and `preprocessing` name the places where these stages ran, as in task::DetectOutcome.
void print_pipeline(const task::PipelineReport& report, const std::string& decoding,
                    const std::string& preprocessing, std::FILE* to);

/// Prints the copies between the host and the network's device, if there were any.
void print_transfers(const std::vector<task::TransferReport>& transfers, std::FILE* to);

}  // namespace hone::cli
