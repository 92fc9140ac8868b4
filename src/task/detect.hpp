// The detection pipeline from frames to results: read, preprocess, infer, postprocess, draw and write. Each
// stage has its own thread, with short queues between the stages.
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
  std::string video;  ///< file for an annotated video; empty: none
  media::WriteOptions encoding;
  bool keep_sound = true;
  std::optional<ResultFormat> format;
  /// Receives the text of the results in order, from one thread of the pipeline.
  std::function<void(std::string_view)> results;
  /// Receives each frame with its detections drawn, in order, from one thread of the pipeline, which waits
  /// until it returns.
  std::function<void(const media::Frame&)> show;
  std::string ground_truth;  ///< a file of true boxes; empty: none
  bool track = false;
  bool realtime =
      false;  ///< read frames at the speed of the video, and drop those that the pipeline is too slow for
  /// Decode videos on the network's GPU if it can.
  bool decode_on_device = false;
  double timeout_seconds = 10;
  std::optional<int64_t> most_frames;  ///< reading ends after this number
  bool timeline = false;               ///< records when each stage worked
  /// Called from the thread that called detect(), a few times per second.
  std::function<void(const base::Progress&)> progress;
  /// If it becomes true, reading ends; frames that were read are still processed and written. May be null.
  const std::atomic<bool>* stop = nullptr;
};

struct DetectOutcome {
  PipelineReport report;
  std::optional<Accuracy> accuracy;
  std::vector<StageTimes> timeline;  ///< times of the stages in their order, if requested
  std::vector<std::string> notes;    ///< assumptions, and other facts that a reader of the results must know
  /// Where frames were decoded and, if a requested GPU did not do it, the reason: "on the CPU: frames are
  /// turned".
  std::string decoding;
  /// Where frames were preprocessed, and the reason: "on cuda", "on the CPU: frames are 4:2:2".
  std::string preprocessing;
  std::vector<std::string> losses;  ///< sentences about what is missing from the results
  bool stopped = false;
};

/// Bad input if no frame can be read. Output files are published only when complete.
DetectOutcome detect(const DetectRequest& request);

}  // namespace hone::task
