// Heads of darknet's networks, as their metadata describe them (docs/DARKNET.md): yolo, Gaussian_yolo and
// region sections, and YOLOv1's detection section. The rules are those of AlexeyAB's darknet.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

/// Entries of the metadata, with defaults for those that are absent.
class Entries {
 public:
  Entries(const importer::Metadata& metadata, std::string prefix)
      : metadata_(metadata), prefix_(std::move(prefix)) {}

  std::string text(const char* key, const char* otherwise) const {
    const auto found = metadata_.find(prefix_ + key);
    return found == metadata_.end() ? otherwise : found->second;
  }
  template <class T>
  T number(const char* key, T otherwise) const {
    const auto found = metadata_.find(prefix_ + key);
    if (found == metadata_.end()) return otherwise;
    const std::vector<T> values = read<T>(found->first, found->second);
    if (values.size() != 1) refuse(found->first, found->second);
    return values[0];
  }
  std::vector<float> list(const char* key) const {
    const auto found = metadata_.find(prefix_ + key);
    return found == metadata_.end() ? std::vector<float>() : read<float>(found->first, found->second);
  }

 private:
  [[noreturn]] static void refuse(const std::string& key, const std::string& value) {
    fail_bad_input("the model's metadata entry '{}' is '{}', which is not what it should be", key, value);
  }
  template <class T>
  static std::vector<T> read(const std::string& key, const std::string& text) {
    std::vector<T> values;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (at < end) {
      T value{};
      const auto [stop, code] = std::from_chars(at, end, value);
      if (code != std::errc() || (stop < end && *stop != ',')) refuse(key, text);
      values.push_back(value);
      at = stop < end ? stop + 1 : stop;
    }
    return values;
  }

  const importer::Metadata& metadata_;
  std::string prefix_;
};

struct Head {
  std::string output;
  std::string kind;
  int64_t classes = 0;
  int64_t boxes = 0;  ///< of a cell
  int64_t coords = 4;
  int64_t columns = 0;
  int64_t rows = 0;
  std::vector<float> anchors;
  bool new_coords = false;
  bool squared = false;
  std::string point;  ///< of Gaussian_yolo: what of the box x and y are
};

Head head_of(const importer::Metadata& metadata, int64_t index) {
  const Entries entries(metadata, fmt::format("darknet.head.{}.", index));
  Head head;
  head.output = entries.text("output", "");
  head.kind = entries.text("kind", "");
  head.classes = entries.number<int64_t>("classes", 0);
  head.boxes = entries.number<int64_t>("num", 0);
  head.coords = entries.number<int64_t>("coords", 4);
  head.columns = entries.number<int64_t>("columns", 0);
  head.rows = entries.number<int64_t>("rows", 0);
  head.anchors = entries.list("anchors");
  head.new_coords = entries.number<int64_t>("new_coords", 0) != 0;
  head.squared = entries.number<int64_t>("sqrt", 0) != 0;
  head.point = entries.text("yolo_point", "center");
  return head;
}

std::vector<Head> heads_of(const importer::Metadata& metadata) {
  constexpr int64_t kMostHeads = 1000;
  const int64_t count = Entries(metadata, "darknet.").number<int64_t>("heads", 0);
  std::vector<Head> heads;
  for (int64_t i = 0; i < std::min(count, kMostHeads); ++i) heads.push_back(head_of(metadata, i));
  return heads;
}

bool is_grid(const Head& head) { return head.kind == "detection"; }

/// Numbers of one box of a cell.
int64_t entries_of(const Head& head) {
  if (head.kind == "gaussian_yolo") return 9 + head.classes;
  return head.coords + 1 + head.classes;
}

int64_t numbers_of(const tensor::Shape& part) {
  int64_t numbers = 1;
  for (const int64_t side : part) numbers = base::checked_mul(numbers, side);
  return numbers;
}

/// The part of the output that belongs to an image. Bad input for sizes that no memory holds.
tensor::Shape part_of(const Head& head) {
  if (!is_grid(head)) return {base::checked_mul(head.boxes, entries_of(head)), head.rows, head.columns};
  constexpr int64_t kBoxNumbers = 5;
  const int64_t cell = head.classes + head.boxes * kBoxNumbers;
  return {numbers_of({head.rows, head.columns, cell}), 1, 1};
}

