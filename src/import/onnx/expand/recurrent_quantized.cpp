// DynamicQuantizeLSTM of com.microsoft: the input is quantized as a whole, and the hidden state at every step
// of a Scan. Gates have the order of the standard's LSTM: input, output, forget, cell.
#include "import/onnx/expand/recurrent_quantized.hpp"

#include <memory>

#include "import/onnx/expand/products.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::Graph;
using graph::kNoValue;
using graph::Tensor;
using graph::ValueId;

constexpr size_t kWeights = 1;
constexpr size_t kRecurrence = 2;
constexpr size_t kBias = 3;
constexpr size_t kLengths = 4;
constexpr size_t kHidden = 5;
constexpr size_t kCell = 6;
constexpr size_t kPeepholes = 7;
constexpr size_t kWeightScale = 8;
constexpr size_t kRecurrenceScale = 10;

/// The matrix of one direction: int8 or uint8 numbers with one scale and zero point, or one for each column.
struct ByteMatrix {
  ValueId numbers, scale, zero;
};

struct Options {
  int64_t hidden;
  float clip;
  bool couples_gates;
};

ValueId at_direction(Expansion& e, ValueId x, int64_t direction) {
  if (x == kNoValue) return x;
  return e.op("Gather", {x, e.constant(Tensor::scalar<int64_t>(direction))},
              attributes({{"axis", int64_t{0}}}));
}

ByteMatrix matrix(Expansion& e, size_t numbers, size_t scale, int64_t direction) {
  return {at_direction(e, e.in(numbers), direction), at_direction(e, e.in(scale), direction),
          at_direction(e, e.in(scale + 1), direction)};
}

/// x · matrix, with x quantized by its own range.
ValueId dynamic_product(Expansion& e, const std::vector<ValueId>& x, const ByteMatrix& b) {
  IntegerProduct product;
  product.a = x[0];
  product.a_scale = x[1];
  product.a_zero = x[2];
  product.b = b.numbers;
  product.b_scale = b.scale;
  product.b_zero = b.zero;
  return float_product(e, product);
}

/// The operands of one step: the states, and its part of the input.
struct Step {
  ValueId hidden, cell, gates;
  ByteMatrix recurrence;
  /// May be absent.
  ValueId peepholes;
};

/// The new hidden and cell state.
std::pair<ValueId, ValueId> one_step(Expansion& e, const Step& step, const Options& options) {
  const auto quantized = e.ops("DynamicQuantizeLinear", {step.hidden}, 3);
  const ValueId sums = e.op("Add", {step.gates, dynamic_product(e, quantized, step.recurrence)});
  const auto gates = e.split(sums, 1, 4);
  std::vector<ValueId> peepholes(3, kNoValue);
  if (step.peepholes != kNoValue) peepholes = e.split(step.peepholes, 0, 3);
  const auto clipped = [&](ValueId x) {
    if (options.clip == 0) return x;
    return e.op("Clip",
                {x, e.number(-options.clip, DType::kFloat32), e.number(options.clip, DType::kFloat32)});
  };
  const auto gate = [&](ValueId sum, ValueId peephole, ValueId cell) {
    if (peephole != kNoValue) sum = e.op("Add", {sum, e.op("Mul", {peephole, cell})});
    return e.op("Sigmoid", {clipped(sum)});
  };
  const ValueId input = gate(gates[0], peepholes[0], step.cell);
  const ValueId forget = options.couples_gates ? e.op("Sub", {e.number(1, DType::kFloat32), input})
                                               : gate(gates[2], peepholes[2], step.cell);
  const ValueId candidate = e.op("Tanh", {clipped(gates[3])});
  const ValueId cell = e.op("Add", {e.op("Mul", {forget, step.cell}), e.op("Mul", {input, candidate})});
  const ValueId output = gate(gates[1], peepholes[1], cell);
  return {e.op("Mul", {output, e.op("Tanh", {cell})}), cell};
}

