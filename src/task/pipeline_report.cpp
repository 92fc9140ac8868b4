// See pipeline_report.hpp.
#include "task/pipeline_report.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "base/statistics.hpp"

namespace hone::task {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAdvice{
    {{"decode",
      "an input of fewer pixels, or one that is easier to decode; FFmpeg decodes videos in threads of its "
      "own"},
     {"preprocess", "a network or an input of fewer pixels"},
     {"infer",
      "a lower --precision, a larger --batch, more --infStreams, a smaller network or --device cuda"},
     {"postprocess", "a higher --threshold, which leaves fewer boxes to sort"},
     {"draw", "a higher --threshold, which leaves fewer boxes to draw"},
     {"write", "a faster --preset, another --encoder, or no video in -o"},
     {"processor", "more cores, or less work: a lower --precision, a faster --preset, no video in -o"}}};

std::string_view advice_on(std::string_view name) {
  for (const auto& [stage, advice] : kAdvice)
    if (stage == name) return advice;
  return "";
}

/// `streams` are the streams of one stage.
StageReport report_of(std::span<const StageTimes> streams, double wall_seconds) {
  StageReport report;
  report.name = streams.front().name;
  std::vector<double> sorted;
  double waits_input = 0;
  double waits_output = 0;
  for (const StageTimes& times : streams) {
    sorted.insert(sorted.end(), times.busy_seconds.begin(), times.busy_seconds.end());
    waits_input += times.waits_input;
    waits_output += times.waits_output;
  }
  if (sorted.empty() || wall_seconds <= 0) return report;
  std::sort(sorted.begin(), sorted.end());
  const auto width = static_cast<double>(streams.size());
  const double all_seconds = wall_seconds * width;
  const double busy = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  constexpr double kMs = 1000;
  report.p50_ms = kMs * base::percentile_of_sorted(sorted, 0.5);
  report.p95_ms = kMs * base::percentile_of_sorted(sorted, 0.95);
  report.rate = busy > 0 ? width * static_cast<double>(sorted.size()) / busy : 0;
  report.utilisation = std::min(1.0, busy / all_seconds);
  report.waits_input = std::min(1.0, waits_input / all_seconds);
  report.waits_output = std::min(1.0, waits_output / all_seconds);
  return report;
}

}  // namespace

void judge_stages(const std::vector<StageTimes>& times, int cores, PipelineReport* report) {
  const std::span<const StageTimes> all(times);
  for (size_t first = 0, end = 0; first < all.size(); first = end) {
    while (end < all.size() && all[end].name == all[first].name) ++end;
    report->stages.push_back(report_of(all.subspan(first, end - first), report->wall_seconds));
  }
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
