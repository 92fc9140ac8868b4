// Writes detections as text: JSON lines, COCO's results, or MOT.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

/// COCO's ids of images, from the list of images in the ground truth if there is one.
class ImageIds {
 public:
  /// Adds an image of the list. Its file name may contain folders.
  void add(const std::string& file_name, int64_t id);
  /// Returns true if the list has names of files, but not this one.
  bool lacks(const std::string& file) const;
  /// Returns the id from the list, found by the longest common end of the paths. An image that is not in the
  /// list has the number that its name consists of, else the number of the frame; both are shifted past the
  /// ids of the list.
  int64_t of(const std::string& file, int64_t frame) const;

 private:
  std::optional<int64_t> find(const std::string& file) const;

  /// By each end of a path; nothing if several images share it.
  std::map<std::string, std::optional<int64_t>> ids_;
  int64_t largest_ = -1;
};

/// Produces the text of a file of results piece by piece.
///
/// JSON lines: one object per frame with frame (from 0), pts_ms, file (for images), width, height and
/// detections with class, name, score, box (x, y, width, height in pixels) and, with tracking, id. COCO: an
/// array of image_id, category_id, bbox and score, with the ids of ImageIds. MOT: frame, id, left, top,
/// width, height, score, -1, -1, -1; frames and pixels count from 1.
class ResultText {
 public:
  ResultText(ResultFormat format, std::vector<std::string> names, ImageIds ids = {})
      : format_(format), names_(std::move(names)), ids_(std::move(ids)) {}

  std::string of(const FrameResult& result);
  std::string end() const;

 private:
  std::string json_line(const FrameResult& result) const;
  std::string coco_entries(const FrameResult& result);

  ResultFormat format_;
  std::vector<std::string> names_;
  ImageIds ids_;
  bool begun_ = false;
};

}  // namespace hone::task
