// Replaces a transposed convolution by a convolution with stride 1, which computes all outputs between two
// input pixels as channels of one pixel; these are then moved to their positions.
#include <algorithm>
#include <limits>

#include "graph/convolution_geometry.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

using tensor::Shape;

/// Limit on the growth of the filters: the convolution contains zeros where an output has fewer taps than its
/// neighbours.
constexpr double kMostGrowth = 4;
/// Convolutions with smaller groups are not faster than a kernel that reads each input once.
constexpr int64_t kLeastGroup = 8;
/// Outputs are cropped if at most this share of the products remains, because moving the rest also takes
/// time.
constexpr double kWorthCutting = 0.9;
/// Represents an unknown image size; the padding does not depend on it.
constexpr int64_t kAnySize = 1 << 20;

/// One axis. Output o = q * stride + r - skipped reads input i by tap t if o + pad = i * stride + t *
/// dilation (ONNX's specification); the offset i - q does not depend on q. Outputs before the first one are
/// computed and cropped if the taps of all r then fit into a smaller window.
struct Axis {
  Axis(const graph::WindowAxis& transposed, int64_t skips) : from(transposed), skipped(skips) {
    for (int64_t t = 0; t < from.kernel; ++t) {
      const int64_t distance = pad() - t * from.dilation;
      // The only r whose outputs the tap reaches.
      const int64_t r = (from.stride - distance % from.stride) % from.stride;
      first = std::min(first, (distance + r) / from.stride);
      last = std::max(last, (distance + r) / from.stride);
    }
    // Outputs of a window beyond the last output are cropped.
    const int64_t wanted = from.input + skipped;
    made = std::max(wanted / from.stride + (wanted % from.stride != 0), from.output - last);
  }
  /// The variant with fewer products: if the first tap reaches the first output of a pixel, no window is
  /// larger than an output needs.
  static Axis least(const graph::WindowAxis& transposed) {
    const Axis whole(transposed, 0);
    const Axis aligned(transposed, transposed.pad_begin % transposed.stride);
    return aligned.products() < kWorthCutting * whole.products() ? aligned : whole;
  }
  /// The padding that includes the cropped outputs.
  int64_t pad() const { return from.pad_begin - skipped; }
  int64_t kernel() const { return last - first + 1; }
  double products() const { return static_cast<double>(kernel()) * static_cast<double>(made); }
  int64_t pad_begin() const { return -first; }
  int64_t pad_end() const { return made + last - from.output; }
  /// Outputs that are cropped after the last one.
  int64_t crop() const { return made * from.stride - from.input - skipped; }
  /// The tap of output r at position `at` of the new kernel, or -1.
  int64_t tap(int64_t r, int64_t at) const {
    const int64_t distance = r + pad() - (first + at) * from.stride;
    const bool reads = distance >= 0 && distance % from.dilation == 0;
    return reads && distance / from.dilation < from.kernel ? distance / from.dilation : -1;
  }

  graph::WindowAxis from;
  int64_t skipped;    ///< outputs that are cropped before the first one
  int64_t first = 0;  ///< least offset
  int64_t last = 0;
  int64_t made = 0;  ///< pixels of the convolution
};

/// Advances to the next position within `sizes`; the last index changes first.
bool next_position(std::vector<int64_t>& position, const std::vector<int64_t>& sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++position[i] < sizes[i]) return true;
    position[i] = 0;
  }
  return false;
}

class Lowering {
 public:
  Lowering(Editor& editor, int32_t index, Summary& summary)
      : editor_(editor), index_(index), node_(editor.node(index)), summary_(summary) {}

  void run() {
    const Refusal reason = read();
    if (reason)
      return summary_.refuse(
          fmt::format("'{}' stays a transposed convolution: {}", node_.name, reason.text()));
    add_convolution();
    const int32_t end = add_activation();
    if (outputs_per_pixel_ > 1) add_spread();
    add_crop();
    place(end);
    summary_.change(
        fmt::format("'{}' became a convolution with {} outputs a pixel", node_.name, outputs_per_pixel_));
  }

 private:
  /// Why it cannot be lowered; empty if it can.
  Refusal read() {
    const Graph& graph = editor_.graph();
    weights_ = graph.constant(node_.inputs[1]);
    if (weights_ == nullptr) return "its weights are computed";
    if (node_.has_input(2) && graph.constant(node_.inputs[2]) == nullptr) return "its bias is computed";
    if (weights_->size() == 0) return "it has no weights";
    const graph::TensorType& x = graph.value(node_.inputs[0]).type;
    if (!x.ranked()) return "the rank of its input is not known";
    Shape shape;
    for (const graph::Dim& dim : *x.dims) {
      known_ = known_ && (shape.size() < 2 || dim.known());
      shape.push_back(dim.known() ? dim.value() : kAnySize);
    }
    if (!(*x.dims)[1].known()) return "its channels are not known";
    const bool automatic =
        node_.attributes.get_string("auto_pad").starts_with("SAME") || node_.attributes.has("output_shape");
    if (automatic && !known_) return "its padding depends on sizes that are not known";
    geometry_ = graph::read_transposed_convolution(node_.attributes, shape, weights_->shape());
    if (geometry_.group > 1 && weights_->shape()[0] / geometry_.group < kLeastGroup)
      return "its groups are small";
    return read_axes();
  }

