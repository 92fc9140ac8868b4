// Detection heads: yolo, Gaussian_yolo, region, detection. Their outputs include the activations of darknet;
// the decoder computes the boxes with the help of HeadFacts.
#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "import/darknet/limits.hpp"
#include "import/darknet/network.hpp"

namespace hone::importer::darknet {
namespace {

/// Darknet's default for anchors that are missing in the cfg.
constexpr double kUsualAnchor = 0.5;

std::string joined(const auto& numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }

/// The rule for an entry of a box: a logistic function first, then scale and offset.
struct EntryRule {
  bool logistic = false;
  float scale = 1;
  float offset = 0;
};

tensor::Tensor per_channel(const std::vector<EntryRule>& entries, int64_t boxes, float EntryRule::*field) {
  const auto count = static_cast<int64_t>(entries.size());
  tensor::Tensor result(tensor::DType::kFloat32, {1, boxes * count, 1, 1});
  auto values = result.mutable_values<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = entries[i % entries.size()].*field;
  return result;
}

tensor::Tensor logistic_channels(const std::vector<EntryRule>& entries, int64_t boxes) {
  const auto count = static_cast<int64_t>(entries.size());
  tensor::Tensor result(tensor::DType::kBool, {1, boxes * count, 1, 1});
  auto values = result.mutable_values<bool>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = entries[i % entries.size()].logistic;
  return result;
}

bool any(const std::vector<EntryRule>& entries, auto condition) {
  return std::ranges::any_of(entries, condition);
}

ValueId write_entries(Emission& e, const std::vector<EntryRule>& entries, int64_t boxes) {
  ValueId x = e.x;
  const bool logistic = any(entries, [](const EntryRule& rule) { return rule.logistic; });
  const bool scaled = any(entries, [](const EntryRule& rule) { return rule.scale != 1 || rule.offset != 0; });
  if (logistic) x = e.net.sigmoid(e.part("logistic"), x);
  if (scaled) {
    const ValueId scale = e.net.constant(e.part("scale"), per_channel(entries, boxes, &EntryRule::scale));
    const ValueId offset = e.net.constant(e.part("offset"), per_channel(entries, boxes, &EntryRule::offset));
    x = e.net.add(e.part("moved"), e.net.multiply(e.part("scaled"), x, scale), offset);
  }
  if (!logistic) return x;
  const ValueId chosen = e.net.constant(e.part("chosen"), logistic_channels(entries, boxes));
  return e.net.node("Where", e.name, {chosen, x, e.x});
}

void require_channels(const Layer& layer, int64_t boxes, int64_t entries) {
  require_between("the number of channels", layer.in.channels, 1, kMaxHeadChannels);
  if (layer.in.channels != boxes * entries)
    fail_bad_input("{} boxes of {} numbers need {} channels, filters={} of the section before gives {}",
                   boxes, entries, boxes * entries, layer.in.channels, layer.in.channels);
}

void put_grid(Layer* layer) {
  layer->head["columns"] = std::to_string(layer->in.width);
  layer->head["rows"] = std::to_string(layer->in.height);
}

std::vector<double> anchors_of(const std::optional<std::vector<double>>& given, int64_t boxes) {
  std::vector<double> anchors(static_cast<size_t>(2 * boxes), kUsualAnchor);
  for (size_t i = 0; given && i < std::min(given->size(), anchors.size()); ++i) anchors[i] = (*given)[i];
  return anchors;
}

/// Reads the classes, and the anchors that the mask selects. Returns the number of boxes per cell.
int64_t read_boxes(Options& options, Layer* layer) {
  const int total = options.integer("num", 1);
  require_between("num", total, 1, kMaxBoxes);
  std::vector<int> mask(static_cast<size_t>(total));
  std::iota(mask.begin(), mask.end(), 0);
  if (auto given = options.integers_before_comment("mask")) mask = std::move(*given);
  const bool yolo = layer->type == "yolo";
  const auto anchors =
      anchors_of(yolo ? options.numbers_before_comment("anchors") : options.numbers("anchors"), total);
  std::vector<double> chosen;
  for (const int index : mask) {
    require_between("a number of mask", index, 0, total - 1);
    chosen.push_back(anchors[static_cast<size_t>(2 * index)]);
    chosen.push_back(anchors[static_cast<size_t>(2 * index + 1)]);
  }
  layer->head["mask"] = joined(mask);
  layer->head["anchors"] = joined(chosen);
  layer->head["num"] = std::to_string(mask.size());
  return static_cast<int64_t>(mask.size());
}

int read_classes(Options& options, Layer* layer, int otherwise) {
  const int classes = options.integer("classes", otherwise);
  require_between("classes", classes, 0, kMaxClasses);
  layer->head["classes"] = std::to_string(classes);
  return classes;
}

void read_suppression(Options& options, Layer* layer, std::initializer_list<std::string_view> kinds) {
  const std::string kind = options.text("nms_kind", "default");
  const bool known = std::ranges::find(kinds, kind) != kinds.end();
  layer->head["nms_kind"] = known ? kind : "default";
  layer->head["beta_nms"] = fmt::format("{}", options.number("beta_nms", 0.6));
}

EntryRule moved(bool logistic, double scale_x_y) {
  const auto alpha = static_cast<float>(scale_x_y);
  return {logistic, alpha, -0.5f * (alpha - 1)};
}

void read_yolo(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  require_image(*layer);
  layer->head["kind"] = "yolo";
  const int classes = read_classes(options, layer, 20);
  const int64_t boxes = read_boxes(options, layer);
  require_channels(*layer, boxes, classes + 5);
  const double scale = options.number("scale_x_y", 1);
  const bool new_coords = options.integer("new_coords", 0) != 0;
  layer->head["scale_x_y"] = fmt::format("{}", scale);
  layer->head["new_coords"] = new_coords ? "1" : "0";
  if (options.has("map")) fail_bad_input("hone has no maps of classes");
  read_suppression(options, layer, {"greedynms", "diounms"});
  put_grid(layer);
  std::vector<EntryRule> entries(static_cast<size_t>(classes + 5), EntryRule{!new_coords});
  entries[0] = entries[1] = moved(!new_coords, scale);
  entries[2] = entries[3] = {};
  set_out(layer, layer->in.channels, layer->in.height, layer->in.width);
  layer->emit = [entries, boxes](Emission& e) { return write_entries(e, entries, boxes); };
}

/// The entries are x and its uncertainty, then y, w and h in the same way.
void read_gaussian_yolo(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  require_image(*layer);
  layer->head["kind"] = "gaussian_yolo";
  const int classes = read_classes(options, layer, 20);
  const int64_t boxes = read_boxes(options, layer);
  require_channels(*layer, boxes, classes + 9);
  const double scale = options.number("scale_x_y", 1);
  layer->head["scale_x_y"] = fmt::format("{}", scale);
  const std::string point = options.text("yolo_point", "center");
  const bool corner = point == "left_top" || point == "right_bottom";
  layer->head["yolo_point"] = corner ? point : "center";
  if (options.has("map")) fail_bad_input("hone has no maps of classes");
  read_suppression(options, layer, {"greedynms", "diounms", "cornersnms"});
  put_grid(layer);
  std::vector<EntryRule> entries(static_cast<size_t>(classes + 9), EntryRule{true});
  entries[0] = entries[2] = moved(true, scale);
  entries[4] = entries[6] = {};
  set_out(layer, layer->in.channels, layer->in.height, layer->in.width);
  layer->emit = [entries, boxes](Emission& e) { return write_entries(e, entries, boxes); };
}

/// Softmax over the classes of each box. A box has `entries` numbers; the classes are the last of them.
ValueId write_class_softmax(Emission& e, ValueId x, const Volume& in, int64_t boxes, int64_t entries,
                            int64_t classes) {
  const ValueId cells = e.reshape("boxes", x, {0, boxes, entries, in.height, in.width});
  graph::Attributes split;
  split.set("axis", int64_t{2});
  const ValueId sizes = e.ints("sizes", {entries - classes, classes});
  const auto parts = e.net.nodes("Split", e.part("parts"), {cells, sizes}, 2, std::move(split));
  graph::Attributes along;
  along.set("axis", int64_t{2});
  const ValueId shares = e.net.node("Softmax", e.part("softmax"), {parts[1]}, along);
  const ValueId whole = e.net.node("Concat", e.part("whole"), {parts[0], shares}, along);
  return e.reshape("image", whole, {0, in.channels, in.height, in.width});
}

void read_region(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  require_image(*layer);
  layer->head["kind"] = "region";
  const int coords = options.integer("coords", 4);
  require_between("coords", coords, 4, kMaxClasses);
  const int classes = read_classes(options, layer, 20);
  const int boxes = options.integer("num", 1);
  require_between("num", boxes, 1, kMaxBoxes);
  const int64_t size = int64_t{coords} + 1 + classes;
  require_channels(*layer, boxes, size);
  for (const char* option : {"tree", "map"}) {
    if (options.has(option)) fail_bad_input("hone has no {} of classes", option);
  }
  if (options.integer("background", 0) != 0) fail_bad_input("hone has no class for the background");
  const bool softmax = options.integer("softmax", 0) != 0;
  layer->head["coords"] = std::to_string(coords);
  layer->head["num"] = std::to_string(boxes);
  layer->head["anchors"] = joined(anchors_of(options.numbers("anchors"), boxes));
  layer->head["softmax"] = softmax ? "1" : "0";
  layer->head["classfix"] = std::to_string(options.integer("classfix", 0));
  layer->head["thresh"] = fmt::format("{}", options.number("thresh", 0.5));
  read_suppression(options, layer, {});
  put_grid(layer);
  std::vector<EntryRule> entries(static_cast<size_t>(size));
  entries[0].logistic = entries[1].logistic = entries[static_cast<size_t>(coords)].logistic = true;
  for (int64_t i = coords + 1; i < size; ++i) entries[static_cast<size_t>(i)].logistic = !softmax;
  set_out(layer, layer->in.channels, layer->in.height, layer->in.width);
  layer->emit = [=, in = layer->in](Emission& e) {
    const ValueId x = write_entries(e, entries, boxes);
    return softmax && classes > 0 ? write_class_softmax(e, x, in, boxes, size, classes) : x;
  };
}

/// Softmax over the classes of each cell, which are its first numbers.
ValueId write_cell_softmax(Emission& e, ValueId flat, int64_t cells, int64_t classes, int64_t total) {
  const ValueId scores = e.channels("scores", flat, 0, cells * classes);
  graph::Attributes along;
  along.set("axis", int64_t{2});
  const ValueId rows = e.reshape("rows", scores, {0, cells, classes});
  const ValueId shares = e.net.node("Softmax", e.part("softmax"), {rows}, std::move(along));
  const ValueId column = e.reshape("column", shares, {0, cells * classes, 1, 1});
  const ValueId parts[] = {column, e.channels("rest", flat, cells * classes, total)};
  return e.net.concat(e.name, parts);
}

void read_detection(SectionContext& context, Layer* layer) {
  Options& options = context.options;
  layer->head["kind"] = "detection";
  const int coords = options.integer("coords", 1);
  require_between("coords", coords, 1, kMaxClasses);
  const int classes = read_classes(options, layer, 1);
  const int boxes = options.integer("num", 1);
  const int side = options.integer("side", 7);
  require_between("num", boxes, 1, kMaxBoxes);
  require_between("side", side, 1, kMaxCells);
  const int64_t cells = int64_t{side} * side;
  const int64_t total = cells * ((1 + int64_t{coords}) * boxes + classes);
  if (layer->in.size() != total)
    fail_bad_input("{} x {} cells with {} boxes and {} classes are {} numbers, the section before gives {}",
                   side, side, boxes, classes, total, layer->in.size());
  const bool softmax = options.integer("softmax", 0) != 0;
  layer->head["coords"] = std::to_string(coords);
  layer->head["num"] = std::to_string(boxes);
  layer->head["columns"] = layer->head["rows"] = std::to_string(side);
  layer->head["softmax"] = softmax ? "1" : "0";
  layer->head["sqrt"] = options.integer("sqrt", 0) != 0 ? "1" : "0";
  if (options.integer("reorg", 0) != 0) fail_bad_input("hone has no 'reorg' of a detection");
  read_suppression(options, layer, {});
  set_out(layer, total, 1, 1);
  const bool flat_already = layer->in == layer->out;
  layer->emit = [=](Emission& e) {
    const ValueId flat = flat_already ? e.x : e.reshape("flat", e.x, {0, total, 1, 1});
    return softmax && classes > 0 ? write_cell_softmax(e, flat, cells, classes, total) : flat;
  };
}

}  // namespace

std::vector<SectionKind> head_sections() {
  return {{"yolo", read_yolo},
          {"Gaussian_yolo", read_gaussian_yolo},
          {"region", read_region},
          {"detection", read_detection}};
}

}  // namespace hone::importer::darknet
