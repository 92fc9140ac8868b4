// Reads ground truth from files: MOT's text format and COCO's JSON.
#include "task/ground_truth.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace hone::task {
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 30;
constexpr int64_t kNoClass = -1;

/// Parses numbers separated by commas or blanks; bad input for anything else.
std::vector<double> numbers_in(const std::string& line, int64_t number) {
  std::vector<double> values;
  const char* at = line.data();
  const char* const end = line.data() + line.size();
  const auto is_gap = [](char c) { return c == ',' || c == ' ' || c == '\t' || c == '\r'; };
  while (true) {
    while (at < end && is_gap(*at)) ++at;
    if (at == end) return values;
    double value = 0;
    const auto [stop, code] = std::from_chars(at, end, value);
    if (code != std::errc() || (stop < end && !is_gap(*stop)))
      fail_bad_input("line {} is no list of numbers", number);
    values.push_back(value);
    at = stop;
  }
}

void add_box(int64_t frame, const TrueBox& box, GroundTruth* truth) {
  std::vector<TrueBox>& boxes = truth->frames[frame];
  if (box.box.width() > 0 && box.box.height() > 0)
    boxes.push_back(box);
  else
    ++truth->empty_boxes;
}

void add_mot_line(const std::vector<double>& values, int64_t number, GroundTruth* truth) {
  constexpr size_t kFewest = 6;
  if (values.size() < kFewest) fail_bad_input("line {} has {} numbers, fewer than 6", number, values.size());
  const auto x = static_cast<float>(values[2] - 1);
  const auto y = static_cast<float>(values[3] - 1);
  TrueBox box;
  box.box = {x, y, x + static_cast<float>(values[4]), y + static_cast<float>(values[5])};
  if (!(values[0] >= 1) || values[0] > 1e12)
    fail_bad_input("line {} has the frame {}: frames count from 1", number, values[0]);
  box.ignored = values.size() > 6 && values[6] == 0;
  constexpr double kMostClasses = 1e6;
  if (values.size() > 7 && !(values[7] >= -1 && values[7] <= kMostClasses))
    fail_bad_input("line {} has the class {}", number, values[7]);
  box.label = values.size() > 7 ? static_cast<int64_t>(values[7]) : kNoClass;
  add_box(static_cast<int64_t>(values[0]) - 1, box, truth);
}

GroundTruth from_mot(const std::string& text) {
  GroundTruth truth;
  std::istringstream lines(text);
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<double> values = numbers_in(line, ++number);
    if (!values.empty()) add_mot_line(values, number, &truth);
  }
  int64_t lowest = INT64_MAX;
  for (const auto& [frame, boxes] : truth.frames)
    for (const TrueBox& box : boxes) lowest = std::min(lowest, box.label);
  if (truth.frames.empty()) fail_bad_input("it has no boxes");
  truth.one_class = lowest < 0;
  truth.assumed.emplace_back(truth.one_class ? "no classes: all detections count as of one"
                             : lowest == 0   ? "classes count from 0, since one of them is 0"
                                             : "classes count from 1, as in MOT");
  for (auto& [frame, boxes] : truth.frames)
    for (TrueBox& box : boxes) box.label = truth.one_class ? 0 : box.label - (lowest == 0 ? 0 : 1);
  return truth;
}

/// Returns the labels of the categories by their ids. Categories that the network does not know get new
/// labels.
std::map<int64_t, int64_t> labels_of(const std::map<int64_t, std::string>& categories,
                                     const std::vector<std::string>& names, GroundTruth* truth) {
  std::map<int64_t, int64_t> labels;
  std::vector<int64_t> unknown;
  for (const auto& [id, name] : categories) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      unknown.push_back(id);
    else
      labels[id] = found - names.begin();
  }
  const bool by_order = labels.empty();
  if (by_order)
    truth->assumed.emplace_back("its categories are the network's classes in the order of their ids");
  auto next = by_order ? 0 : static_cast<int64_t>(names.size());
  for (const int64_t id : unknown) {
    labels[id] = next;
    if (static_cast<size_t>(next) >= names.size() && !categories.at(id).empty())
      truth->names[next] = categories.at(id);
    ++next;
  }
  return labels;
}

GroundTruth from_coco(const std::string& text) {
  GroundTruth truth;
  truth.by_image_id = true;
  const Json json = Json::parse(text);
  for (const Json& category : json.at("categories"))
    truth.categories[category.at("id").get<int64_t>()] = category.value("name", std::string());
  for (const Json& image : json.value("images", Json::array()))
    if (image.contains("file_name"))
      truth.image_ids.add(image.at("file_name").get<std::string>(), image.at("id").get<int64_t>());
  for (const Json& annotation : json.at("annotations")) {
    const auto& box = annotation.at("bbox");
    TrueBox entry;
    const auto x = box.at(0).get<float>();
    const auto y = box.at(1).get<float>();
    entry.box = {x, y, x + box.at(2).get<float>(), y + box.at(3).get<float>()};
    entry.crowd = entry.ignored = annotation.value("iscrowd", int64_t{0}) != 0;
    entry.label = annotation.at("category_id").get<int64_t>();
    if (!truth.categories.contains(entry.label))
      fail_bad_input("an annotation has a category_id that no category has");
    add_box(annotation.at("image_id").get<int64_t>(), entry, &truth);
  }
  return truth;
}

GroundTruth parse(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  GroundTruth truth = json ? from_coco(text) : from_mot(text);
  if (truth.empty_boxes > 0)
    truth.assumed.push_back(
        fmt::format("{} without an area {} left out",
                    truth.empty_boxes == 1 ? "a box" : fmt::format("{} boxes", truth.empty_boxes),
                    truth.empty_boxes == 1 ? "was" : "were"));
  return truth;
}

}  // namespace

GroundTruth read_ground_truth(const std::filesystem::path& file) {
  const std::string text = base::read_file(file, kLargestFile);
  try {
    return parse(text);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::kBadInput, fmt::format("it is no ground truth in COCO's form: {}", error.what()),
                file.string());
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

void name_classes(const std::vector<std::string>& names, GroundTruth* truth) {
  if (truth->categories.empty()) return;
  const std::map<int64_t, int64_t> labels = labels_of(truth->categories, names, truth);
  for (auto& [frame, boxes] : truth->frames)
    for (TrueBox& box : boxes) box.label = labels.at(box.label);
}

}  // namespace hone::task
