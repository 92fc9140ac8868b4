// Formats the results of the analyses of a trace as tables.
#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.hpp"
#include "analysis/questions/kernel_metrics.hpp"
#include "analysis/questions/layer_threads.hpp"
#include "analysis/questions/layers.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// The name of a kernel: people see it without parameters and, if there is little room, without namespaces;
/// CSV contains the recorded name.
Cell kernel_cell(const std::string& recorded);

/// The name of a layer; a fused layer has the names of its parts.
Cell layer_cell(const std::string& name);

std::vector<Sheet> summary_sheets(const analysis::ActivitySummary& summary);
std::vector<Sheet> step_sheets(const analysis::StepBreakdown& steps);
std::vector<Sheet> layer_sheets(const analysis::LayerTable& table);
/// Empty if thread times were not recorded.
std::vector<Sheet> layer_thread_sheets(const analysis::LayerThreadTable& table);
std::vector<Sheet> gpu_sheets(const analysis::GpuUsage& usage);
/// Empty if nothing was measured.
std::vector<Sheet> metric_sheets(const analysis::KernelMetricTable& table);
std::vector<Sheet> operator_sheets(const analysis::OperatorTable& table);
std::vector<Sheet> transfer_sheets(const analysis::TransferAnalysis& transfers);
/// `origin` is the time from which times are counted.
std::vector<Sheet> memory_sheets(const analysis::MemoryTimeline& timeline, trace::Time origin);

/// One row for each advice, for CSV.
std::vector<Sheet> advice_sheets(const analysis::AdviceList& list);
/// The advice as sentences.
std::vector<std::string> advice_text(const analysis::AdviceList& list, trace::Time origin, size_t width);

/// The losses and doubts of the trace, worst first; a sentence if there are none.
std::vector<std::string> doubt_text(const std::vector<trace::Doubt>& doubts, size_t width);

}  // namespace hone::report
