// Detection from frames to results: read, preprocess, infer, postprocess, draw and write, each in a thread of
// its own, with short queues between them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "media/source.hpp"
#include "media/video.hpp"
#include "task/detector.hpp"
#include "task/ground_truth.hpp"
#include "task/pipeline_report.hpp"
#include "task/results.hpp"

namespace hone::task {

struct DetectRequest {
  DetectorOptions detector;
  std::string input;
  std::string video;  ///< an annotated video; empty: none
  media::WriteOptions encoding;
  bool keep_sound = true;
  std::optional<ResultFormat> format;
  /// Gets the text of the results in order; called by one thread of the pipeline.
  std::function<void(std::string_view)> results;
  /// Gets each frame with its detections drawn, in order; called by one thread of the pipeline, which waits
  /// for it.
  std::function<void(const media::Frame&)> show;
  std::string ground_truth;  ///< a file; empty: none
  bool track = false;
  bool realtime = false;  ///< frames come as they were recorded, and are dropped where the pipeline is behind
  /// Videos are decoded by the network's GPU where it can.
  bool decode_on_device = false;
  double timeout_seconds = 10;
  std::optional<int64_t> most_frames;  ///< reading ends after them
  bool timeline = false;               ///< keeps what each stage did when
  /// Called by the thread that called detect(), some times a second.
  std::function<void(const base::Progress&)> progress;
  /// Reading ends when it is set; what was read is finished and written. May be null.
  const std::atomic<bool>* stop = nullptr;
};

struct DetectOutcome {
  PipelineReport report;
  std::optional<Accuracy> accuracy;
  std::vector<StageTimes> timeline;  ///< of the stages in their order, where it was asked for
  std::vector<std::string> notes;    ///< what was assumed, and what a reader of the results must know
  /// Where frames were decoded, and why there if a GPU was asked: "on the CPU: frames are turned".
  std::string decoding;
  /// Where frames became the network's input, and why there: "on cuda", "on the CPU: frames are 4:2:2".
  std::string preprocessing;
  std::vector<std::string> losses;  ///< what is missing from the results, a sentence each
  bool stopped = false;
};

/// Bad input where no frame can be read. Output files are whole or not there.
DetectOutcome detect(const DetectRequest& request);

}  // namespace hone::task
