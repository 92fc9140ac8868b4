// The results of the analyses of a trace as tables.
#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.hpp"
#include "analysis/questions/kernel_metrics.hpp"
#include "analysis/questions/layer_threads.hpp"
#include "analysis/questions/layers.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::report {

/// The name of a kernel: people see it without parameters, and without namespaces where there is little room;
/// CSV has it as it was recorded.
Cell kernel_cell(const std::string& recorded);

/// The name of a layer; one that was fused is named after what it was made of.
Cell layer_cell(const std::string& name);

std::vector<Sheet> summary_sheets(const analysis::ActivitySummary& summary);
std::vector<Sheet> step_sheets(const analysis::StepBreakdown& steps);
std::vector<Sheet> layer_sheets(const analysis::LayerTable& table);
/// None where no threads were counted.
std::vector<Sheet> layer_thread_sheets(const analysis::LayerThreadTable& table);
std::vector<Sheet> gpu_sheets(const analysis::GpuUsage& usage);
/// None where nothing was measured.
std::vector<Sheet> metric_sheets(const analysis::KernelMetricTable& table);
std::vector<Sheet> operator_sheets(const analysis::OperatorTable& table);
std::vector<Sheet> transfer_sheets(const analysis::TransferAnalysis& transfers);
/// `origin`: the time that places are counted from.
std::vector<Sheet> memory_sheets(const analysis::MemoryTimeline& timeline, trace::Time origin);

/// One row for every advice; for CSV.
std::vector<Sheet> advice_sheets(const analysis::AdviceList& list);
/// The advice in sentences.
std::vector<std::string> advice_text(const analysis::AdviceList& list, trace::Time origin, size_t width);

/// The losses and doubts of the trace, worst first; a sentence when there are none.
std::vector<std::string> doubt_text(const std::vector<trace::Doubt>& doubts, size_t width);

}  // namespace hone::report
