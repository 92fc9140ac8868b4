// The tactic for LSTM, GRU and RNN in tiles of ours.
#include <cstring>

#include "device/cpu/packed_form.hpp"
#include "device/cpu/tactics.hpp"
#include "device/cpu/tiled_recurrent_kernel.hpp"
#include "tensor/saturate.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using tensor::DType;
using tensor::Tensor;

/// The constant W or R: for each direction and gate its panels of columns, units by units.
PackedConstant pack_gates(const StepRequest& request, const RecurrentLayer& layer, RecurrentInput operand,
                          TileType type, engine::WeightStore& weights) {
  const int64_t depth = request.inputs[operand].shape.back();
  const int64_t width = type == TileType::kFloat32 ? 1 : 2;
  const int64_t units = parts_of(depth, width);
  const int64_t panels = parts_of(layer.hidden, kTileColumns);
  const int64_t gates = layer.directions() * layer.cell.gate_count();
  const std::string word =
      fmt::format("{}:tiles:{}x{}x{}", width == 1 ? "f32" : "bf16", gates, layer.hidden, depth);
  const auto bytes = static_cast<size_t>(4 * gates * panels * units * kTileColumns);
  return packed_form(request, operand, word, bytes, weights, [&](const Tensor& constant, std::byte* to) {
    const Tensor plain = width == 1 ? constant : tensor::saturated(constant, DType::kBFloat16);
    const size_t element = width == 1 ? 4 : 2;
    for (int64_t gate = 0; gate < gates; ++gate) {
      for (int64_t unit = 0; unit < layer.hidden; ++unit) {
        const std::byte* from =
            plain.bytes() + (gate * layer.hidden + unit) * depth * static_cast<int64_t>(element);
        const int64_t panel = gate * panels + unit / kTileColumns;
        for (int64_t i = 0; i < depth; ++i) {
          const int64_t at =
              ((panel * units + i / width) * kTileColumns + unit % kTileColumns) * width + i % width;
          std::memcpy(to + at * static_cast<int64_t>(element), from + i * static_cast<int64_t>(element),
                      element);
        }
      }
    }
  });
}

Refusal refuse(const StepRequest& request, const RecurrentLayer& layer, TileType type) {
  const graph::Node& node = request.node;
  if (request.graph.value(node.inputs[kX]).type.dtype != DType::kFloat32) return "only float32 models";
  if (request.emulates_bf16()) return "bf16 is emulated";
  if (!has_tiles(type)) return "the CPU has no vectors for operands of this type";
  if (layer.features == 0 || layer.hidden == 0) return "the input has no features";
  if (layer.steps == 0 || layer.batch == 0) return "there are no steps";
  for (const size_t i : {kW, kR}) {
    if (request.graph.constant(node.inputs[i]) == nullptr && !request.graph.value(node.inputs[i]).constant)
      return "the weights are not constant";
  }
  return {};
}

Offer offer_tiled(const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const bool half = request.storage() == DType::kBFloat16;
  const TileType type = half ? TileType::kBFloat16 : TileType::kFloat32;
  const RecurrentLayer layer(request);
  if (Refusal reason = refuse(request, layer, type)) return Offer::refuse(std::move(reason));
  const PackedConstant w = pack_gates(request, layer, kW, type, weights);
  const PackedConstant r = pack_gates(request, layer, kR, type, weights);
  Offer offer = tiled_recurrent_kernel(
      request, layer, type, {static_cast<const uint32_t*>(w.data), static_cast<const uint32_t*>(r.data)});
  offer.inputs.resize(request.inputs.size());
  offer.inputs[kX] = {request.storage(), request.inputs[kX].shape, Layout::kPlain};
  if (node.has_input(kLengths))
    offer.inputs[kLengths] = {DType::kInt32, request.inputs[kLengths].shape, Layout::kPlain};
  for (const size_t i : {kB, kInitialH, kInitialC, kPeepholes}) {
    if (node.has_input(i)) offer.inputs[i] = {DType::kFloat32, request.inputs[i].shape, Layout::kPlain};
  }
  offer.outputs = request.outputs;
  if (node.has_output(kY)) offer.outputs[kY].dtype = request.storage();
  offer.packed = {w.key, r.key};
  return offer;
}

}  // namespace

void add_tiled_recurrent_tactics(TacticList& list) {
  list.push_back({.name = "tiled_recurrent", .operators = {"LSTM", "GRU", "RNN"}, .make = offer_tiled});
}

}  // namespace hone::device::cpu
