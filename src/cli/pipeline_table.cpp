// See pipeline_table.hpp.
#include "cli/pipeline_table.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace hone::cli {

void print_pipeline(const task::PipelineReport& report, const std::string& decoding,
                    const std::string& preprocessing, std::FILE* to) {
  const auto counted = [](int64_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  fmt::print(to, "{}, {}, {:.2f} s after {:.2f} s of start-up\n", counted(report.frames, "frame"),
             counted(report.detections, "detection"), report.wall_seconds, report.startup_seconds);
  fmt::print(
      to, "inference {:.1f} FPS ({} / mean time in the network)  end to end {:.1f} FPS (read to written)\n",
      report.inference_fps, report.streams == 1 ? "1" : fmt::format("{} streams", report.streams),
      report.end_to_end_fps);
  fmt::print(to, "  {:<12} {:>10} {:>10} {:>9} {:>7} {:>10} {:>11}\n", "stage", "median ms", "p95 ms", "FPS",
             "busy", "for input", "for output");
  for (const task::StageReport& stage : report.stages)
    fmt::print(to, "  {:<12} {:>10.3f} {:>10.3f} {:>9.1f} {:>5.0f} % {:>8.0f} % {:>9.0f} %\n", stage.name,
               stage.p50_ms, stage.p95_ms, stage.rate, 100 * stage.utilisation, 100 * stage.waits_input,
               100 * stage.waits_output);
  fmt::print(to, "frames were decoded {}\nframes were preprocessed {}\n", decoding, preprocessing);
  if (report.bound <= 0) return;
  fmt::print(to,
             "bounded by {}: {:.1f} FPS at most, reached {:.0f} % ({:.1f} ms of processor time a frame)\n",
             report.bounded_by == "processor" ? "the processor" : "the stage " + report.bounded_by,
             report.bound, 100 * report.end_to_end_fps / report.bound, 1000 * report.cpu_seconds_a_frame);
  if (!report.advice.empty()) fmt::print(to, "what would lift it: {}\n", report.advice);
}

void print_transfers(const std::vector<task::TransferReport>& transfers, std::FILE* to) {
  if (transfers.empty()) return;
  fmt::print(to, "  {:<16} {:<10} {:>16} {:>16}\n", "transfers", "", "copies a frame", "bytes a frame");
  for (const task::TransferReport& one : transfers) {
    std::string direction = one.direction;
    std::ranges::replace(direction, '_', ' ');
    fmt::print(
        to, "  {:<16} {:<10} {:>16} {:>16.0f}\n", one.what, direction,
        one.copies == 0 && one.bytes > 0 ? "with the frames" : fmt::format("{:.2f}", one.copies_a_frame),
        one.bytes_a_frame);
  }
}

}  // namespace hone::cli
