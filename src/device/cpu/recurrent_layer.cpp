// See recurrent_layer.hpp.
#include "device/cpu/recurrent_layer.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "graph/recurrent.hpp"

namespace hone::device::cpu {

using dnnl::memory;
using tensor::Tensor;

namespace {

constexpr auto kFloat = memory::data_type::f32;

/// Floats from one row of `width` to the next: whole cache lines, and no multiple of 1 KiB, whose rows would
/// fall into the same few sets of the cache.
int64_t row_stride(int64_t width) {
  constexpr int64_t kLine = 64 / sizeof(float);
  constexpr int64_t kAlias = 1024 / sizeof(float);
  const int64_t stride = (width + kLine - 1) / kLine * kLine;
  return stride % kAlias == 0 ? stride + kLine : stride;
}

/// ONNX's (gates, hidden, depth) to rows of (gates, hidden).
void arrange_weights(const RecurrentLayer& layer, int64_t depth, const float* from, float* to) {
  const int64_t row = row_stride(layer.cell.gate_count() * layer.hidden);
  for (const int64_t gate : layer.cell.gates) {
    const float* source = from + gate * layer.hidden * depth;
    for (int64_t i = 0; i < depth; ++i) {
      for (int64_t unit = 0; unit < layer.hidden; ++unit) to[i * row + unit] = source[unit * depth + i];
    }
    to += layer.hidden;
  }
}

/// ONNX's biases of W and of R, (gates, hidden) each, to oneDNN's, which is their sum.
void arrange_bias(const RecurrentLayer& layer, const float* from, float* to) {
  const int64_t hidden = layer.hidden;
  for (const int64_t gate : layer.cell.gates) {
    const float* of_w = from + gate * hidden;
    const float* of_r = of_w + layer.cell.gate_count() * hidden;
    if (layer.cell.linear_before_reset && gate == layer.cell.gates.back()) {
      std::memcpy(to, of_w, static_cast<size_t>(hidden) * sizeof(float));
      std::memcpy(to + hidden, of_r, static_cast<size_t>(hidden) * sizeof(float));
      return;
    }
    for (int64_t unit = 0; unit < hidden; ++unit) to[unit] = of_w[unit] + of_r[unit];
    to += hidden;
  }
}

}  // namespace

RecurrentCell::RecurrentCell(const graph::Node& node) {
  if (node.op == "LSTM") {
    gates = {0, 2, 3, 1};  // input, forget, cell, output of ONNX's input, output, forget, cell
    activations = {"Sigmoid", "Tanh", "Tanh"};
    has_cell_state = true;
    return;
  }
  if (node.op == "GRU") {
    gates = {0, 1, 2};
    activations = {"Sigmoid", "Tanh"};
    linear_before_reset = node.attributes.get_int("linear_before_reset") != 0;
    return;
  }
  gates = {0};
  activations = {"Tanh"};
}

RecurrentLayer::RecurrentLayer(const engine::StepRequest& request)
    : cell(request.node),
      reversed(graph::read_reversed(request.node.attributes)),
      batch_major(request.node.attributes.get_int("layout") == 1) {
  const engine::Shape& x = request.inputs[kX].shape;
  steps = x[batch_major ? 1 : 0];
  batch = x[batch_major ? 0 : 1];
  features = x[2];
  hidden = request.inputs[kR].shape[2];
}

memory::desc RecurrentLayer::sequence_desc(int64_t parts, int64_t width) const {
  const int64_t step = (batch_major ? 1 : batch) * parts * width;
  const int64_t item = batch_major ? steps * parts * width : width;
  // oneDNN multiplies all steps by W at once where it sees that items follow each other, as a single one
  // does.
  return {{steps, batch, width}, kFloat, {step, batch == 1 ? step : item, 1}};
}

memory::desc RecurrentLayer::state_desc() const {
  const int64_t item = (batch_major ? directions() : 1) * hidden;
  return {{1, 1, batch, hidden}, kFloat, {batch * item, batch * item, item, 1}};
}

memory::desc RecurrentLayer::weights_desc(int64_t depth) const {
  const int64_t row = row_stride(cell.gate_count() * hidden);
  return {{1, 1, depth, cell.gate_count(), hidden}, kFloat, {depth * row, depth * row, row, hidden, 1}};
}

memory::desc RecurrentLayer::bias_desc() const {
  const int64_t count = cell.gate_count() + (cell.linear_before_reset ? 1 : 0);
  return {{1, 1, count, hidden}, kFloat, memory::format_tag::ldgo};
}

int64_t RecurrentLayer::offset(size_t direction) const {
  const int64_t part = (batch_major ? 1 : batch) * hidden;
  return static_cast<int64_t>(direction) * part * static_cast<int64_t>(sizeof(float));
}

PackedConstant pack_recurrent(const engine::StepRequest& request, const RecurrentLayer& layer,
                              RecurrentInput operand, size_t direction, engine::WeightStore& weights) {
  const graph::ValueId id = request.node.inputs[operand];
  const std::string& name = request.graph.value(id).name;
  const int64_t depth = request.inputs[operand].shape.back();
  const memory::desc wanted = operand == kB ? layer.bias_desc() : layer.weights_desc(depth);
  // With lengths of its own a node may be the reference's at other shapes, which reads the constant itself.
  const std::string_view mark(&engine::kFinalForm, request.node.has_input(kLengths) ? 1 : 0);
  const engine::WeightKey key{
      name, fmt::format("{}f32:{}-{}:{}", mark, request.node.op, direction, fmt::join(wanted.dims(), "x"))};
  if (const Tensor* found = weights.find(key)) {
    if (found->byte_size() != wanted.get_size()) {
      fail_bad_input("packed constant '{}' has {} bytes, its format needs {}", name, found->byte_size(),
                     wanted.get_size());
    }
    return {found->bytes(), key};
  }

  const Tensor* constant = request.graph.constant(id);
  if (constant == nullptr) throw engine::MissingForm(key);
  Tensor bytes(tensor::DType::kUInt8, {base::checked_cast<int64_t>(wanted.get_size())});
  std::memset(bytes.mutable_bytes(), 0, bytes.byte_size());
  auto* to = reinterpret_cast<float*>(bytes.mutable_bytes());
  const float* from = constant->values<float>().data() +
                      static_cast<int64_t>(direction) * constant->size() / layer.directions();
  if (operand == kB) {
    arrange_bias(layer, from, to);
  } else {
    arrange_weights(layer, depth, from, to);
  }
  return {weights.add(key, std::move(bytes)).bytes(), key};
}

}  // namespace hone::device::cpu
