// LSTM, GRU and RNN through oneDNN, one primitive per direction: each writes its own part of the outputs that
// ONNX keeps by direction, which a bidirectional primitive of oneDNN would lay out otherwise.
#include <algorithm>
#include <array>
#include <cstring>

#include "device/cpu/onednn.hpp"
#include "device/cpu/recurrent_layer.hpp"
#include "device/cpu/tactics.hpp"
#include "graph/recurrent.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;
using tensor::Tensor;

bool has_default_activations(const graph::Node& node, const RecurrentCell& cell, size_t directions) {
  const auto actual = graph::read_activations(node.attributes, cell.activations, directions);
  const auto usual = graph::read_activations({}, cell.activations, directions);
  return std::equal(actual.begin(), actual.end(), usual.begin(), usual.end(),
                    [](const auto& a, const auto& b) { return a.function == b.function; });
}

/// True if every sequence is known to be as long as the input.
bool are_whole(const Tensor* lengths, int64_t steps) {
  if (lengths == nullptr) return false;
  const std::vector<int64_t> values = lengths->to_int64();
  return std::all_of(values.begin(), values.end(), [&](int64_t length) { return length == steps; });
}

/// Empty when oneDNN has what the node asks for.
Refusal refuse_node(const StepRequest& request, const RecurrentLayer& layer) {
  const graph::Node& node = request.node;
  if (request.graph.value(node.inputs[kX]).type.dtype != DType::kFloat32) return "only float32 models";
  if (layer.features == 0) return "the input has no features";
  if (!has_default_activations(node, layer.cell, layer.reversed.size()))
    return "an activation is not the default one";
  if (node.attributes.get_or<float>("clip", 0.0f) > 0) return "gates are clipped";
  if (layer.cell.has_cell_state && node.attributes.get_int("input_forget") != 0)
    return "the input gate is tied to the forget gate";
  if (node.has_input(kPeepholes)) return "gates see the cell state (peepholes)";
  if (node.has_input(kLengths) && !are_whole(request.graph.constant(node.inputs[kLengths]), layer.steps))
    return "sequences may be shorter than the input";
  for (const size_t i : {kW, kR, kB}) {
    if (node.has_input(i) && !request.graph.value(node.inputs[i]).constant)
      return "the weights are not constant";
  }
  return {};
}

/// Descriptors of one direction; empty ones for operands that the primitive lacks.
struct Descs {
  memory::desc x, w, r, b, y;
  memory::desc initial_h, initial_c, last_h, last_c;
};

struct Primitive {
  dnnl::primitive primitive;
  memory::desc scratchpad;
};

template <class Forward, class... Args>
Primitive make_primitive(const Args&... args) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
  const typename Forward::primitive_desc pd(onednn_engine(), kKind, args..., attributes);
#else
  const typename Forward::primitive_desc pd({kKind, args...}, attributes, onednn_engine());
#endif
  // oneDNN calls an implementation "ref" that multiplies with its fastest products; none is refused.
  return {Forward(pd), pd.scratchpad_desc()};
}

Primitive make_direction(const RecurrentCell& cell, bool reversed, const Descs& d) {
  const auto direction = reversed ? dnnl::rnn_direction::unidirectional_right2left
                                  : dnnl::rnn_direction::unidirectional_left2right;
  if (cell.has_cell_state) {
    return make_primitive<dnnl::lstm_forward>(direction, d.x, d.initial_h, d.initial_c, d.w, d.r, d.b, d.y,
                                              d.last_h, d.last_c);
  }
  if (cell.gate_count() == 1) {
    return make_primitive<dnnl::vanilla_rnn_forward>(dnnl::algorithm::eltwise_tanh, direction, d.x,
                                                     d.initial_h, d.w, d.r, d.b, d.y, d.last_h);
  }
  if (cell.linear_before_reset) {
    return make_primitive<dnnl::lbr_gru_forward>(direction, d.x, d.initial_h, d.w, d.r, d.b, d.y, d.last_h);
  }
  return make_primitive<dnnl::gru_forward>(direction, d.x, d.initial_h, d.w, d.r, d.b, d.y, d.last_h);
}

