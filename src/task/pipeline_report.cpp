// See pipeline_report.hpp.
#include "task/pipeline_report.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/statistics.hpp"

namespace hone::task {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAdvice{
    {{"decode", "an input of fewer pixels, or one that is easier to decode; its threads are FFmpeg's own"},
     {"preprocess", "a network or an input of fewer pixels"},
     {"infer", "a lower --precision, a larger --batch, a smaller network or --device cuda"},
     {"postprocess", "a higher --threshold, which leaves fewer boxes to sort"},
     {"draw", "a higher --threshold, which leaves fewer boxes to draw"},
     {"write", "a faster --preset, another --encoder, or no video in -o"},
     {"processor", "more cores, or less work: a lower --precision, a faster --preset, no video in -o"}}};

std::string_view advice_on(std::string_view name) {
  for (const auto& [stage, advice] : kAdvice)
    if (stage == name) return advice;
  return "";
}

StageReport report_of(const StageTimes& times, double wall_seconds) {
  StageReport report;
  report.name = times.name;
  if (times.busy_seconds.empty() || wall_seconds <= 0) return report;
  std::vector<double> sorted = times.busy_seconds;
  std::sort(sorted.begin(), sorted.end());
  const double busy = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  constexpr double kMs = 1000;
  report.p50_ms = kMs * base::percentile_of_sorted(sorted, 0.5);
  report.p95_ms = kMs * base::percentile_of_sorted(sorted, 0.95);
  report.rate = busy > 0 ? static_cast<double>(sorted.size()) / busy : 0;
  report.utilisation = std::min(1.0, busy / wall_seconds);
  report.waits_input = std::min(1.0, times.waits_input / wall_seconds);
  report.waits_output = std::min(1.0, times.waits_output / wall_seconds);
  return report;
}

}  // namespace

void judge_stages(const std::vector<StageTimes>& times, int cores, PipelineReport* report) {
  for (const StageTimes& stage : times) report->stages.push_back(report_of(stage, report->wall_seconds));
  if (report->wall_seconds > 0)
    report->end_to_end_fps = static_cast<double>(report->frames) / report->wall_seconds;
  if (report->cpu_seconds_a_frame > 0) report->processor_rate = cores / report->cpu_seconds_a_frame;
  report->bound = report->processor_rate;
  report->bounded_by = "processor";
  for (const StageReport& stage : report->stages) {
    if (stage.name == "infer") report->inference_fps = stage.rate;
    if (stage.rate <= 0 || (report->bound > 0 && stage.rate >= report->bound)) continue;
    report->bound = stage.rate;
    report->bounded_by = stage.name;
  }
  report->advice = advice_on(report->bounded_by);
}

}  // namespace hone::task
