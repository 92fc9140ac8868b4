// Concat: inputs are copied where producers could not write into the output themselves.
#include <algorithm>
#include <cstring>

#include "device/cpu/quantized/operands.hpp"
#include "device/cpu/tactics.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

/// The output is `outer` rows, each made of one chunk per input.
class ConcatKernel final : public engine::Kernel {
 public:
  ConcatKernel(int64_t outer, std::vector<size_t> chunks) : outer_(outer), chunks_(std::move(chunks)) {
    for (const size_t chunk : chunks_) row_ += chunk;
  }

  void run(const engine::Run& run) const override {
    auto* output = static_cast<std::byte*>(run.outputs[0]);
    size_t offset = 0;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      const auto* input = static_cast<const std::byte*>(run.inputs[i]);
      if (chunks_[i] != 0 && input != output + offset) copy(input, output + offset, chunks_[i]);
      offset += chunks_[i];
    }
  }

 private:
  void copy(const std::byte* from, std::byte* to, size_t chunk) const {
#pragma omp parallel for schedule(static) if (outer_ > 1 && chunk > 4096)
    for (int64_t row = 0; row < outer_; ++row) {
      std::memcpy(to + static_cast<size_t>(row) * row_, from + static_cast<size_t>(row) * chunk, chunk);
    }
  }

  int64_t outer_;
  std::vector<size_t> chunks_;
  size_t row_ = 0;
};

/// The layout all image inputs have already, when chunks of it are whole; plain otherwise.
Layout common_layout(const StepRequest& request, int64_t axis) {
  // Images of bytes are channels-last, whatever those of floats are.
  const bool bytes = is_byte(request.outputs[0].dtype);
  const Layout layout =
      engine::layout_for_shape(bytes ? Layout::kChannelsLast : request.layout, request.outputs[0].shape);
  if (axis != 1 || layout == Layout::kPlain) return Layout::kPlain;
  const int64_t block = engine::layout_block(layout);
  const bool whole = std::all_of(request.inputs.begin(), request.inputs.end(),
                                 [&](const TensorDesc& input) { return input.shape[1] % block == 0; });
  const bool any = std::any_of(request.inputs.begin(), request.inputs.end(),
                               [&](const TensorDesc& input) { return input.layout == layout; });
  return whole && any ? layout : Layout::kPlain;
}

Offer offer_concat(const StepRequest& request, engine::WeightStore&) {
  const engine::Shape& shape = request.outputs[0].shape;
  const int64_t axis =
      tensor::normalize_axis(request.node.attributes.get_int("axis"), static_cast<int64_t>(shape.size()));
  const bool floating = request.outputs[0].dtype == tensor::DType::kFloat32;
  const tensor::DType dtype = floating ? request.storage() : request.outputs[0].dtype;
  const Layout layout = common_layout(request, axis);
  Offer offer;
  for (const TensorDesc& input : request.inputs) offer.inputs.push_back({dtype, input.shape, layout});
  offer.outputs = {{dtype, shape, layout}};
  // Channels-last: channels are the innermost dimension of the memory.
  const bool innermost = layout == Layout::kChannelsLast;
  int64_t outer = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (innermost ? i != 1 : static_cast<int64_t>(i) < axis) outer *= shape[i];
  }
  std::vector<size_t> chunks;
  for (const TensorDesc& input : offer.inputs) {
    chunks.push_back(outer == 0 ? 0 : static_cast<size_t>(input.bytes() / outer));
  }
  offer.concatenates = outer == 1;
  offer.kernel = std::make_shared<ConcatKernel>(outer, std::move(chunks));
  return offer;
}

}  // namespace

void add_concat_tactics(TacticList& list) {
  list.push_back({.name = "concat", .operators = {"Concat"}, .make = offer_concat});
}

}  // namespace hone::device::cpu