/// The directions one after the other. Results that oneDNN makes and the node does not have go to scratch
/// memory.
class RecurrentKernel final : public engine::Kernel {
 public:
  /// `spare` is where an absent output lies in scratch memory.
  using Spare = std::array<int64_t, kRecurrentOutputs>;
  RecurrentKernel(std::vector<OnednnKernel> directions, const RecurrentLayer& layer, const Spare& spare)
      : directions_(std::move(directions)), spare_(spare) {
    for (size_t i = 0; i < directions_.size(); ++i) offsets_.push_back(layer.offset(i));
  }

  void run(const engine::Run& run) const override {
    const auto& inputs = run.inputs;
    const auto& outputs = run.outputs;
    auto* const state = static_cast<State*>(run.state);
    engine::Run part = run;
    for (size_t direction = 0; direction < directions_.size(); ++direction) {
      std::array<const void*, kRecurrentInputs> from{};
      std::array<void*, kRecurrentOutputs> to{};
      from[kX] = inputs[kX];
      for (size_t i = kInitialH; i < inputs.size(); ++i) {
        if (inputs[i] != nullptr) from[i] = static_cast<const std::byte*>(inputs[i]) + offsets_[direction];
      }
      for (size_t i = 0; i < to.size(); ++i) {
        const bool present = i < outputs.size() && outputs[i] != nullptr;
        to[i] = present ? static_cast<std::byte*>(outputs[i]) + offsets_[direction]
                        : static_cast<std::byte*>(run.scratch) + spare_[i];
      }
      part.inputs = from;
      part.outputs = to;
      part.state = state == nullptr ? nullptr : state->directions[direction].get();
      directions_[direction].run(part);
    }
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    for (const OnednnKernel& direction : directions_) state->directions.push_back(direction.make_state());
    return state;
  }

 private:
  struct State final : engine::KernelState {
    std::vector<std::unique_ptr<engine::KernelState>> directions;
  };

  std::vector<OnednnKernel> directions_;
  std::vector<int64_t> offsets_;
  Spare spare_;
};

/// No steps, or no sequences: the last states are the initial ones.
class StatesKernel final : public engine::Kernel {
 public:
  explicit StatesKernel(const StepRequest& request) {
    for (const size_t i : {kYh, kYc}) {
      if (request.node.has_output(i)) bytes_[i] = request.outputs[i].bytes();
    }
  }

  void run(const engine::Run& run) const override {
    const auto& inputs = run.inputs;
    const auto& outputs = run.outputs;
    for (size_t i = kYh; i < outputs.size(); ++i) {
      const size_t initial = kInitialH + i - kYh;
      if (outputs[i] == nullptr || bytes_[i] == 0) continue;
      if (initial < inputs.size() && inputs[initial] != nullptr) {
        std::memcpy(outputs[i], inputs[initial], static_cast<size_t>(bytes_[i]));
      } else {
        std::memset(outputs[i], 0, static_cast<size_t>(bytes_[i]));
      }
    }
  }

 private:
  std::array<int64_t, kRecurrentOutputs> bytes_{};
};

