// Adds up the filters of convolutions that read the same image and whose results are only added, as in
// re-parameterized networks after training (Ding et al. 2021, RepVGG). Smaller windows are padded with zeros
// to the largest one, and a scale and shift of each channel becomes the window element at the output's own
// pixel.
//
//       x ──┬── 3 x 3 ──┐
//           ├── 1 x 1 ──┼── + ── y      ──▶      x ── 3 x 3 ── y
//           └── scale ──┘
#include <algorithm>
#include <optional>

#include "graph/convolution_geometry.hpp"
#include "transform/affine.hpp"
#include "transform/constants.hpp"
#include "transform/fusion.hpp"
#include "transform/pass_list.hpp"

namespace hone::transform {
namespace {

/// One operand of a sum, as a convolution of the image.
struct Term {
  /// The node that produces it, or -1 for the image itself.
  int32_t index = -1;
  int64_t groups = 1;
  /// Filters, with the channels of one group, and the window.
  tensor::Shape shape = {};
  graph::Window window = {};
  std::vector<double> filters = {};
  /// Empty if there is no bias.
  std::vector<double> bias = {};

  int64_t taps() const { return tensor::element_count(shape) / (shape[0] * shape[1]); }
};

/// Position of the windows of `part` inside those of `whole`, if they are inside for every image size and
/// both convolutions have the same number of windows.
std::optional<std::vector<int64_t>> place_within(const graph::Window& part, const graph::Window& whole) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < whole.rank(); ++i) {
    const int64_t step = whole.dilations[i];
    const int64_t before = whole.pads_begin[i] - part.pads_begin[i];
    const int64_t after = whole.pads_end[i] - part.pads_end[i];
    if (part.strides[i] != whole.strides[i] || (part.kernel[i] > 1 && part.dilations[i] != step)) return {};
    if (before < 0 || after < 0 || before % step != 0 || after % step != 0) return {};
    if (before / step + part.kernel[i] + after / step != whole.kernel[i]) return {};
    places.push_back(before / step);
  }
  return places;
}

/// Adds `factor` times the filters and bias of `part`, whose windows begin at `places`, to `whole`.
void add(const Term& part, const std::vector<int64_t>& places, double factor, Term& whole) {
  const int64_t planes = whole.shape[0] * whole.shape[1];
  for (int64_t tap = 0; tap < part.taps(); ++tap) {
    int64_t rest = tap;
    int64_t at = 0;
    int64_t step = 1;
    for (size_t i = places.size(); i-- > 0;) {
      at += (rest % part.window.kernel[i] + places[i]) * step;
      rest /= part.window.kernel[i];
      step *= whole.window.kernel[i];
    }
    for (int64_t plane = 0; plane < planes; ++plane)
      whole.filters[static_cast<size_t>(plane * step + at)] +=
          factor * part.filters[static_cast<size_t>(plane * part.taps() + tap)];
  }
  if (part.bias.empty()) return;
  whole.bias.resize(static_cast<size_t>(whole.shape[0]));
  for (size_t c = 0; c < whole.bias.size(); ++c) whole.bias[c] += factor * part.bias[c];
}

void scale(double factor, Term& term) {
  for (double& value : term.filters) value *= factor;
  for (double& value : term.bias) value *= factor;
}

class SummedConvolutions {
 public:
  explicit SummedConvolutions(Graph& graph) : graph_(graph), editor_(graph) {}