/// Bad input where the head says something else than its output's shape.
void check_head(const Head& head, const OutputInfo& output) {
  const tensor::Shape& shape = output.shape;
  constexpr int64_t kMost = 1 << 20;
  const bool sound = head.classes > 0 && head.boxes > 0 && head.columns > 0 && head.rows > 0 &&
                     head.coords >= 4 && head.classes < kMost && head.boxes < kMost && head.columns < kMost &&
                     head.rows < kMost && head.coords < kMost;
  if (!sound) fail_bad_input("the metadata of the head {} have no sizes", head.output);
  const int64_t numbers = numbers_of(part_of(head));
  const int64_t have = shape.empty() ? 0 : numbers_of({shape.begin() + 1, shape.end()});
  if (have != numbers)
    fail_bad_input("the output {} has {} numbers an image, its head's metadata tell {}", head.output, have,
                   numbers);
  if (!is_grid(head) && head.anchors.size() != static_cast<size_t>(2 * head.boxes))
    fail_bad_input("the head {} has {} anchors for {} boxes", head.output, head.anchors.size() / 2,
                   head.boxes);
}

std::optional<Match> match_heads(const Signature& signature, bool grid) {
  Match match;
  for (const Head& head : heads_of(signature.metadata)) {
    if (is_grid(head) != grid) return std::nullopt;
    const auto output =
        output_where(signature, {}, [&](const OutputInfo& info) { return info.name == head.output; });
    if (!output) fail_bad_input("the metadata name the head {}, which is no output", head.output);
    check_head(head, signature.outputs[*output]);
    match.roles.push_back({*output, part_of(head)});
    match.classes = head.classes;
  }
  if (match.roles.empty()) return std::nullopt;
  const bool letterbox = Entries(signature.metadata, "darknet.").number<int64_t>("letter_box", 0) != 0;
  match.fit = letterbox ? Fit::kDarknet : Fit::kStretch;
  return match;
}

std::optional<Match> match_darknet(const Signature& signature, bool /*forced*/) {
  return match_heads(signature, false);
}

std::optional<Match> match_darknet_grid(const Signature& signature, bool /*forced*/) {
  return match_heads(signature, true);
}

/// A box of a head's cell.
struct Cell {
  BoxNumbers numbers;
  int64_t column;
  int64_t row;

  float at(int64_t entry) const { return numbers[entry]; }
};

float side_of(const Head& head, float value, float anchor) {
  return head.new_coords ? 4 * value * value * anchor : std::exp(value) * anchor;
}

/// Relative to the input. Numbers of Gaussian_yolo are each followed by their uncertainty.
Box box_of(const Head& head, const Cell& cell, int64_t anchor, const Signature& signature) {
  const int64_t step = head.kind == "gaussian_yolo" ? 2 : 1;
  const bool in_cells = head.kind == "region";
  const auto columns = static_cast<float>(head.columns);
  const auto rows = static_cast<float>(head.rows);
  const float* sides = head.anchors.data() + 2 * anchor;
  const float width = side_of(head, cell.at(2 * step), sides[0]) /
                      (in_cells ? columns : static_cast<float>(signature.input_width));
  const float height = side_of(head, cell.at(3 * step), sides[1]) /
                       (in_cells ? rows : static_cast<float>(signature.input_height));
  const float x = (static_cast<float>(cell.column) + cell.at(0)) / columns;
  const float y = (static_cast<float>(cell.row) + cell.at(step)) / rows;
  if (head.point == "left_top") return {x, y, x + width, y + height};
  if (head.point == "right_bottom") return {x - width, y - height, x, y};
  return from_centre(x, y, width, height);
}

/// Which of a box's numbers says whether there is an object.
int64_t object_of(const Head& head) { return head.kind == "gaussian_yolo" ? 8 : head.coords; }

/// Numbers of a box lie a plane apart.
engine::RowRule rule_of_head(const Head& head, float threshold) {
  engine::RowRule rule;
  const int64_t plane = head.rows * head.columns;
  rule.boxes = head.boxes * plane;
  rule.numbers = entries_of(head);
  rule.image = rule.boxes * rule.numbers;
  rule.inner = plane;
  rule.outer_stride = rule.numbers * plane;
  rule.inner_stride = 1;
  rule.number_stride = plane;
  rule.first_gate = object_of(head);
  rule.level = threshold;
  return rule;
}

engine::RowRule rule_of_darknet(const DecodeForm& form, size_t role, const tensor::Shape& /*part*/) {
  return rule_of_head(head_of(form.signature.metadata, static_cast<int64_t>(role)), form.threshold);
}

