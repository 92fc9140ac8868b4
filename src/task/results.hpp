// Writes detections as text: JSON lines, COCO's results, or MOT.
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
  std::string name;   ///< name of the image's file; empty for frames of a video
  double seconds = 0;
  int64_t width = 0;
  int64_t height = 0;
  std::vector<Detection> detections;
};

enum class ResultFormat { kJsonLines, kCoco, kMot };

/// Parses "jsonl", "coco" or "mot"; usage error for other names.
ResultFormat parse_result_format(std::string_view name);
/// Chooses by the extension .jsonl, .json or .txt; usage error for others.
ResultFormat format_of_file(const std::string& file);

/// Produces the text of a file of results piece by piece.
///
/// JSON lines: one object per frame with frame (from 0), pts_ms, file (for images), width, height and
/// detections with class, name, score, box (x, y, width, height in pixels) and, with tracking, id. COCO: an
/// array of image_id, category_id, bbox and score. The id of an image is its file name if that is a number,
/// else the number of the frame. MOT: frame, id, left, top, width, height, score, -1, -1, -1; frames and
/// pixels count from 1.
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

/// Returns the image's file name as a number, as in COCO; `frame` if it is not a number.
int64_t image_id(const std::string& name, int64_t frame);

}  // namespace hone::task
