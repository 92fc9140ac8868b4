// Moves integers instead of the numbers that they represent: operators that only move elements, and max
// pools, are placed before the DequantizeLinear whose result they read; and a QuantizeLinear with the same
// scale as the preceding DequantizeLinear is cancelled.
#include <algorithm>

#include "graph/operator.hpp"
#include "transform/fusion.hpp"
#include "transform/quantized.hpp"
#include "transform/quantized_passes.hpp"

namespace hone::transform {
namespace {

/// True if the node selects or moves integers in the same way as the numbers that they represent.
bool moves_input(const Editor& editor, const Node& node) {
  if (node.op == "MaxPool") {
    const graph::TensorType& type = editor.graph().value(node.inputs[0]).type;
    return !node.has_output(1) && type.ranked() && type.dims->size() == 4;
  }
  if (node.op == "Concat") return false;
  if (node.op == "Pad") {
    return node.attributes.get_string("mode") == "constant" &&
           (!node.has_input(2) || is_filled_with(editor.graph(), node.inputs[2], 0));
  }
  // Outside of the box of tf_crop_and_resize, the result has a value that no integer of the input represents.
  if (node.op == "Resize")
    return node.attributes.get_string("mode") == "nearest" && !node.attributes.has("axes") &&
           node.attributes.get_string("coordinate_transformation_mode") != "tf_crop_and_resize";
  return graph::traits_of(node).moves_only;
}

bool is_window(const Node& node) {
  return node.op == "Conv" || node.op == "MaxPool" || node.op == "AveragePool";
}

bool reads_integers(const Node& node) {
  return node.op == "QuantizeLinear" || node.op == "Conv" || node.op == "MatMul" || node.op == "Gemm" ||
         node.op == "GlobalAveragePool";
}

class Movement {
 public:
  explicit Movement(Graph& graph) : editor_(graph), original_(editor_.count()) {}

  Summary run() {
    for (int32_t i = 0; i < original_; ++i) {
      if (!editor_.alive(i)) continue;
      const std::string op = editor_.node(i).op;
      if (op == "QuantizeLinear") {
        if (!cancel(i)) move_concatenation(i);
      } else if (op == "Concat") {
        join(i);
      } else {
        push(i);
      }
    }
    editor_.commit();
    return std::move(summary_);
  }

 private:
  const Graph& graph() const { return editor_.graph(); }
  const std::string& name_of(ValueId id) const { return graph().value(id).name; }

  /// Cancels a QuantizeLinear of a value that DequantizeLinear produced with the same scale.
  bool cancel(int32_t index) {
    const Node quantize = editor_.node(index);
    const auto from = dequantized_bytes(editor_, quantize.inputs[0]);
    if (!from || !quantizes_to_bytes(editor_, quantize) ||
        dtype_of(editor_, from->value) != dtype_of(editor_, quantize.outputs[0]) ||
        !same_scales(graph(), *from, {from->value, quantize.inputs[1], quantize.input(2)}))
      return false;
    if (!editor_.forward(index, quantize.outputs[0], from->value)) return false;
    summary_.change(fmt::format("'{}' gives its own integers back", quantize.name));
    remove_unread(editor_, {quantize.inputs[0]});
    return true;
  }

  /// True if moving the integers saves work; it does not if other nodes need the numbers at this point.
  bool gains(const Node& move) const {
    if (editor_.read_once(move.inputs[0])) return true;
    return std::all_of(move.outputs.begin(), move.outputs.end(), [&](ValueId id) {
      if (id == kNoValue) return true;
      if (editor_.is_output(id)) return false;
      const auto readers = editor_.readers(id);
      return std::all_of(readers.begin(), readers.end(), [&](int32_t reader) {
        return reads_integers(editor_.node(reader)) || moves_input(editor_, editor_.node(reader));
      });
    });
  }

  /// The axis of constant scales after the node, which a Transpose changes.
  std::optional<int64_t> moved_axis(const Node& move, const Node& dequantize) const {
    const int64_t axis = dequantize.attributes.get_int("axis");
    if (graph().constant(dequantize.inputs[1])->size() == 1) return axis;
    const graph::TensorType& type = graph().value(move.inputs[0]).type;
    if (move.op != "Transpose" || !type.ranked()) return std::nullopt;
    const auto rank = static_cast<int64_t>(type.dims->size());
    std::vector<int64_t> order = move.attributes.get_or<std::vector<int64_t>>("perm", {});
    for (int64_t i = rank; order.size() < static_cast<size_t>(rank); --i) order.push_back(i - 1);
    const auto found = std::find(order.begin(), order.end(), tensor::normalize_axis(axis, rank));
    return found - order.begin();
  }

  bool has_constant_scales(const Quantized& q) const {
    return graph().constant(q.scale) != nullptr &&
           (q.zero_point == kNoValue || graph().constant(q.zero_point) != nullptr);
  }

  void push(int32_t index) {
    const Node move = editor_.node(index);
    if (move.inputs.empty() || !moves_input(editor_, move)) return;
    const auto from = dequantized(editor_, move.inputs[0]);
    if (!from || !is_byte(dtype_of(editor_, from->value)) || !gains(move)) return;
    const Node dequantize = *editor_.made_by(move.inputs[0], "DequantizeLinear");
    // Constant integers may be moved, but not compared or padded, if scales differ by channel or zero points
    // are computed, because the order of integers may then differ from that of the numbers.
    const bool is_single = dequantized_bytes(editor_, move.inputs[0]).has_value();
    const bool is_weight = graph().constant(from->value) != nullptr && has_constant_scales(*from) &&
                           move.op != "MaxPool" && move.op != "Pad";
    if (!is_single && !is_weight) return;
    const auto axis = moved_axis(move, dequantize);
    if (!axis) return;
    const int32_t reader = editor_.single_reader(move.outputs[0]);
    // The Pad becomes the padding of the window operator that reads it.
    if (move.op == "Pad" && reader >= 0 && is_window(editor_.node(reader))) return;
    move_integers(index, move, dequantize, *axis);
  }

