// Runs LSTM, GRU and RNN: cuBLASLt multiplies the inputs of all time steps in one product, then hone's own
// kernels follow.
#include "device/cuda/plugin/kernels/layers/recurrent.hpp"

#include <algorithm>
#include <array>

#include "device/cuda/plugin/tactics/matrix_request.hpp"
#include "engine/requirements.hpp"
#include "graph/recurrent.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using graph::RecurrentFunction;
using tensor::DType;

/// Operands by their index in ONNX.
enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };
enum Output : size_t { kY, kLastH, kLastC };

/// The cell of a node with these activation functions; nullopt if no kernel has it.
std::optional<RecurrentCell> cell_of(const graph::Node& node, size_t directions) {
  using enum RecurrentFunction;
  const auto are = [&](const std::vector<std::string_view>& usual,
                       const std::vector<RecurrentFunction>& all) {
    const auto found = graph::read_activations(node.attributes, usual, directions);
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].function != all[i % all.size()]) return false;
    }
    return true;
  };
  if (node.op == "LSTM")
    return are({"Sigmoid", "Tanh", "Tanh"}, {kSigmoid, kTanh, kTanh}) ? std::optional(RecurrentCell::kLstm)
                                                                      : std::nullopt;
  if (node.op == "GRU")
    return are({"Sigmoid", "Tanh"}, {kSigmoid, kTanh}) ? std::optional(RecurrentCell::kGru) : std::nullopt;
  if (are({"Tanh"}, {kTanh})) return RecurrentCell::kTanh;
  return are({"Tanh"}, {kRelu}) ? std::optional(RecurrentCell::kRelu) : std::nullopt;
}

/// True if every sequence is known to have the length of the input.
bool are_whole(const tensor::Tensor* lengths, int64_t steps) {
  if (lengths == nullptr) return false;
  const std::vector<int64_t> values = lengths->to_int64();
  return std::all_of(values.begin(), values.end(), [&](int64_t length) { return length == steps; });
}

/// Returns an empty refusal if the layer is filled in.
Refusal read(const StepRequest& request, RecurrentSize& size, Product& product) {
  const graph::Node& node = request.node;
  if (request.graph.value(node.inputs[kX]).type.dtype != DType::kFloat32) return "only float32 models";
  const std::vector<bool> reversed = graph::read_reversed(node.attributes);
  const auto cell = cell_of(node, reversed.size());
  if (!cell) return "an activation is not the default one";
  if (node.op == "GRU" && node.attributes.get_int("linear_before_reset") == 0)
    return "the reset gate is applied before the recurrent product";
  if (node.attributes.get_or<float>("clip", 0.0f) > 0) return "gates are clipped";
  if (node.op == "LSTM" && node.attributes.get_int("input_forget") != 0)
    return "the input gate is tied to the forget gate";
  if (node.has_input(kPeepholes)) return "gates see the cell state (peepholes)";
  size.cell = *cell;
  size.type = float_type(request.storage());
  size.batch_major = node.attributes.get_int("layout") == 1;
  const engine::Shape& x = request.inputs[kX].shape;
  size.steps = x[size.batch_major ? 1 : 0];
  size.batch = x[size.batch_major ? 0 : 1];
  size.hidden = request.inputs[kR].shape[2];
  size.directions = static_cast<int>(reversed.size());
  for (size_t i = 0; i < reversed.size(); ++i) size.reversed[i] = reversed[i];
  if (node.has_input(kLengths) && !are_whole(request.graph.constant(node.inputs[kLengths]), size.steps))
    return "sequences may be shorter than the input";
  // The weights are read before the previous kernel has ended.
  for (const size_t i : {kR, kB}) {
    if (node.has_input(i) && !request.graph.value(node.inputs[i]).constant)
      return "the weights are not constant";
  }
  product.rows = size.steps * size.batch;
  product.columns = size.gates();
  product.depth = x[2];
  product.transposed = product.shared_w = true;
  product.dtype = request.storage();
  product.result = DType::kFloat32;
  product.compute = compute_type(request.policy.compute);
  return recurrent_refusal(size);
}