/// The graph of one step. Its inputs are the states and the step's input, then the captured values.
std::shared_ptr<Graph> step_graph(const Expansion& outer, const std::vector<ValueId>& inputs,
                                  ValueId row_of_gates, const Options& options) {
  auto body = std::make_shared<Graph>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    graph::TensorType type = outer.graph.value(inputs[i]).type;
    if (inputs[i] == row_of_gates) type.dims->erase(type.dims->begin());
    body->inputs.push_back(body->add_value(fmt::format("in{}", i), std::move(type)));
  }
  const std::vector<ValueId>& in = body->inputs;
  Expansion e(*body, {}, outer.opset);
  const Step step{in[0], in[1], in[2], {in[3], in[4], in[5]}, in.size() > 6 ? in[6] : kNoValue};
  const auto [hidden, cell] = one_step(e, step, options);
  body->outputs = {hidden, cell, e.op("Identity", {hidden})};
  return body;
}

struct Direction {
  ValueId all, hidden, cell;
};

Direction run_direction(Expansion& e, const std::vector<ValueId>& quantized, int64_t direction, bool reverse,
                        const Options& options) {
  ValueId gates = dynamic_product(e, quantized, matrix(e, kWeights, kWeightScale, direction));
  const int64_t width = 4 * options.hidden;
  if (e.has_in(kBias)) {
    const ValueId bias = at_direction(e, e.in(kBias), direction);
    gates =
        e.op("Add", {gates, e.op("Add", {e.slice(bias, 0, 0, width), e.slice(bias, 0, width, 2 * width)})});
  }
  const auto state = [&](size_t input) {
    if (e.has_in(input)) return at_direction(e, e.in(input), direction);
    return e.op("Expand", {e.number(0, DType::kFloat32), e.list({e.extent(e.in(0), 1), options.hidden})});
  };
  const ByteMatrix recurrence = matrix(e, kRecurrence, kRecurrenceScale, direction);
  std::vector<ValueId> inputs = {state(kHidden),     state(kCell),     gates,
                                 recurrence.numbers, recurrence.scale, recurrence.zero};
  if (e.has_in(kPeepholes)) inputs.push_back(at_direction(e, e.in(kPeepholes), direction));
  const std::vector<int64_t> order = {reverse ? 1 : 0};
  const auto results = e.ops("Scan", inputs, 3,
                             attributes({{"body", step_graph(e, inputs, gates, options)},
                                         {"num_scan_inputs", int64_t{1}},
                                         {"num_captures", static_cast<int64_t>(inputs.size()) - 3},
                                         {"scan_input_directions", order},
                                         {"scan_output_directions", order}}));
  return {results[2], results[0], results[1]};
}

void read_activations(Expansion& e) {
  const std::vector<std::string> names = e.texts("activations");
  static const std::vector<std::string> kStandard = {"Sigmoid", "Tanh", "Tanh"};
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != kStandard[i % 3])
      fail_bad_input("attribute 'activations' names '{}', which is not supported here",
                     names[i].substr(0, 200));
  }
  e.reals("activation_alpha");
  e.reals("activation_beta");
}

}  // namespace

void dynamic_quantize_lstm(Expansion& e) {
  const std::string direction = e.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    fail_bad_input("attribute 'direction' is '{}'", direction.substr(0, 200));
  if (e.has_in(kLengths)) fail_bad_input("input {} (sequence_lens) is not supported here", kLengths);
  const Options options{e.count("hidden_size"), e.real("clip", 0), e.integer("input_forget", 0) != 0};
  read_activations(e);
  e.require_rank(e.in(0), 3, "input 0");
  const auto quantized = e.ops("DynamicQuantizeLinear", {e.in(0)}, 3);
  std::vector<ValueId> all, hidden, cell;
  for (int64_t i = 0; i < (direction == "bidirectional" ? 2 : 1); ++i) {
    const bool reverse = i == 1 || direction == "reverse";
    const Direction result = run_direction(e, quantized, i, reverse, options);
    all.push_back(e.unsqueeze(result.all, {1}));
    hidden.push_back(e.unsqueeze(result.hidden, {0}));
    cell.push_back(e.unsqueeze(result.cell, {0}));
  }
  if (e.wants(0)) e.give(0, e.concat(all, 1));
  if (e.wants(1)) e.give(1, e.concat(hidden, 0));
  if (e.wants(2)) e.give(2, e.concat(cell, 0));
}

}  // namespace hone::importer