  std::string read_axes() {
    double growth = 1;
    for (const graph::WindowAxis& axis : geometry_.axes) {
      growth *= static_cast<double>(axis.stride) / static_cast<double>(axis.kernel);
      if (growth > kMostGrowth) break;
      axes_.push_back(Axis::least(axis));
      growth *= static_cast<double>(axes_.back().kernel());
      outputs_per_pixel_ *= axis.stride;
    }
    if (growth > kMostGrowth) return "most of the convolution's weights would be zeros";
    for (const Axis& axis : axes_) {
      if (axis.from.input == 0) return "its output is empty";
      if (axis.pad_end() >= axis.kernel()) return "its output reaches far beyond its input";
    }
    if (!is_image() && outputs_per_pixel_ > 1 && !known_) return "its image has no known size";
    return {};
  }

  /// True if DepthToSpace can move the outputs.
  bool is_image() const { return axes_.size() == 2 && axes_[0].from.stride == axes_[1].from.stride; }

  ValueId constant(const std::string& what, Tensor tensor) {
    return editor_.add_constant(node_.name + what, std::move(tensor));
  }
  ValueId integers(const std::string& what, const std::vector<int64_t>& values) {
    return constant(what, Tensor::of<int64_t>(values, {static_cast<int64_t>(values.size())}));
  }

  void add_convolution() {
    Node conv = derived_node(node_, "Conv", {node_.inputs[0], constant(".weights", lowered_weights())});
    if (node_.has_input(2)) conv.inputs.push_back(constant(".bias", lowered_bias()));
    std::vector<int64_t> pads;
    for (const Axis& axis : axes_) pads.push_back(axis.pad_begin());
    for (const Axis& axis : axes_) pads.push_back(axis.pad_end());
    conv.attributes.set("pads", std::move(pads));
    conv.attributes.set("group", geometry_.group);
    steps_.push_back(std::move(conv));
  }

  /// True if channels are adjacent for each output of a pixel, as in mode DCR of DepthToSpace, so that they
  /// can be moved together. Otherwise the outputs of a pixel are adjacent for each channel, as groups
  /// require: mode CRD.
  bool moves_channels() const { return is_image() && geometry_.group == 1; }

  /// Rearranges [C, M / group, kernel...] to [M * outputs per pixel, C / group, kernel...].
  Tensor lowered_weights() const {
    const int64_t inputs = geometry_.out_channels / geometry_.group;
    const int64_t outputs = geometry_.in_channels / geometry_.group;
    std::vector<int64_t> phases, kernel;
    Shape shape = {geometry_.in_channels * outputs_per_pixel_, inputs};
    for (const Axis& axis : axes_) {
      phases.push_back(axis.from.stride);
      kernel.push_back(axis.kernel());
      shape.push_back(axis.kernel());
    }
    const std::vector<double> from = weights_->to_double();
    std::vector<double> to;
    to.reserve(static_cast<size_t>(tensor::element_count(shape)));
    const auto add_filter = [&](int64_t channel, const std::vector<int64_t>& phase) {
      const int64_t first = channel / outputs * inputs;
      for (int64_t input = first; input < first + inputs; ++input) {
        const int64_t filter = input * outputs + channel % outputs;
        std::vector<int64_t> at(axes_.size(), 0);
        do to.push_back(weight(from, filter, phase, at));
        while (next_position(at, kernel));
      }
    };
    std::vector<int64_t> phase(axes_.size(), 0);
    if (moves_channels()) {
      do {
        for (int64_t channel = 0; channel < geometry_.in_channels; ++channel) add_filter(channel, phase);
      } while (next_position(phase, phases));
    } else {
      for (int64_t channel = 0; channel < geometry_.in_channels; ++channel) {
        do add_filter(channel, phase);
        while (next_position(phase, phases));
      }
    }
    return floating_tensor(weights_->dtype(), std::move(shape), to);
  }

