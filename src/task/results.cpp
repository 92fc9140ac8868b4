// See results.hpp.
#include "task/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.hpp"
#include "base/json.hpp"
#include "task/names.hpp"

namespace hone::task {
namespace {

/// Returns the text as a JSON string. Names come from files and may have any encoding.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string box_text(const Box& box) {
  return fmt::format("[{:.3f}, {:.3f}, {:.3f}, {:.3f}]", box.x1, box.y1, box.width(), box.height());
}

/// Returns the path, and what is left of it after each of its folders: a/b.png, b.png.
std::vector<std::string> path_ends(const std::string& path) {
  std::vector<std::string> ends{path};
  for (size_t at = path.find_first_of("/\\"); at != std::string::npos; at = path.find_first_of("/\\", at + 1))
    ends.push_back(path.substr(at + 1));
  return ends;
}

}  // namespace

ResultFormat parse_result_format(std::string_view name) {
  if (name == "jsonl") return ResultFormat::kJsonLines;
  if (name == "coco") return ResultFormat::kCoco;
  if (name == "mot") return ResultFormat::kMot;
  fail_usage("there is no format {}: jsonl, coco or mot", name);
}

ResultFormat format_of_file(const std::string& file) {
  if (file.ends_with(".jsonl")) return ResultFormat::kJsonLines;
  if (file.ends_with(".json")) return ResultFormat::kCoco;
  if (file.ends_with(".txt")) return ResultFormat::kMot;
  fail_usage(
      "{} ends neither as a video (.mp4, .mkv, .avi, .webm) nor as results (.jsonl, .json, .txt); with other "
      "endings --format names the form of results, and pictures are not written",
      file);
}

void ImageIds::add(const std::string& file_name, int64_t id) {
  largest_ = std::max(largest_, id);
  for (const std::string& end : path_ends(file_name)) {
    const auto [place, is_new] = ids_.emplace(end, id);
    if (!is_new && place->second != id) place->second = std::nullopt;
  }
}

std::optional<int64_t> ImageIds::find(const std::string& file) const {
  for (const std::string& end : path_ends(file))
    if (const auto found = ids_.find(end); found != ids_.end()) return found->second;
  return std::nullopt;
}

bool ImageIds::lacks(const std::string& file) const {
  return !ids_.empty() && !file.empty() && !find(file).has_value();
}

int64_t ImageIds::of(const std::string& file, int64_t frame) const {
  if (const auto listed = find(file)) return *listed;
  const std::string stem = std::filesystem::path(file).stem().string();
  int64_t number = 0;
  const auto [end, code] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  const bool whole = !stem.empty() && code == std::errc() && end == stem.data() + stem.size();
  return (lacks(file) ? largest_ + 1 : 0) + (whole ? number : frame);
}

std::string ResultText::json_line(const FrameResult& result) const {
  std::string text = fmt::format(R"({{"frame": {}, "pts_ms": {:.3f}, )", result.frame, 1000 * result.seconds);
  if (!result.name.empty()) text += fmt::format(R"("file": {}, )", quoted(result.name));
  text += fmt::format(R"("width": {}, "height": {}, "detections": [)", result.width, result.height);
  for (size_t i = 0; i < result.detections.size(); ++i) {
    const Detection& found = result.detections[i];
    text += fmt::format(R"({}{{"class": {}, "name": {}, "score": {:.6f}, "box": {})", i == 0 ? "" : ", ",
                        found.label, quoted(name_of(names_, found.label)), found.score, box_text(found.box));
    text += found.track >= 0 ? fmt::format(R"(, "id": {}}})", found.track) : "}";
  }
  return text + "]}\n";
}

std::string ResultText::coco_entries(const FrameResult& result) {
  std::string text;
  for (const Detection& found : result.detections) {
    text += fmt::format(R"({}{{"image_id": {}, "category_id": {}, "bbox": {}, "score": {:.6f}}})",
                        begun_ ? ",\n" : "[\n", ids_.of(result.name, result.frame),
                        coco_category(names_, found.label), box_text(found.box), found.score);
    begun_ = true;
  }
  return text;
}

std::string ResultText::of(const FrameResult& result) {
  if (format_ == ResultFormat::kJsonLines) return json_line(result);
  if (format_ == ResultFormat::kCoco) return coco_entries(result);
  std::string text;
  for (const Detection& found : result.detections)
    text +=
        fmt::format("{},{},{:.2f},{:.2f},{:.2f},{:.2f},{:.6f},-1,-1,-1\n", result.frame + 1, found.track,
                    found.box.x1 + 1, found.box.y1 + 1, found.box.width(), found.box.height(), found.score);
  return text;
}

std::string ResultText::end() const {
  if (format_ != ResultFormat::kCoco) return "";
  return begun_ ? "\n]\n" : "[]\n";
}

}  // namespace hone::task
