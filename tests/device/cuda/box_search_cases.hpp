// Heads of detectors with numbers of every kind, and what is found in them by plain loops: for the check of
// the kernels on a GPU and for the emulator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/box_rule.hpp"

namespace hone::device::cuda {

struct BoxSearchCase {
  std::string name;
  std::vector<engine::BoxHead> heads;  ///< without anchors
  std::vector<float> anchors;          ///< of every head
  engine::BoxSelection selection;
  int64_t images = 1;

  int64_t numbers(size_t head) const { return images * heads[head].rows.image; }
  uint32_t answers(size_t head) const {
    const engine::BoxHead& one = heads[head];
    return static_cast<uint32_t>(one.rows.boxes * (one.all_classes ? one.classes : 1));
  }
};

/// Sixteenths from -1 to 1.5, so that scores are equal here and there, and every type holds them.
inline std::vector<double> box_numbers(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& number : numbers) number = static_cast<double>(generator() % 41) / 16 - 1;
  return numbers;
}

inline engine::BoxPlace box_place_of(int64_t image) {
  engine::BoxPlace place;
  place.x_factor = image == 0 ? 1.0f : 3.5f;
  place.y_factor = image == 0 ? 1.0f : 2.25f;
  place.image_width = 200;
  place.image_height = 130 + static_cast<float>(image);
  place.x_shift = 0.5 * static_cast<double>(image);
  place.y_scale = 0.64;
  return place;
}

inline engine::BoxHead box_rows(int64_t boxes, int64_t numbers, int64_t classes, float threshold) {
  engine::BoxHead head;
  head.threshold = threshold;
  head.classes = classes;
  head.first_class = numbers - classes;
  head.object = head.first_class == 5 ? 4 : -1;
  head.input_width = 64;
  head.input_height = 32;
  head.rows.image = boxes * numbers;
  head.rows.boxes = boxes;
  head.rows.numbers = numbers;
  head.rows.outer_stride = numbers;
  head.rows.first_gate = 4;
  head.rows.gates = head.object >= 0 ? 1 : classes;
  head.rows.level = threshold;
  return head;
}

/// A number of all boxes after the other.
inline engine::BoxHead box_columns(int64_t boxes, int64_t numbers, int64_t classes, float threshold) {
  engine::BoxHead head = box_rows(boxes, numbers, classes, threshold);
  head.first_class = 4;
  head.object = -1;
  head.rows.gates = classes;
  head.rows.outer_stride = 1;
  head.rows.number_stride = boxes;
  return head;
}

/// Planes of a number of one anchor.
inline engine::BoxHead box_planes(int32_t anchors, int32_t columns, int32_t lines, int64_t classes,
                                  float threshold, bool uncertain) {
  const int64_t numbers = (uncertain ? 9 : 5) + classes;
  const int64_t plane = int64_t{columns} * lines;
  engine::BoxHead head = box_rows(anchors * plane, numbers, classes, threshold);
  head.form = engine::BoxForm::kDarknet;
  head.all_classes = true;
  head.uncertain = uncertain;
  head.object = uncertain ? 8 : 4;
  head.columns = columns;
  head.lines = lines;
  head.anchor_count = anchors;
  head.rows.first_gate = head.object;
  head.rows.gates = 1;
  head.rows.inner = plane;
  head.rows.outer_stride = numbers * plane;
  head.rows.inner_stride = 1;
  head.rows.number_stride = plane;
  return head;
}

