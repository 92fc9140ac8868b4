// Elementwise operations between bytes: a table of 256 results where each depends on one number only, loops
// over short runs of floats otherwise.
#include <algorithm>
#include <array>
#include <numeric>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/quantized/byte_table.hpp"
#include "device/cpu/quantized/stages.hpp"
#include "device/cpu/quantized/tactics.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

/// Elements that are worth starting threads for.
constexpr int64_t kWorthThreads = 1 << 16;
constexpr auto kPart = static_cast<int64_t>(kRun);
/// Elements of a table's results that one thread takes at a time.
constexpr int64_t kTablePart = 1 << 16;

class TableKernel final : public engine::Kernel {
 public:
  TableKernel(size_t input, const ByteTable& table, int64_t count)
      : input_(input), table_(table), count_(count) {}

  void run(const engine::Run& run) const override {
    const auto* x = static_cast<const uint8_t*>(run.inputs[input_]);
    auto* y = static_cast<uint8_t*>(run.outputs[0]);
    const int64_t parts = (count_ + kTablePart - 1) / kTablePart;
#pragma omp parallel for schedule(static) if (parts > 1)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = part * kTablePart;
      look_up(table_, x + first, y + first, std::min(kTablePart, count_ - first));
    }
  }

 private:
  size_t input_;
  ByteTable table_;
  int64_t count_;
};

class MapKernel final : public engine::Kernel {
 public:
  MapKernel(size_t input, ByteScale from, StageProgram stages, int64_t count)
      : input_(input), from_(from), stages_(std::move(stages)), count_(count) {}

  void run(const engine::Run& run) const override {
#pragma omp parallel for schedule(static) if (count_ > kWorthThreads)
    for (int64_t first = 0; first < count_; first += kPart) {
      alignas(64) float x[kRun];
      const auto n = static_cast<size_t>(std::min(kPart, count_ - first));
      read_bytes(run.inputs[input_], from_, x, first, n);
      stages_.run(x, first, n, run.inputs, run.outputs[0]);
    }
  }

 private:
  size_t input_;
  ByteScale from_;
  StageProgram stages_;
  int64_t count_;
};

/// The results for all bytes, by the bits of the byte.
ByteTable table_of(size_t input, const ByteScale& from, const StageProgram& stages) {
  ByteTable bytes{};
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::array<float, 256> numbers{};
  read_bytes(bytes.data(), from, numbers.data(), 0, bytes.size());
  std::vector<const void*> inputs(input + 1);
  inputs[input] = bytes.data();
  ByteTable results{};
  stages.run(numbers.data(), 0, numbers.size(), inputs, results.data());
  return results;
}

/// Channels-last where any operand of the result's shape lies so.
Layout common_layout(const StepRequest& request) {
  const engine::Shape& shape = request.outputs[0].shape;
  const bool last = std::any_of(request.inputs.begin(), request.inputs.end(), [&](const TensorDesc& input) {
    return input.shape == shape && input.layout == Layout::kChannelsLast;
  });
  return last ? Layout::kChannelsLast : Layout::kPlain;
}

Offer offer_map(const StepRequest& request, engine::WeightStore&) {
  const auto chain = graph::read_quantized_chain(request.node);
  if (!chain || chain->core != nullptr) return Offer::refuse("no map of dequantized operands");
  const auto from = byte_scale(request, chain->x);
  if (!from || request.inputs[chain->x.value].shape != request.outputs[0].shape)
    return Offer::refuse("its first operand is no bytes of one constant scale");
  const TensorDesc result{request.outputs[0].dtype, request.outputs[0].shape, common_layout(request)};
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  keep_constants(request, *chain, offer);
  StageProgram stages;
  if (Refusal reason = StageProgram::make(request, *chain, result, offer, stages))
    return Offer::refuse(std::move(reason));
  if (!is_byte(result.dtype)) return Offer::refuse("its result is not rounded");
  offer.inputs[chain->x.value] = {from->dtype, result.shape, result.layout};
  offer.outputs = {result};
  const int64_t count = tensor::element_count(result.shape);
  if (stages.is_function(chain->x.value)) {
    offer.kernel =
        std::make_shared<TableKernel>(chain->x.value, table_of(chain->x.value, *from, stages), count);
  } else {
    offer.kernel = std::make_shared<MapKernel>(chain->x.value, *from, std::move(stages), count);
  }
  return offer;
}

}  // namespace

void add_quantized_map_tactics(engine::TacticList& list) {
  list.push_back({.name = "byte_map", .operators = {"Region:quantized_map"}, .make = offer_map});
}

}  // namespace hone::device::cpu
