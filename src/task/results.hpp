// Detections as text: JSON lines, COCO's results, MOT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/detection.hpp"

namespace hone::task {

/// The detections of one frame.
struct FrameResult {
  int64_t frame = 0;  ///< from 0
  std::string name;   ///< of the image's file; empty for frames of a video
  double seconds = 0;
  int64_t width = 0;
  int64_t height = 0;
  std::vector<Detection> detections;
};

enum class ResultFormat { kJsonLines, kCoco, kMot };

/// "jsonl", "coco" or "mot"; usage error otherwise.
ResultFormat parse_result_format(std::string_view name);
/// By the extension: .jsonl, .json, .txt; usage error for others.
ResultFormat format_of_file(const std::string& file);

/// The text of a file of results, piece by piece.
///
/// JSON lines: an object a frame with frame (from 0), pts_ms, file where there is one, width, height and
/// detections with class, name, score, box (x, y, width, height in pixels) and, where tracked, id.
/// COCO: an array of image_id, category_id, bbox and score. The id of an image is the number that its file's
/// name consists of, else the frame's number.
/// MOT: frame, id, left, top, width, height, score, -1, -1, -1, with frames and pixels from 1.
class ResultText {
 public:
  ResultText(ResultFormat format, std::vector<std::string> names)
      : format_(format), names_(std::move(names)) {}

  std::string of(const FrameResult& result);
  std::string end() const;

 private:
  std::string json_line(const FrameResult& result) const;
  std::string coco_entries(const FrameResult& result);

  ResultFormat format_;
  std::vector<std::string> names_;
  bool begun_ = false;
};

/// The number that an image's name consists of, as COCO's names do; else `frame`.
int64_t image_id(const std::string& name, int64_t frame);

}  // namespace hone::task
