// Times of the stages of a pipeline run, and the stage that limits the rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/described.hpp"
#include "task/transfers.hpp"

namespace hone::task {

inline constexpr std::string_view kPipelineSchema = "hone.pipeline";
inline constexpr int kPipelineVersion = 1;
/// Name of the entry in a trace's metadata that holds a report.
inline constexpr const char* kPipelineEntry = "pipeline";
/// The schema of a table with one row for each backend.
inline constexpr std::string_view kPipelinesSchema = "hone.pipelines";

/// Summary of one stage of a run. Times are per frame; the time of a batch is divided among its frames.
struct StageReport {
  std::string name;
  double p50_ms = 0;
  double p95_ms = 0;
  double rate = 0;         ///< frames per second of all its streams together, without waiting
  double utilisation = 0;  ///< share of the time in which it worked
  double waits_input = 0;  ///< share of the time in which it waited for the previous stage
  double waits_output = 0;
};

struct PipelineReport {
  std::string model;
  std::string backend;
  std::string device;  ///< empty: the device of the engine
  std::string precision;
  std::string input;        ///< the name of the input
  int64_t input_width = 0;  ///< of the network's input
  int64_t input_height = 0;
  int64_t batch = 1;
  int64_t streams = 1;  ///< contexts of the network that run concurrently
  int64_t frames = 0;
  int64_t dropped = 0;  ///< by --realtime, because the pipeline was too slow
  int64_t damaged = 0;  ///< packets or images that could not be decoded
  int64_t corrupt = 0;  ///< frames that were delivered with missing parts
  int64_t skipped = 0;  ///< packets that gave no frame
  int64_t missing = 0;  ///< missing frames, according to the times of others
  int64_t detections = 0;
  double startup_seconds = 0;  ///< loading and building the network, and its first run
  double wall_seconds = 0;     ///< from the first read to the last write, without startup_seconds
  double end_to_end_fps = 0;   ///< frames / wall_seconds
  double inference_fps = 0;    ///< streams / mean time of a frame in the network
  double cpu_seconds_a_frame = 0;
  double processor_rate = 0;  ///< cores / cpu_seconds_a_frame: frames per second if no core were ever idle
  double bound = 0;           ///< the smaller of processor_rate and the rate of the slowest stage
  std::string bounded_by;     ///< the stage's name, or "processor"
  std::string advice;         ///< how to raise the bound
  std::vector<StageReport> stages;
  std::vector<TransferReport> transfers;  ///< copies between the host and the network's device
};

/// One piece of work of a stage on consecutive frames; times are those of base::monotonic_ns(), in ns.
struct StageSpan {
  int64_t frame = 0;
  int64_t frames = 1;
  int64_t start = 0;
  int64_t end = 0;
};

/// The activity of a stage, or of one of its streams. Only the thread that works writes it.
struct StageTimes {
  std::string name;
  std::vector<double> busy_seconds;  ///< for each frame
  double waits_input = 0;
  double waits_output = 0;
  bool keeps_spans = false;
  std::vector<StageSpan> spans;  ///< if spans are recorded
  int64_t thread = 0;            ///< thread id of the operating system
};

/// Computes rates, utilisation and the bound from the times and from `report->frames`, wall_seconds and
/// cpu_seconds_a_frame. Consecutive times with equal names are the streams of one stage. `cores` is the
/// number that this process may use.
void judge_stages(const std::vector<StageTimes>& times, int cores, PipelineReport* report);

}  // namespace hone::task

namespace hone::base {

template <>
struct Description<task::StageReport> {
  using T = task::StageReport;
  static constexpr std::string_view kName = "PipelineStage";
  static constexpr auto kFields = std::tuple{
      Field{"name", &T::name, "Stage of the pipeline"},
      Field{"p50_ms", &T::p50_ms, "Median time of a frame", unit::kMs, origin::kMeasured},
      Field{"p95_ms", &T::p95_ms, "Time that 95 % of frames do not exceed", unit::kMs, origin::kMeasured},
      Field{"rate", &T::rate, "Frames a second if it had never waited", unit::kPerSecond, origin::kEstimated},
      Field{"utilisation", &T::utilisation, "Share of the time in which it worked", unit::kShare,
            origin::kMeasured},
      Field{"waits_input", &T::waits_input, "Share of the time in which it waited for the stage before",
            unit::kShare, origin::kMeasured},
      Field{"waits_output", &T::waits_output, "Share of the time in which it waited for the stage after",
            unit::kShare, origin::kMeasured}};
};

template <>
struct Description<task::PipelineReport> {
  using T = task::PipelineReport;
  static constexpr std::string_view kName = "Pipeline";
  static constexpr auto kFields = std::tuple{
      Field{"schema", [](const T&) { return task::kPipelineSchema; }, "hone.pipeline"},
      Field{"version", [](const T&) { return task::kPipelineVersion; }, "Of the schema"},
      Field{"model", &T::model, "What was run"},
      Field{"backend", &T::backend, "The system that ran it"},
      Field{"device", &T::device, "Where; empty: where the engine was built for"},
      Field{"precision", &T::precision, "Precision of the run"},
      Field{"input", &T::input, "What was read"},
      Field{"input_width", &T::input_width, "Width of the network's input", unit::kCount},
      Field{"input_height", &T::input_height, "Height of the network's input", unit::kCount},
      Field{"batch", &T::batch, "Frames that go through the network together", unit::kCount},
      later(Field{"streams", &T::streams, "Contexts of the network that run side by side", unit::kCount}),
      Field{"frames", &T::frames, "Frames that came out", unit::kCount},
      Field{"dropped", &T::dropped, "Frames dropped because the pipeline was behind", unit::kCount},
      Field{"damaged", &T::damaged, "Packets or images that could not be decoded", unit::kCount},
      Field{"corrupt", &T::corrupt, "Frames delivered with parts missing", unit::kCount},
      Field{"skipped", &T::skipped, "Packets that gave no frame", unit::kCount},
      Field{"missing", &T::missing, "Frames missing by the times of others, where something is damaged",
            unit::kCount},
      Field{"detections", &T::detections, "Detections in all frames", unit::kCount},
      Field{"startup_seconds", &T::startup_seconds, "Loading, building and the network's first run",
            unit::kSeconds, origin::kMeasured},
      Field{"wall_seconds", &T::wall_seconds, "From the first read to the last write", unit::kSeconds,
            origin::kMeasured},
      Field{"end_to_end_fps", &T::end_to_end_fps, "frames / wall_seconds", unit::kPerSecond,
            origin::kMeasured},
      Field{"inference_fps", &T::inference_fps, "streams / mean time of a frame in the network",
            unit::kPerSecond, origin::kMeasured},
      Field{"cpu_seconds_a_frame", &T::cpu_seconds_a_frame, "Processor time of a frame, all threads",
            unit::kSeconds, origin::kMeasured},
      Field{"processor_rate", &T::processor_rate, "Frames a second if no core ever idled", unit::kPerSecond,
            origin::kEstimated},
      Field{"bound", &T::bound, "The smaller of processor_rate and the slowest stage's rate",
            unit::kPerSecond, origin::kEstimated},
      Field{"bounded_by", &T::bounded_by, "The bound of the pipeline"},
      Field{"advice", &T::advice, "What would lift the bound"},
      Field{"stages", &T::stages, "The stages in their order"},
      later(Field{"transfers", &T::transfers, "Copies between the host and the network's device"})};
};

}  // namespace hone::base