/// In float32 whatever the precision, since errors of states add up over the steps; weights are packed.
Offer operands(const StepRequest& request) {
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  for (const size_t i : {kX, kInitialH, kInitialC}) {
    if (request.node.has_input(i))
      offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  offer.outputs = request.outputs;
  return offer;
}

Descs descs_of(const StepRequest& request, const RecurrentLayer& layer) {
  const graph::Node& node = request.node;
  Descs d{.x = layer.sequence_desc(1, layer.features),
          .w = layer.weights_desc(layer.features),
          .r = layer.weights_desc(layer.hidden),
          .b = layer.bias_desc(),
          .y = layer.sequence_desc(layer.directions(), layer.hidden)};
  // oneDNN wants both states of an LSTM or neither.
  if (node.has_input(kInitialH) || node.has_input(kInitialC)) d.initial_h = layer.state_desc();
  if (node.has_output(kYh) || node.has_output(kYc)) d.last_h = layer.state_desc();
  if (layer.cell.has_cell_state) {
    d.initial_c = d.initial_h;
    d.last_c = d.last_h;
  }
  return d;
}

void bind_zeros(int argument, const memory::desc& desc, OnednnKernel& kernel) {
  Tensor zeros(DType::kUInt8, {static_cast<int64_t>(desc.get_size())});
  std::memset(zeros.mutable_bytes(), 0, zeros.byte_size());
  kernel.bind_constant(argument, desc, zeros.bytes());
  kernel.own(std::move(zeros));
}

void bind_initial(const graph::Node& node, RecurrentInput position, int argument, const memory::desc& desc,
                  OnednnKernel& kernel) {
  if (desc.get_size() == 0) return;
  if (node.has_input(position)) {
    kernel.bind_input(position, argument, desc);
    return;
  }
  bind_zeros(argument, desc, kernel);
}

void bind_operands(const graph::Node& node, const Descs& d, OnednnKernel& kernel) {
  kernel.bind_input(kX, DNNL_ARG_SRC_LAYER, d.x);
  bind_initial(node, kInitialH, DNNL_ARG_SRC_ITER, d.initial_h, kernel);
  bind_initial(node, kInitialC, DNNL_ARG_SRC_ITER_C, d.initial_c, kernel);
  kernel.bind_output(kY, DNNL_ARG_DST_LAYER, d.y);
  if (d.last_h.get_size() > 0) kernel.bind_output(kYh, DNNL_ARG_DST_ITER, d.last_h);
  if (d.last_c.get_size() > 0) kernel.bind_output(kYc, DNNL_ARG_DST_ITER_C, d.last_c);
}

void bind_weights(const StepRequest& request, const RecurrentLayer& layer, size_t direction, const Descs& d,
                  OnednnKernel& kernel, Offer& offer, engine::WeightStore& weights) {
  const auto bind = [&](RecurrentInput operand, int argument, const memory::desc& desc) {
    const PackedConstant packed = pack_recurrent(request, layer, operand, direction, weights);
    kernel.bind_constant(argument, desc, packed.data);
    offer.packed.push_back(packed.key);
  };
  bind(kW, DNNL_ARG_WEIGHTS_LAYER, d.w);
  bind(kR, DNNL_ARG_WEIGHTS_ITER, d.r);
  // oneDNN has no cell without a bias.
  if (request.node.has_input(kB)) {
    bind(kB, DNNL_ARG_BIAS, d.b);
  } else {
    bind_zeros(DNNL_ARG_BIAS, d.b, kernel);
  }
}

Offer make(const StepRequest& request, const RecurrentLayer& layer, engine::WeightStore& weights) {
  const Descs d = descs_of(request, layer);
  Offer offer = operands(request);
  std::vector<OnednnKernel> directions;
  for (size_t i = 0; i < layer.reversed.size(); ++i) {
    const auto [primitive, scratchpad] = make_direction(layer.cell, layer.reversed[i], d);
    OnednnKernel& kernel = directions.emplace_back(primitive);
    kernel.bind_scratch(scratchpad);
    bind_operands(request.node, d, kernel);
    bind_weights(request, layer, i, d, kernel, offer, weights);
    offer.scratch_bytes = std::max(offer.scratch_bytes, static_cast<int64_t>(scratchpad.get_size()));
  }
  RecurrentKernel::Spare spare{};
  const std::array<const memory::desc*, kRecurrentOutputs> results = {&d.y, &d.last_h, &d.last_c};
  for (size_t i = 0; i < results.size(); ++i) {
    if (request.node.has_output(i)) continue;
    spare[i] = (offer.scratch_bytes + 63) / 64 * 64;
    offer.scratch_bytes = spare[i] + static_cast<int64_t>(results[i]->get_size());
  }
  offer.kernel = std::make_shared<RecurrentKernel>(std::move(directions), layer, spare);
  return offer;
}

Offer offer_recurrent(const StepRequest& request, engine::WeightStore& weights) {
  const RecurrentLayer layer(request);
  if (Refusal reason = refuse_node(request, layer)) return Offer::refuse(std::move(reason));
  if (layer.steps == 0 || layer.batch == 0) {
    Offer offer = operands(request);
    offer.kernel = std::make_shared<StatesKernel>(request);
    return offer;
  }
  return guard_onednn([&] { return make(request, layer, weights); });
}

}  // namespace

void add_recurrent_tactics(TacticList& list) {
  list.push_back({.name = "onednn_recurrent", .operators = {"LSTM", "GRU", "RNN"}, .make = offer_recurrent});
}

}  // namespace hone::device::cpu