inline std::vector<BoxSearchCase> box_search_cases() {
  const engine::BoxSelection plain{.overlap = 0.45f, .most = 300, .clips = true};
  const engine::BoxSelection by_distance{
      .overlap = 0.3f, .by_distance = true, .distance_power = 0.6f, .most = 20};
  const std::vector<float> anchors{1, 2, 3, 1.5f, 2, 2};
  std::vector<BoxSearchCase> cases;
  cases.push_back({"rows", {box_rows(126, 8, 3, 0.5f)}, {}, plain, 3});
  cases.push_back({"columns", {box_columns(777, 84, 80, 1.4f)}, {}, plain, 2});
  engine::BoxHead turned = box_columns(100, 8, 3, 0.7f);
  turned.angle = 7;
  cases.push_back({"turned", {turned}, {}, plain, 1});
  engine::BoxHead cells = box_rows(43, 8, 3, 0.1f);
  cells.form = engine::BoxForm::kCells;
  cases.push_back({"cells, one box without any", {cells}, {}, plain, 2});
  engine::BoxHead fine = box_rows(3 * 4 * 8, 7, 2, 0.4f);
  fine.form = engine::BoxForm::kLogits;
  fine.columns = 8;
  fine.lines = 4;
  fine.anchor_count = 3;
  fine.rows.level = -0.5f;
  engine::BoxHead coarse = fine;
  coarse.columns = 4;
  coarse.lines = 2;
  coarse.rows.boxes = 3 * 4 * 2;
  coarse.rows.image = coarse.rows.boxes * coarse.rows.numbers;
  cases.push_back({"logits", {fine, coarse}, anchors, plain, 2});
  cases.push_back({"darknet",
                   {box_planes(3, 8, 4, 2, 0.3f, false), box_planes(2, 4, 2, 2, 0.3f, false)},
                   anchors,
                   by_distance,
                   3});
  engine::BoxHead certain = box_planes(2, 5, 3, 4, 0.05f, true);
  certain.squares = true;
  certain.anchors_in_cells = true;
  certain.point = engine::BoxPoint::kRightBottom;
  cases.push_back({"darknet with uncertainty", {certain}, anchors, plain, 1});
  cases.push_back({"nothing above the threshold", {box_rows(126, 8, 3, 9.0f)}, {}, plain, 2});
  // One box more than a block has threads, more than half of all places, all of them, and one too many.
  engine::BoxSelection all = plain;
  all.most = engine::BoxCandidates::kMost;
  for (const int64_t count : {int64_t{1025}, int64_t{2500}, engine::BoxCandidates::kMost}) {
    all.overlap = count == 1025 ? 0.95f : 0.45f;
    cases.push_back({std::to_string(count) + " candidates", {box_rows(count, 6, 2, 0)}, {}, all, 1});
  }
  cases.push_back({"too many", {box_rows(engine::BoxCandidates::kMost + 1, 6, 2, 0)}, {}, plain, 1});
  return cases;
}

/// Raises the scores of cases in which every box is a candidate.
inline void raise_scores(const BoxSearchCase& one, std::vector<double>* numbers) {
  if (one.heads[0].threshold != 0) return;
  for (size_t i = 0; i < numbers->size(); ++i)
    if (i % 6 >= 4) (*numbers)[i] += 1.0625;
}

struct ListedBox {
  engine::FoundBox found;
  uint32_t order = 0;
};

/// The boxes of an image; `too_many` where they are more than fit. `outputs`: of each head.
inline std::vector<engine::FoundBox> expected_boxes(const BoxSearchCase& one,
                                                    const std::vector<std::vector<float>>& outputs,
                                                    int64_t image, bool* too_many) {
  std::vector<ListedBox> listed;
  const engine::BoxPlace place = box_place_of(image);
  uint32_t first = 0;
  for (size_t h = 0; h < one.heads.size(); ++h) {
    engine::BoxHead head = one.heads[h];
    head.anchors = one.anchors.data();
    for (int64_t index = 0; index < head.rows.boxes; ++index) {
      const float* const at = outputs[h].data() + image * head.rows.image + head.rows.at(index);
      const engine::BoxNumbers<float> numbers{at, head.rows.number_stride};
      const int64_t answers = engine::box::answer_count(head, numbers);
      for (int64_t answer = 0; answer < answers; ++answer) {
        engine::FoundBox found = engine::box::answer_of(head, index, numbers, answer);
        if (found.label < 0) continue;
        found.box = engine::box::placed(place, found.box);
        listed.push_back({found, first + static_cast<uint32_t>(index * answers + answer)});
      }
    }
    first += one.answers(h);
  }
  *too_many = static_cast<int64_t>(listed.size()) > engine::BoxCandidates::kMost;
  std::stable_sort(listed.begin(), listed.end(),
                   [](const ListedBox& a, const ListedBox& b) { return a.found.score > b.found.score; });
  std::vector<engine::FoundBox> stay;
  for (const ListedBox& next : listed) {
    bool covered = false;
    for (const engine::FoundBox& rival : stay)
      covered = covered || (rival.label == next.found.label &&
                            engine::box::overlap_of(one.selection, place, rival.box, next.found.box) >
                                one.selection.overlap);
    if (!covered && static_cast<int64_t>(stay.size()) < one.selection.most) stay.push_back(next.found);
  }
  for (engine::FoundBox& found : stay)
    if (one.selection.clips) found.box = engine::box::clipped(place, found.box);
  return stay;
}

/// Whether two numbers are the same but for a rounding of the last bit, which a library of functions may do
/// otherwise.
inline bool is_nearly(float a, float b) { return std::abs(a - b) <= 2.4e-7f * std::max(1e-30f, std::abs(b)); }

inline bool is_nearly(const engine::FoundBox& a, const engine::FoundBox& b) {
  return a.label == b.label && is_nearly(a.score, b.score) && is_nearly(a.box.x1, b.box.x1) &&
         is_nearly(a.box.y1, b.box.y1) && is_nearly(a.box.x2, b.box.x2) && is_nearly(a.box.y2, b.box.y2);
}

}  // namespace hone::device::cuda