/// The offsets of the parts of the scratch memory.
struct Scratch {
  int64_t states = 0;   ///< states, after the products
  int64_t library = 0;  ///< memory that cuBLASLt requests
  int64_t end = 0;

  Scratch(const RecurrentSize& size, const Product& product, int64_t library_bytes) {
    constexpr int64_t kAlignment = 256;
    const auto behind = [](int64_t begin, int64_t bytes) {
      return (begin + bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    states = behind(0, product.rows * product.columns * static_cast<int64_t>(sizeof(float)));
    library = behind(states, recurrent_workspace_bytes(size));
    end = library + library_bytes;
  }
};

/// Sets the arrangement of the operands.
Offer arrange(const StepRequest& request) {
  const DType storage = request.storage();
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  const auto want = [&](size_t input, DType dtype) {
    if (request.node.has_input(input))
      offer.inputs[input] = {dtype, request.inputs[input].shape, Layout::kPlain};
  };
  for (const size_t i : {kX, kW, kR}) want(i, storage);
  for (const size_t i : {kB, kInitialH, kInitialC}) want(i, DType::kFloat32);
  offer.outputs.resize(request.outputs.size());
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (request.node.has_output(i)) offer.outputs[i] = {storage, request.outputs[i].shape, Layout::kPlain};
  }
  return offer;
}

Offer offer_recurrent(Cublaslt& cublaslt, const StepRequest& request) {
  RecurrentSize size;
  Product product;
  if (Refusal reason = read(request, size, product)) return Offer::refuse(std::move(reason));
  const auto matmul = std::make_shared<const Matmul>(product, cublaslt);
  const auto choices = matmul->recommended(1);
  if (choices.empty()) return Offer::refuse("cuBLASLt recommends no algorithm for its product");
  Offer offer = arrange(request);
  const Scratch scratch(size, product, static_cast<int64_t>(choices[0].workspaceSize));
  offer.scratch_bytes = scratch.end;
  const graph::Node& node = request.node;
  const std::array<bool, 3> given = {node.has_input(kB), node.has_input(kInitialH),
                                     node.has_input(kInitialC)};
  const std::array<bool, 3> wanted = {node.has_output(kY), node.has_output(kLastH), node.has_output(kLastC)};
  offer.kernel = std::make_shared<LaunchKernel>(
      "a recurrent layer",
      [=, choice = choices[0]](auto inputs, auto outputs, void* memory, const LaunchOptions& options) {
        auto* const bytes = static_cast<std::byte*>(memory);
        matmul->run(choice, inputs[kW], inputs[kX], nullptr, nullptr, bytes, bytes + scratch.library,
                    options.stream);
        const auto input = [&](size_t i, bool there) {
          return there ? static_cast<const float*>(inputs[i]) : nullptr;
        };
        RecurrentArgs args;
        args.products = static_cast<const float*>(memory);
        args.r = inputs[kR];
        args.bias = input(kB, given[0]);
        args.initial_h = input(kInitialH, given[1]);
        args.initial_c = input(kInitialC, given[2]);
        if (wanted[0]) args.y = outputs[kY];
        if (wanted[1]) args.last_h = outputs[kLastH];
        if (wanted[2]) args.last_c = outputs[kLastC];
        args.workspace = bytes + scratch.states;
        return recurrent_steps(size, args, options);
      });
  return offer;
}

}  // namespace

void add_recurrent_tactics(TacticList& list, Cublaslt& cublaslt) {
  list.push_back({.name = "recurrent_steps",
                  .operators = {"LSTM", "GRU", "RNN"},
                  .requirements = {engine::nonempty_input},
                  .make = [&cublaslt](const StepRequest& request, engine::WeightStore&) {
                    return offer_recurrent(cublaslt, request);
                  }});
}

}  // namespace hone::device::cuda
