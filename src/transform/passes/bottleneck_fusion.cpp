// Fuses the last two convolutions of a bottleneck (He et al. 2016), its shortcut included, with the
// convolution that begins the next one: where images are large, what lies between them need not be written
// and read.
#include "transform/convolution_parts.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// What the kernel of the devices that ask for this pass takes (bottleneck.hpp): channels, and the pixels of
/// a row that it makes at once.
constexpr int64_t kChannels = 64;
constexpr int64_t kWide = 256;
constexpr int64_t kTilePixels = 64;

/// Nodes of a pattern.
struct Tail {
  int32_t window = -1;  ///< of 3 x 3
  int32_t expand = -1;
  int32_t project = -1;  ///< of the shortcut, and -1 where nothing is
  int32_t next = -1;

  /// The node that makes the result of the bottleneck.
  int32_t last() const { return project < 0 ? expand : project; }
};

bool adds_first(const Node& node) {
  const PostOps post_ops = post_ops_of(node);
  return !post_ops.ops.empty() && post_ops.ops[0] == "add" && post_ops.extras.size() == 1;
}

/// The convolution that reads the bottleneck's result as its image, or -1; one that can be a part where some
/// can.
int32_t next_convolution(const Editor& editor, ValueId wide, bool projects) {
  int32_t found = -1;
  for (const int32_t reader : editor.readers(wide)) {
    const Node& node = editor.node(reader);
    const bool fits = is_convolution(editor.graph(), node, {kChannels, kWide, 1, 1}) ||
                      (!projects && is_convolution(editor.graph(), node, {2 * kChannels, kWide, 1, 1}));
    if (!fits || node.inputs[0] != wide) continue;
    if (part_refusal(editor.graph(), node, 0).empty()) return reader;
    if (found < 0) found = reader;
  }
  return found;
}

/// The pattern whose expansion is node `index`.
std::optional<Tail> find_tail(const Editor& editor, int32_t index) {
  const Graph& graph = editor.graph();
  const Node& expand = editor.node(index);
  if (!is_convolution(graph, expand, {kWide, kChannels, 1, 1})) return std::nullopt;
  Tail tail{.window = editor.producer(expand.inputs[0]), .expand = index};
  if (tail.window < 0 || !is_convolution(graph, editor.node(tail.window), {kChannels, kChannels, 3, 3}))
    return std::nullopt;
  if (!adds_first(expand)) {
    // Of two convolutions that could take the addition the later one has it.
    tail.project = editor.single_reader(expand.outputs[0]);
    if (tail.project < 0) return std::nullopt;
    const Node& project = editor.node(tail.project);
    if (!is_convolution(graph, project, {kWide, kChannels, 1, 1}) || !adds_first(project) ||
        post_ops_of(project).extras[0] != expand.outputs[0])
      return std::nullopt;
  }
  tail.next = next_convolution(editor, editor.node(tail.last()).outputs[0], tail.project >= 0);
  return tail.next < 0 ? std::nullopt : std::optional(tail);
}

/// Why a pattern stays as it is; empty when it does not.
std::string refusal(const Editor& editor, const Tail& tail) {
  const Graph& graph = editor.graph();
  const Node& window = editor.node(tail.window);
  const Node& last = editor.node(tail.last());
  if (!editor.read_once(window.outputs[0]))
    return fmt::format("others want the result of '{}' too", window.name);
  for (const int32_t part : {tail.window, tail.expand, tail.project, tail.next}) {
    if (part < 0) continue;
    if (std::string reason = part_refusal(graph, editor.node(part), part == tail.last() ? 1 : 0);
        !reason.empty())
      return reason;
  }
  const Node& expand = editor.node(tail.expand);
  if (tail.project >= 0 && !post_ops_of(expand).ops.empty())
    return fmt::format("'{}' has an activation ahead of the addition", expand.name);
  const graph::TensorType& wide = graph.value(last.outputs[0]).type;
  if (wide.dtype != graph::DType::kFloat32) return "its elements are not float32";
  if (!same_shape(graph.value(post_ops_of(last).extras[0]).type, wide)) return "its shortcut is broadcast";
  const graph::Dim& width = wide.dims->back();
  if (!width.known()) return "the width of its images is not known";
  const int64_t tiles = (width.value() + kTilePixels - 1) / kTilePixels;
  if (width.value() * 4 < tiles * kTilePixels * 3)
    return fmt::format("rows of {} pixels fill less than three quarters of tiles of {}", width.value(),
                       kTilePixels);
  return {};
}

Node fuse(const Editor& editor, const Tail& tail) {
  const Node& window = editor.node(tail.window);
  const Node& expand = editor.node(tail.expand);
  const Node& last = editor.node(tail.last());
  const Node& next = editor.node(tail.next);
  const bool projects = tail.project >= 0;
  std::vector<ValueId> inputs = {window.inputs[0],
                                 window.inputs[1],
                                 expand.inputs[1],
                                 next.inputs[1],
                                 projects ? last.inputs[0] : post_ops_of(last).extras[0],
                                 window.input(2),
                                 expand.input(2),
                                 next.input(2)};
  if (projects) inputs.insert(inputs.end(), {last.inputs[1], last.input(2)});
  while (inputs.back() == kNoValue) inputs.pop_back();
  Node fused = derived_node(last, "FusedBottleneck", std::move(inputs));
  fused.outputs.push_back(next.outputs[0]);
  set_activation(fused, "window_", window, 0);
  set_activation(fused, "wide_", last, 1);
  set_activation(fused, "narrow_", next, 0);
  std::vector<const Node*> parts = {&window, &expand};
  if (projects) parts.push_back(&last);
  parts.push_back(&next);
  join_names(fused, parts);
  return fused;
}

}  // namespace

Summary bottleneck_fusion(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  for (int32_t i = 0; i < editor.count(); ++i) {
    if (!editor.alive(i)) continue;
    const std::optional<Tail> tail = find_tail(editor, i);
    if (!tail) continue;
    const std::string first = editor.node(tail->window).name;
    const std::string next = editor.node(tail->next).name;
    if (const std::string reason = refusal(editor, *tail); !reason.empty()) {
      summary.refuse(fmt::format("'{}' to '{}' not fused: {}", first, next, reason));
      continue;
    }
    summary.change(fmt::format("the bottleneck from '{}' and '{}' became one node", first, next));
    Node fused = fuse(editor, *tail);
    const int32_t last = tail->last();
    for (const int32_t part : {tail->window, tail->expand, tail->next}) {
      if (part != last) editor.remove(part);
    }
    editor.replace(last, std::move(fused));
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
