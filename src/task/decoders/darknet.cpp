// Output heads of darknet's networks, as described in their metadata (docs/DARKNET.md): yolo, Gaussian_yolo
// and region sections, and YOLOv1's detection section. The rules are those of AlexeyAB's darknet.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "task/decoders/rows.hpp"

namespace hone::task {
namespace {

/// Reads entries of the metadata, with defaults for absent ones.
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
  int64_t boxes = 0;  ///< boxes per cell
  int64_t coords = 4;
  int64_t columns = 0;
  int64_t rows = 0;
  std::vector<float> anchors;
  bool new_coords = false;
  bool squared = false;
  std::string point;  ///< for Gaussian_yolo: the point of the box that x and y give
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

/// Returns how many numbers describe one box of a cell.
int64_t entries_of(const Head& head) {
  if (head.kind == "gaussian_yolo") return 9 + head.classes;
  return head.coords + 1 + head.classes;
}

int64_t numbers_of(const tensor::Shape& part) {
  int64_t numbers = 1;
  for (const int64_t side : part) numbers = base::checked_mul(numbers, side);
  return numbers;
}

/// Returns the part of the output that belongs to one image. Bad input for sizes that overflow.
tensor::Shape part_of(const Head& head) {
  if (!is_grid(head)) return {base::checked_mul(head.boxes, entries_of(head)), head.rows, head.columns};
  constexpr int64_t kBoxNumbers = 5;
  const int64_t cell = head.classes + head.boxes * kBoxNumbers;
  return {numbers_of({head.rows, head.columns, cell}), 1, 1};
}

/// Bad input if the metadata of the head contradict the shape of its output.
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
  const Entries entries(signature.metadata, "darknet.");
  match.fit = entries.number<int64_t>("letter_box", 0) != 0 ? Fit::kDarknet : Fit::kStretch;
  // pjreddie's program resizes images itself, the other one by OpenCV.
  if (entries.number<int64_t>("resize_corners", 0) != 0) match.grid = media::ResizeGrid::kAlignCorners;
  return match;
}

std::optional<Match> match_darknet(const Signature& signature, bool /*forced*/) {
  return match_heads(signature, false);
}

std::optional<Match> match_darknet_grid(const Signature& signature, bool /*forced*/) {
  return match_heads(signature, true);
}

/// Index of the objectness score among the numbers of a box.
int64_t object_of(const Head& head) { return head.kind == "gaussian_yolo" ? 8 : head.coords; }

engine::BoxPoint point_of(const Head& head) {
  if (head.point == "left_top") return engine::BoxPoint::kLeftTop;
  return head.point == "right_bottom" ? engine::BoxPoint::kRightBottom : engine::BoxPoint::kCentre;
}

/// The numbers of one box lie one plane apart. As in darknet, every class whose probability is above the
/// threshold gives a detection.
HeadRule rule_of_darknet(const DecodeForm& form, size_t role, const tensor::Shape& /*part*/) {
  const Head head = head_of(form.signature.metadata, static_cast<int64_t>(role));
  HeadRule rule;
  rule.anchors = head.anchors;
  engine::BoxHead& to = rule.head;
  to.form = engine::BoxForm::kDarknet;
  to.threshold = form.threshold;
  to.classes = head.classes;
  to.object = object_of(head);
  to.first_class = to.object + 1;
  to.all_classes = true;
  to.input_width = static_cast<int32_t>(form.signature.input_width);
  to.input_height = static_cast<int32_t>(form.signature.input_height);
  to.columns = static_cast<int32_t>(head.columns);
  to.lines = static_cast<int32_t>(head.rows);
  to.anchors_in_cells = head.kind == "region";
  to.squares = head.new_coords;
  to.uncertain = head.kind == "gaussian_yolo";
  to.point = point_of(head);
  const int64_t plane = head.rows * head.columns;
  to.rows.boxes = head.boxes * plane;
  to.rows.numbers = entries_of(head);
  to.rows.image = to.rows.boxes * to.rows.numbers;
  to.rows.inner = plane;
  to.rows.outer_stride = to.rows.numbers * plane;
  to.rows.inner_stride = 1;
  to.rows.number_stride = plane;
  to.rows.first_gate = to.object;
  to.rows.level = form.threshold;
  return rule;
}

/// The output holds the class scores of all cells, then the confidences, then x, y, w, h of all boxes.
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

/// Sets darknet's overlap: the IoU minus a power of the distance between the centres, in coordinates relative
/// to the image. `greedynms` has its own exponent and ignores beta_nms.
void set_darknet_overlap(const Signature& signature, engine::BoxSelection* selection) {
  const Entries entries(signature.metadata, "darknet.");
  const std::string kind = entries.text("nms_kind", "default");
  constexpr float kGreedyBeta = 0.6f;
  selection->by_distance = kind == "greedynms" || kind == "diounms";
  if (!selection->by_distance) return;
  selection->distance_power =
      kind == "greedynms" ? kGreedyBeta : entries.number<float>("beta_nms", kGreedyBeta);
}

/// Padding is the middle of the range.
constexpr InputForm kDarknetInput{Fit::kStretch, 127.5f};

}  // namespace

const Decoder kDarknet{
    "darknet",     "darknet's heads (yolo, Gaussian_yolo, region), as the metadata describe them",
    kDarknetInput, Space::kInputShare,
    true,          match_darknet,
    nullptr,       set_darknet_overlap,
    false,         rule_of_darknet};
const Decoder kDarknetGrid{"darknet-grid",
                           "darknet's detection section (YOLOv1), as the metadata describe it",
                           kDarknetInput,
                           Space::kImageShare,
                           true,
                           match_darknet_grid,
                           decode_darknet_grid,
                           set_darknet_overlap,
                           false};

}  // namespace hone::task
