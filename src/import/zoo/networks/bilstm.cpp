// A bidirectional LSTM of two layers and a linear one over frames of speech features, as torch.nn.LSTM(80,
// 256, 2, batch_first=True, bidirectional=True) named lstm and torch.nn.Linear(512, 40) named linear.
#include <array>

#include "import/zoo/architectures.hpp"
#include "import/zoo/transformer.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kFeatures = 80;
constexpr int64_t kHidden = 256;
constexpr int64_t kLayers = 2;
constexpr int64_t kClasses = 40;
constexpr int64_t kGates = 4;

graph::Attributes along(int64_t axis) {
  graph::Attributes attributes;
  attributes.set("axis", axis);
  return attributes;
}

/// Reorders the gates of a parameter [gates * hidden, ...] from torch's order (input, forget, cell, output)
/// to that of ONNX (input, output, forget, cell).
ValueId in_onnx_order(GraphBuilder& net, const std::string& name, ValueId parameter) {
  graph::Attributes attributes = along(0);
  attributes.set("num_outputs", kGates);
  const auto gates = net.nodes("Split", name + ".gates", {parameter}, kGates, attributes);
  return net.node("Concat", name + ".reordered", {gates[0], gates[3], gates[1], gates[2]}, along(0));
}

/// The parameter of both directions, [2, ...].
ValueId both(GraphBuilder& net, const std::string& name, const tensor::Shape& shape, Role role) {
  std::vector<ValueId> parts;
  for (const char* direction : {"", "_reverse"}) {
    const std::string full = name + direction;
    const ValueId reordered = in_onnx_order(net, full, net.parameter({full, shape, role, kLinearGain}));
    parts.push_back(net.node("Unsqueeze", full + ".direction", {reordered, ints(net, full + ".axes", {0})}));
  }
  return net.node("Concat", name + ".both", std::move(parts), along(0));
}

/// x is [frames, batch, features]; the result is [frames, batch, 2 * hidden].
ValueId lstm_layer(GraphBuilder& net, int64_t layer, ValueId x) {
  const auto parameter = [&](const char* part) { return fmt::format("lstm.{}_l{}", part, layer); };
  const int64_t rows = kGates * kHidden;
  const ValueId w = both(net, parameter("weight_ih"), {rows, net.dim(x, 2)}, Role::kFilter);
  const ValueId r = both(net, parameter("weight_hh"), {rows, kHidden}, Role::kFilter);
  const std::vector<ValueId> biases{both(net, parameter("bias_ih"), {rows}, Role::kBias),
                                    both(net, parameter("bias_hh"), {rows}, Role::kBias)};
  const ValueId b = net.node("Concat", parameter("bias"), biases, along(1));
  graph::Attributes attributes;
  attributes.set("hidden_size", kHidden);
  attributes.set("direction", std::string("bidirectional"));
  const std::string name = fmt::format("lstm.{}", layer);
  const ValueId y = net.node("LSTM", name, {x, w, r, b}, std::move(attributes));
  return reshape(net, name + ".directions", transpose(net, name + ".by_frame", y, {0, 2, 1, 3}),
                 {0, 0, 2 * kHidden});
}

}  // namespace

void build_bilstm(GraphBuilder& net) {
  ValueId x = net.input("input", tensor::DType::kFloat32,
                        {graph::Dim::symbol("batch"), graph::Dim::symbol("frames"), kFeatures});
  x = transpose(net, "by_frame", x, {1, 0, 2});
  for (int64_t layer = 0; layer < kLayers; ++layer) x = lstm_layer(net, layer, x);
  net.output("output",
             dense(net, "linear", transpose(net, "by_sample", x, {1, 0, 2}), {.features = kClasses}));
}

}  // namespace hone::importer