  Summary run() {
    for (int32_t i = 0; i < editor_.count(); ++i) {
      const std::string& op = editor_.node(i).op;
      if (editor_.alive(i) && (op == "Add" || op == "Sub") && !merge(i, 0)) merge(i, 1);
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  /// A convolution with constant filters whose result only the sum reads.
  std::optional<Term> read_convolution(ValueId value) const {
    const Node* const node = editor_.made_by(value, "Conv");
    if (node == nullptr || !editor_.read_once(value)) return {};
    const Tensor* const filters = graph_.constant(node->inputs[1]);
    const Tensor* const bias = node->has_input(2) ? graph_.constant(node->inputs[2]) : nullptr;
    if (filters == nullptr || filters->size() == 0 || (node->has_input(2) && bias == nullptr)) return {};
    Term term{.index = editor_.producer(value), .groups = node->attributes.get_int("group")};
    term.shape = filters->shape();
    term.window = graph::read_window(node->attributes, {term.shape.begin() + 2, term.shape.end()});
    if (term.window.auto_pad != graph::AutoPad::kNotSet) return {};
    term.filters = filters->to_double();
    if (bias != nullptr) term.bias = bias->to_double();
    return term;
  }

  /// `value` as a scale and shift of the channels of the image that `base` reads. The image itself is only
  /// accepted if filters have one channel each; other convolutions absorb its addition at no cost, and keep
  /// the precision of their weights.
  std::optional<Term> read_scale(ValueId value, ValueId image, const Term& base) const {
    const int64_t channels = base.shape[0];
    const auto rank = static_cast<int64_t>(base.shape.size());
    if (base.shape[1] * base.groups != channels) return {};
    Term term{.groups = base.groups, .shape = base.shape};
    std::fill(term.shape.begin() + 2, term.shape.end(), 1);
    const std::vector<int64_t> ones(base.window.rank(), 1);
    const std::vector<int64_t> zeros(base.window.rank(), 0);
    term.window = {
        .kernel = ones, .strides = ones, .dilations = ones, .pads_begin = zeros, .pads_end = zeros};
    term.filters.resize(static_cast<size_t>(channels * base.shape[1]));
    std::vector<double> factors(static_cast<size_t>(channels), 1.0);
    if (value == image) {
      if (base.shape[1] != 1) return {};
    } else {
      term.index = editor_.producer(value);
      if (term.index < 0 || !editor_.read_once(value)) return {};
      const Node& node = editor_.node(term.index);
      if (std::find(node.inputs.begin(), node.inputs.end(), image) == node.inputs.end()) return {};
      const AffineOrReason found = as_affine(graph_, node, image, {rank, 1, channels});
      if (!found.affine) return {};
      factors = found.affine->scale;
      term.bias = found.affine->shift;
    }
    for (int64_t c = 0; c < channels; ++c)
      term.filters[static_cast<size_t>(c * base.shape[1] + c % base.shape[1])] =
          factors[static_cast<size_t>(c)];
    return term;
  }

  /// Merges the operands of sum `index` into one convolution, if operand `first` is a convolution and the
  /// other one is a term of the same image.
  bool merge(int32_t index, size_t first) {
    const Node sum = editor_.node(index);
    std::optional<Term> base = read_convolution(sum.inputs[first]);
    if (!base) return false;
    const Node convolution = editor_.node(base->index);
    const ValueId image = convolution.inputs[0];
    const ValueId value = sum.inputs[1 - first];
    std::optional<Term> other = read_convolution(value);
    const bool is_scale = !other;
    if (is_scale) other = read_scale(value, image, *base);
    if (!other || (!is_scale && editor_.node(other->index).inputs[0] != image)) return false;
    const bool alike = std::equal(base->shape.begin(), base->shape.begin() + 2, other->shape.begin()) &&
                       base->shape.size() == other->shape.size() && base->groups == other->groups;
    const auto places = alike ? place_within(other->window, base->window) : std::nullopt;
    if (!places && !is_scale && first == 0) return false;  // the other one may have the larger windows
    if (!places) {
      summary_.refuse(fmt::format("'{}' + '{}' not added up: their windows or groups do not fit",
                                  convolution.name,
                                  other->index < 0 ? sum.name : editor_.node(other->index).name));
      return false;
    }
    if (first == 1 && sum.op == "Sub") scale(-1, *base);
    add(*other, *places, first == 0 && sum.op == "Sub" ? -1 : 1, *base);
    replace(index, sum, convolution, *base, other->index);
    return true;
  }

  void replace(int32_t index, const Node& sum, const Node& convolution, const Term& result, int32_t other) {
    const graph::DType dtype = graph_.value(convolution.inputs[1]).type.dtype;
    Node whole = convolution;
    whole.inputs.resize(2);
    whole.inputs[1] = editor_.add_constant(convolution.name + ".weights",
                                           floating_tensor(dtype, result.shape, result.filters));
    if (!result.bias.empty()) {
      whole.inputs.push_back(editor_.add_constant(convolution.name + ".bias",
                                                  floating_tensor(dtype, {result.shape[0]}, result.bias)));
    }
    whole.outputs = sum.outputs;
    std::vector<const Node*> parts = {&convolution};
    Node term;
    if (other >= 0) {
      term = editor_.node(other);
      parts.push_back(&term);
      editor_.remove(other);
    }
    parts.push_back(&sum);
    join_names(whole, parts);
    summary_.change(fmt::format("'{}' computed by '{}'", sum.name, convolution.name));
    editor_.remove(result.index);
    editor_.replace(index, std::move(whole));
  }

  Graph& graph_;
  Editor editor_;
  Summary summary_;
};

}  // namespace

Summary summed_convolutions(Graph& graph) { return SummedConvolutions(graph).run(); }

}  // namespace hone::transform