  void move_integers(int32_t index, const Node& move, const Node& dequantize, int64_t axis) {
    const DType dtype = dtype_of(editor_, dequantize.inputs[0]);
    Node integers = move;
    integers.inputs[0] = dequantize.inputs[0];
    if (move.op == "Pad") pad_with_zero_point(integers, dequantize);
    for (ValueId& id : integers.outputs) {
      if (id != kNoValue) id = editor_.add_value(name_of(id) + ".integers", dtype);
    }
    const auto numbers = [&](size_t output) {
      Node node = twin_of(move, "DequantizeLinear", dequantize.inputs, move.outputs[output]);
      node.inputs[0] = integers.outputs[output];
      node.attributes = dequantize.attributes;
      node.attributes.set("axis", axis);
      return node;
    };
    editor_.insert_before(index, integers);
    for (size_t i = 1; i < move.outputs.size(); ++i) {
      if (move.has_output(i)) editor_.insert_before(index, numbers(i));
    }
    editor_.replace(index, numbers(0));
    remove_unread(editor_, {move.inputs[0]});
    summary_.change(fmt::format("'{}' ({}) moves integers", move.name, move.op));
  }

  /// The zero point represents zero.
  void pad_with_zero_point(Node& pad, const Node& dequantize) {
    pad.inputs.resize(std::max<size_t>(pad.inputs.size(), 3), kNoValue);
    const DType dtype = dtype_of(editor_, dequantize.inputs[0]);
    const double zero = static_cast<double>(zero_point_of(graph(), dequantize.input(2)));
    pad.inputs[2] = editor_.add_constant(name_of(pad.inputs[1]) + ".zero_point",
                                         Tensor::of<double>({zero}, {}).cast(dtype));
  }

  /// A concatenation of numbers with the same scale becomes a concatenation of integers.
  void join(int32_t index) {
    const Node concat = editor_.node(index);
    std::vector<ValueId> integers;
    std::optional<Quantized> first;
    for (const ValueId id : concat.inputs) {
      const auto from = dequantized_bytes(editor_, id);
      if (!from) return;
      if (!first) first = from;
      if (!same_scales(graph(), *first, *from) ||
          dtype_of(editor_, first->value) != dtype_of(editor_, from->value))
        return;
      integers.push_back(from->value);
    }
    if (!first) return;
    Node joined =
        twin_of(concat, "Concat", integers,
                editor_.add_value(name_of(concat.outputs[0]) + ".integers", dtype_of(editor_, first->value)));
    joined.attributes = concat.attributes;
    Node numbers = twin_of(concat, "DequantizeLinear", {joined.outputs[0], first->scale, first->zero_point},
                           concat.outputs[0]);
    editor_.insert_before(index, std::move(joined));
    editor_.replace(index, std::move(numbers));
    remove_unread(editor_, concat.inputs);
    summary_.change(fmt::format("'{}' (Concat) moves integers", concat.name));
  }

  /// A concatenation of numbers with several scales that only one QuantizeLinear reads: each operand is
  /// quantized first.
  void move_concatenation(int32_t index) {
    const Node quantize = editor_.node(index);
    const Node* found = editor_.made_by(quantize.inputs[0], "Concat");
    if (found == nullptr || !editor_.read_once(quantize.inputs[0]) || !quantizes_to_bytes(editor_, quantize))
      return;
    const Node concat = *found;
    const bool all = std::all_of(concat.inputs.begin(), concat.inputs.end(),
                                 [&](ValueId id) { return dequantized_bytes(editor_, id).has_value(); });
    if (!all) return;
    Node joined = twin_of(concat, "Concat", {}, quantize.outputs[0]);
    joined.attributes = concat.attributes;
    for (const ValueId id : concat.inputs) {
      const auto from = dequantized_bytes(editor_, id);
      const bool same = dtype_of(editor_, from->value) == dtype_of(editor_, quantize.outputs[0]) &&
                        same_scales(graph(), *from, {from->value, quantize.inputs[1], quantize.input(2)});
      if (same) {
        joined.inputs.push_back(from->value);
        continue;
      }
      std::vector<ValueId> inputs = quantize.inputs;
      inputs[0] = id;
      Node part =
          twin_of(quantize, "QuantizeLinear", inputs,
                  editor_.add_value(name_of(id) + ".quantized", dtype_of(editor_, quantize.outputs[0])));
      part.attributes = quantize.attributes;
      joined.inputs.push_back(part.outputs[0]);
      editor_.insert_before(index, std::move(part));
    }
    editor_.remove(editor_.producer(quantize.inputs[0]));
    editor_.replace(index, std::move(joined));
    remove_unread(editor_, concat.inputs);
    summary_.change(fmt::format("'{}' (Concat) moves integers", concat.name));
  }

  Editor editor_;
  int32_t original_;
  Summary summary_;
};

}  // namespace

Summary quantized_movement(Graph& graph) { return Movement(graph).run(); }

}  // namespace hone::transform