  double weight(const std::vector<double>& from, int64_t filter, const std::vector<int64_t>& phase,
                const std::vector<int64_t>& at) const {
    int64_t index = filter;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const int64_t tap = axes_[i].tap(phase[i], at[i]);
      if (tap < 0) return 0;
      index = index * axes_[i].from.kernel + tap;
    }
    return from[static_cast<size_t>(index)];
  }

  Tensor lowered_bias() const {
    const Tensor& bias = *editor_.graph().constant(node_.inputs[2]);
    const std::vector<double> from = bias.to_double();
    std::vector<double> to;
    for (int64_t i = 0; moves_channels() && i < outputs_per_pixel_; ++i)
      to.insert(to.end(), from.begin(), from.end());
    for (size_t i = 0; !moves_channels() && i < from.size(); ++i)
      to.insert(to.end(), static_cast<size_t>(outputs_per_pixel_), from[i]);
    const auto size = static_cast<int64_t>(to.size());
    return floating_tensor(bias.dtype(), {size}, to);
  }

  /// Moves an activation that is the only reader of the result before the movement of outputs, where it can
  /// be fused. Returns the node whose result the new nodes produce.
  int32_t add_activation() {
    const int32_t reader = editor_.single_reader(node_.outputs[0]);
    if (reader < 0) return index_;
    const Node& activation = editor_.node(reader);
    const auto found = as_post_ops(editor_.graph(), activation, node_.outputs[0]);
    if (!found.post_ops || !found.post_ops->extras.empty()) return index_;
    steps_.push_back(activation);
    return reader;
  }

  void add_spread() {
    if (is_image()) {
      Node& spread = add("DepthToSpace", ".depth_to_space");
      spread.attributes.set("blocksize", axes_[0].from.stride);
      spread.attributes.set("mode", std::string(moves_channels() ? "DCR" : "CRD"));
      return;
    }
    const auto rank = static_cast<int64_t>(axes_.size());
    std::vector<int64_t> split = {0, geometry_.in_channels}, joined = split, perm = {0, 1};
    for (const Axis& axis : axes_) split.push_back(axis.from.stride);
    for (const Axis& axis : axes_) split.push_back(axis.made);
    for (const Axis& axis : axes_) joined.push_back(axis.made * axis.from.stride);
    for (int64_t i = 0; i < rank; ++i) perm.insert(perm.end(), {2 + rank + i, 2 + i});
    add("Reshape", ".split").inputs.push_back(integers(".split_shape", split));
    add("Transpose", ".spread").attributes.set("perm", std::move(perm));
    add("Reshape", ".joined").inputs.push_back(integers(".joined_shape", joined));
  }

  void add_crop() {
    std::vector<int64_t> starts, ends, axes;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const int64_t crop = axes_[i].crop();
      if (crop == 0 && axes_[i].skipped == 0) continue;
      starts.push_back(axes_[i].skipped);
      ends.push_back(crop == 0 ? std::numeric_limits<int64_t>::max() : -crop);
      axes.push_back(static_cast<int64_t>(i) + 2);
    }
    if (axes.empty()) return;
    Node& crop = add("Slice", ".crop");
    crop.inputs.insert(crop.inputs.end(), {integers(".crop_starts", starts), integers(".crop_ends", ends),
                                           integers(".crop_axes", axes)});
  }

  Node& add(const char* op, const char* what) {
    Node node = derived_node(node_, op, {kNoValue});
    node.name += what;
    return steps_.emplace_back(std::move(node));
  }

  /// Inserts the steps before node `end`, and replaces it by the last one.
  void place(int32_t end) {
    const graph::DType dtype = editor_.graph().value(node_.outputs[0]).type.dtype;
    const std::vector<ValueId> results = editor_.node(end).outputs;
    ValueId value = node_.inputs[0];
    for (size_t i = 0; i < steps_.size(); ++i) {
      Node& step = steps_[i];
      step.inputs[0] = value;
      if (i + 1 == steps_.size()) break;
      value = editor_.add_value(step.name + ".result", dtype);
      step.outputs = {value};
      editor_.insert_before(end, std::move(step));
    }
    steps_.back().outputs = results;
    editor_.replace(end, std::move(steps_.back()));
    if (end != index_) editor_.remove(index_);
  }

  Editor& editor_;
  int32_t index_;
  const Node node_;
  Summary& summary_;
  const Tensor* weights_ = nullptr;
  bool known_ = true;
  graph::Convolution geometry_;
  std::vector<Axis> axes_;
  int64_t outputs_per_pixel_ = 1;
  std::vector<Node> steps_;
};

}  // namespace

Summary transposed_convolution_lowering(Graph& graph) {
  Summary summary;
  Editor editor(graph);
  const int32_t count = editor.count();
  for (int32_t i = 0; i < count; ++i) {
    if (editor.alive(i) && editor.node(i).op == "ConvTranspose") Lowering(editor, i, summary).run();
  }
  editor.commit();
  return summary;
}

}  // namespace hone::transform