/// A detection for every class whose probability is above the threshold, as darknet prints them.
void decode_cell(const Head& head, const Cell& cell, int64_t anchor, const DecodeCall& call,
                 std::vector<Detection>* found) {
  const bool gaussian = head.kind == "gaussian_yolo";
  const int64_t before = object_of(head);
  const float object = cell.at(before);
  if (!(object > call.threshold)) return;
  const float certainty = gaussian ? 1 - (cell.at(1) + cell.at(3) + cell.at(5) + cell.at(7)) / 4 : 1;
  const Box box = box_of(head, cell, anchor, call.signature);
  for (int64_t c = 0; c < head.classes; ++c)
    add_above(call.threshold, box, {c, object * cell.at(before + 1 + c) * certainty}, found);
}

void decode_darknet(const DecodeCall& call, std::vector<Detection>* found) {
  const std::vector<Head> heads = heads_of(call.signature.metadata);
  for (size_t i = 0; i < heads.size(); ++i) {
    const Head& head = heads[i];
    const int64_t plane = head.rows * head.columns;
    const auto rule_of = [&](const tensor::Shape&) { return rule_of_head(head, call.threshold); };
    each_box(call, i, rule_of, [&](int64_t box, const BoxNumbers& numbers) {
      const int64_t cell = box % plane;
      decode_cell(head, {numbers, cell % head.columns, cell / head.columns}, box / plane, call, found);
    });
  }
}

/// Scores of all cells' classes, then confidences, then x, y, w, h of all boxes.
void decode_darknet_grid(const DecodeCall& call, std::vector<Detection>* found) {
  const std::vector<Head> heads = heads_of(call.signature.metadata);
  for (size_t i = 0; i < heads.size(); ++i) {
    const Head& head = heads[i];
    const Rows rows(call, i);
    const int64_t cells = head.rows * head.columns;
    const float* scores = rows.values().data();
    const float* confidences = scores + cells * head.classes;
    const float* boxes = confidences + cells * head.boxes;
    for (int64_t k = 0; k < cells * head.boxes; ++k) {
      const int64_t cell = k / head.boxes;
      const float* box = boxes + 4 * k;
      const auto side = [&](float value) { return head.squared ? value * value : value; };
      const int64_t row = cell / head.columns;
      const float x = (static_cast<float>(cell % head.columns) + box[0]) / static_cast<float>(head.columns);
      const float y = (static_cast<float>(row) + box[1]) / static_cast<float>(head.rows);
      const Box placed = from_centre(x, y, side(box[2]), side(box[3]));
      for (int64_t c = 0; c < head.classes; ++c)
        add_above(call.threshold, placed, {c, confidences[k] * scores[cell * head.classes + c]}, found);
    }
  }
}

float share_of_distance(const Box& a, const Box& b) {
  const float x = (a.x1 + a.x2 - b.x1 - b.x2) / 2;
  const float y = (a.y1 + a.y2 - b.y1 - b.y2) / 2;
  const float width = std::max(a.x2, b.x2) - std::min(a.x1, b.x1);
  const float height = std::max(a.y2, b.y2) - std::min(a.y1, b.y1);
  const float diagonal = width * width + height * height;
  return diagonal > 0 ? (x * x + y * y) / diagonal : 0;
}

/// IoU less a power of the distance of the centres, in the relative coordinates of the image; `greedynms` has
/// an exponent of its own, whatever beta_nms says.
Overlap darknet_overlap(const Signature& signature, const Geometry& geometry) {
  const Entries entries(signature.metadata, "darknet.");
  const std::string kind = entries.text("nms_kind", "default");
  if (kind != "greedynms" && kind != "diounms") return iou;
  constexpr float kGreedyBeta = 0.6f;
  const float beta = kind == "greedynms" ? kGreedyBeta : entries.number<float>("beta_nms", kGreedyBeta);
  const auto width = static_cast<float>(geometry.image_width);
  const auto height = static_cast<float>(geometry.image_height);
  const auto relative = [width, height](const Box& box) {
    return Box{box.x1 / width, box.y1 / height, box.x2 / width, box.y2 / height};
  };
  return [beta, relative](const Box& a, const Box& b) {
    return iou(a, b) - std::pow(share_of_distance(relative(a), relative(b)), beta);
  };
}

/// Half of the range.
constexpr InputForm kDarknetInput{Fit::kStretch, 127.5f};

}  // namespace

const Decoder kDarknet{
    "darknet",      "darknet's heads (yolo, Gaussian_yolo, region), as the metadata describe them",
    kDarknetInput,  Space::kInputShare,
    true,           match_darknet,
    decode_darknet, darknet_overlap,
    false,          rule_of_darknet};
const Decoder kDarknetGrid{"darknet-grid",
                           "darknet's detection section (YOLOv1), as the metadata describe it",
                           kDarknetInput,
                           Space::kImageShare,
                           true,
                           match_darknet_grid,
                           decode_darknet_grid,
                           darknet_overlap,
                           false};

}  // namespace hone::task
