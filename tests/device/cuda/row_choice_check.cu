// Checks of row_choice.hpp: lists of several images, of every layout of detectors, too short and empty ones.
#include "device/cuda/plugin/kernels/image/row_choice.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

RowChoice rows(int64_t boxes, int64_t numbers) {
  RowChoice rule;
  rule.image = boxes * numbers;
  rule.boxes = boxes;
  rule.numbers = numbers;
  rule.outer_stride = numbers;
  return rule;
}

/// YOLOv8: a number of all boxes after the other.
RowChoice columns(int64_t boxes, int64_t numbers) {
  RowChoice rule = rows(boxes, numbers);
  rule.outer_stride = 1;
  rule.number_stride = boxes;
  return rule;
}

/// darknet: planes of a number of one anchor.
RowChoice planes(int64_t anchors, int64_t cells, int64_t numbers) {
  RowChoice rule = rows(anchors * cells, numbers);
  rule.inner = cells;
  rule.outer_stride = cells * numbers;
  rule.inner_stride = 1;
  rule.number_stride = cells;
  return rule;
}

void check_rule(Family& family, RowChoice rule, FloatType type, float level, const std::string& what) {
  rule.level = level;
  const Values output(rule.image * rule.images, type);
  const int64_t words = choice::list_words(rule);
  DeviceBuffer lists(static_cast<size_t>(4 * words * rule.images));
  // What lay there before must not count.
  std::vector<int32_t> found(static_cast<size_t>(words * rule.images), 77);
  lists.upload(found.data());
  family.launched(choose_rows(rule, output.get(), type, static_cast<int32_t*>(lists.get()), {}), what);
  lists.download(found.data());
  for (int64_t image = 0; image < rule.images; ++image) {
    std::set<int64_t> wanted;
    for (int64_t box = 0; box < rule.boxes; ++box)
      for (int64_t i = 0; i < rule.gates; ++i)
        if (output[choice::first_of(rule, image, box) + (rule.first_gate + i) * rule.number_stride] > level)
          wanted.insert(box);
    const int32_t* list = found.data() + image * words;
    family.expect(list[0] == static_cast<int32_t>(wanted.size()), what + ": how many");
    const int64_t listed = std::min<int64_t>(list[0], rule.most);
    std::set<int64_t> seen;
    bool same = true;
    for (int64_t entry = 0; entry < listed; ++entry) {
      const int32_t* at = list + 1 + entry * (1 + rule.numbers);
      seen.insert(at[0]);
      same = same && wanted.count(at[0]) == 1;
      for (int64_t i = 0; same && i < rule.numbers; ++i) {
        float number = 0;
        std::memcpy(&number, at + 1 + i, sizeof(number));
        same = number == output[choice::first_of(rule, image, at[0]) + i * rule.number_stride];
      }
    }
    family.expect(same && static_cast<int64_t>(seen.size()) == listed, what + ": boxes and their numbers");
  }
}

}  // namespace

void check_row_choice() {
  Family family("row_choice");
  const std::pair<const char*, RowChoice> layouts[] = {{"rows", rows(1000, 7)},
                                                       {"columns", columns(777, 84)},
                                                       {"planes", planes(3, 13 * 13, 7)},
                                                       {"one box", rows(1, 6)}};
  for (const auto& [name, layout] : layouts)
    for (const FloatType type : kFloatTypes)
      for (const int64_t images : {1, 3})
        for (const float level : {-10.0f, 0.0f, 0.9f, 10.0f})
          for (const int64_t most : {int64_t{16}, layout.boxes}) {
            RowChoice rule = layout;
            rule.images = images;
            rule.most = most;
            rule.first_gate = 4;
            rule.gates = layout.numbers == 84 ? 80 : 1;
            check_rule(family, rule, type, level,
                       std::string(name) + " " + type_name(type) + ", " + std::to_string(images) +
                           " images, level " + std::to_string(level) + ", " + std::to_string(most) +
                           " listed");
          }
}

}  // namespace hone::device::cuda::check
