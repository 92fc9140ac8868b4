// See reorder.hpp.
#include "device/cpu/reorder.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/quantized/operands.hpp"
#include "device/cpu/strided_dims.hpp"
#include "device/cpu/tactics.hpp"
#include "engine/transposition.hpp"
#include "graph/image_blocks.hpp"
#include "tensor/saturate.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;

class CopyKernel final : public engine::Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(bytes) {}
  void run(const engine::Run& run) const override {
    if (bytes_ != 0 && run.outputs[0] != run.inputs[0]) std::memcpy(run.outputs[0], run.inputs[0], bytes_);
  }

 private:
  size_t bytes_;
};

constexpr int64_t kChunk = 512;

/// float32 to bfloat16 where the elements lie alike.
class NarrowingKernel final : public engine::Kernel {
 public:
  explicit NarrowingKernel(int64_t count) : count_(count) {}

  void run(const engine::Run& run) const override {
    const auto* from = static_cast<const float*>(run.inputs[0]);
    auto* to = static_cast<BFloat16*>(run.outputs[0]);
#pragma omp parallel for schedule(static) if (count_ > 16 * kChunk)
    for (int64_t begin = 0; begin < count_; begin += kChunk)
      narrow(from + begin, to + begin, static_cast<size_t>(std::min(kChunk, count_ - begin)));
  }

 private:
  int64_t count_;
};

/// A reorder from float32 to bfloat16 that keeps finite values finite, which oneDNN's does not. If it made
/// infinities, which is rare, it runs again on the input clamped to bfloat16's range.
class SaturatingKernel final : public engine::Kernel {
 public:
  SaturatingKernel(std::shared_ptr<const engine::Kernel> reorder, int64_t from_count, int64_t to_count)
      : reorder_(std::move(reorder)), from_count_(from_count), to_count_(to_count) {}

  void run(const engine::Run& run) const override {
    const std::unique_ptr<engine::KernelState> own = run.state == nullptr ? make_state() : nullptr;
    auto& state = static_cast<State&>(own == nullptr ? *run.state : *own);
    engine::Run first = run;
    first.state = state.reorder.get();
    reorder_->run(first);
    if (!made_infinity(static_cast<const BFloat16*>(run.outputs[0]))) return;
    const auto* from = static_cast<const float*>(run.inputs[0]);
    std::vector<float>& clamped = state.clamped;
    clamped.assign(from, from + from_count_);
    for (float& value : clamped) {
      if (tensor::is_beyond<BFloat16>(value)) value = tensor::saturated<BFloat16>(value);
    }
    const void* const inputs[] = {clamped.data()};
    engine::Run again = first;
    again.inputs = inputs;
    reorder_->run(again);
  }

  std::unique_ptr<engine::KernelState> make_state() const override {
    auto state = std::make_unique<State>();
    state->reorder = reorder_->make_state();
    return state;
  }

 private:
  struct State final : engine::KernelState {
    std::unique_ptr<engine::KernelState> reorder;
    /// Empty until infinities are met for the first time.
    std::vector<float> clamped;
  };

  bool made_infinity(const BFloat16* to) const {
    bool found = false;
#pragma omp parallel for schedule(static) reduction(|| : found) if (to_count_ > 64 * kChunk)
    for (int64_t begin = 0; begin < to_count_; begin += kChunk)
      found = found || has_infinity(to + begin, static_cast<size_t>(std::min(kChunk, to_count_ - begin)));
    return found;
  }

  std::shared_ptr<const engine::Kernel> reorder_;
  int64_t from_count_;
  int64_t to_count_;
};

class RoundingKernel final : public engine::Kernel {
 public:
  RoundingKernel(std::shared_ptr<const engine::Kernel> kernel, std::vector<TensorDesc> outputs)
      : kernel_(std::move(kernel)), outputs_(std::move(outputs)) {}

  void run(const engine::Run& run) const override {
    kernel_->run(run);
    const std::span<void* const> outputs = run.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == nullptr || outputs_[i].dtype != tensor::DType::kFloat32) continue;
      auto* x = static_cast<float*>(outputs[i]);
      const int64_t n = outputs_[i].bytes() / static_cast<int64_t>(sizeof(float));
#pragma omp parallel for schedule(static) if (n > 16 * kChunk)
      for (int64_t begin = 0; begin < n; begin += kChunk) {
        BFloat16 narrowed[kChunk];
        const auto count = static_cast<size_t>(std::min(kChunk, n - begin));
        narrow(x + begin, narrowed, count);
        widen(narrowed, x + begin, count);
      }
    }
  }

  std::unique_ptr<engine::KernelState> make_state() const override { return kernel_->make_state(); }

 private:
  std::shared_ptr<const engine::Kernel> kernel_;
  std::vector<TensorDesc> outputs_;
};

std::shared_ptr<const engine::Kernel> reorder_kernel(const memory::desc& from, const memory::desc& to) {
  const dnnl::reorder::primitive_desc pd(onednn_engine(), from, onednn_engine(), to);
  auto kernel = std::make_shared<OnednnKernel>(dnnl::reorder(pd));
  kernel->bind_input(0, DNNL_ARG_FROM, from);
  kernel->bind_output(0, DNNL_ARG_TO, to);
  return kernel;
}

/// Dimensions that oneDNN has, less one for the halves of elements of eight bytes.
constexpr size_t kMostLoops = DNNL_MAX_NDIMS - 1;

/// oneDNN's name for an element type of this size, or of half of it, that it copies unchanged.
tensor::DType carrier(tensor::DType dtype) {
  switch (tensor::dtype_size(dtype)) {
    case 1: return tensor::DType::kUInt8;
    case 2: return tensor::DType::kBFloat16;
    default: return tensor::DType::kInt32;
  }
}

/// The input's elements in another order: those of the output as `dims`, whose strides in the input are
/// `from`.
Offer moved(const StepRequest& request, memory::dims dims, memory::dims from) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (tensor::element_count(shape) == 0) return Offer::refuse("the tensor is empty");
  const bool floating = request.outputs[0].dtype == tensor::DType::kFloat32;
  const tensor::DType dtype = floating ? request.storage() : request.outputs[0].dtype;
  if (tensor::dtype_size(dtype) == 8) {
    // Its halves are one more axis.
    for (int64_t& stride : from) stride *= 2;
    dims.push_back(2);
    from.push_back(1);
  }
  return guard_onednn([&] {
    const auto type = onednn_type(carrier(dtype));
    const auto to = tensor::row_major_strides(engine::Shape(dims.begin(), dims.end()));
    Offer offer;
    offer.inputs = {{dtype, shape, Layout::kPlain}};
    offer.outputs = {{dtype, request.outputs[0].shape, Layout::kPlain}};
    offer.kernel = reorder_kernel({dims, type, from}, {dims, type, memory::dims(to.begin(), to.end())});
    return offer;
  });
}

std::vector<int64_t> order_of(const StepRequest& request) {
  return engine::transposition_of(request.node.attributes.get_or<std::vector<int64_t>>("perm", {}),
                                  request.inputs[0].shape.size());
}

Offer offer_same_bytes(const StepRequest& request, engine::WeightStore&) {
  const engine::Shape& shape = request.inputs[0].shape;
  const auto found = engine::same_bytes_transposed(shape, order_of(request), request.inputs[0].layout);
  if (!found) return Offer::refuse("elements lie in another order");
  const bool floating = request.outputs[0].dtype == tensor::DType::kFloat32;
  const tensor::DType dtype = floating ? request.storage() : request.outputs[0].dtype;
  if (!floating && !is_byte(dtype) && (found->input != Layout::kPlain || found->result != Layout::kPlain))
    return Offer::refuse("only images of float32 and of bytes lie otherwise than plain");
  Offer offer;
  offer.inputs = {{dtype, shape, found->input}};
  offer.outputs = {{dtype, request.outputs[0].shape, found->result}};
  offer.concatenates = true;
  offer.kernel = std::make_shared<CopyKernel>(static_cast<size_t>(offer.outputs[0].bytes()));
  return offer;
}

Offer offer_transpose(const StepRequest& request, engine::WeightStore&) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (tensor::element_count(shape) == 0) return Offer::refuse("the tensor is empty");
  const std::vector<int64_t> perm = order_of(request);
  // The input seen in the output's order of dimensions: a reorder to row-major is the transpose.
  const auto strides = tensor::row_major_strides(shape);
  StridedDims walk{.sizes = {}, .strides = {{}, {}}};
  for (const int64_t axis : perm) {
    walk.sizes.push_back(shape[static_cast<size_t>(axis)]);
    walk.strides[0].push_back(strides[static_cast<size_t>(axis)]);
  }
  walk.strides[1] = tensor::row_major_strides(walk.sizes);
  walk.merge();
  if (walk.sizes.size() > kMostLoops)
    return Offer::refuse(fmt::format("more than {} dimensions that move apart", kMostLoops));
  const auto dims_of = [](const engine::Shape& sizes) { return memory::dims(sizes.begin(), sizes.end()); };
  return moved(request, dims_of(walk.sizes), dims_of(walk.strides[0]));
}

Offer offer_blocks(const StepRequest& request, engine::WeightStore&) {
  const auto blocks_of =
      request.node.op == "DepthToSpace" ? graph::depth_to_space_blocks : graph::space_to_depth_blocks;
  const graph::ImageBlocks blocks =
      blocks_of(request.node.attributes, request.inputs[0].shape, /*channels_last=*/false);
  return moved(request, blocks.sizes, blocks.strides);
}

}  // namespace

std::shared_ptr<const engine::Kernel> make_reorder_kernel(const TensorDesc& from, const TensorDesc& to) {
  if (engine::same_arrangement(from, to))
    return std::make_shared<CopyKernel>(static_cast<size_t>(to.bytes()));
  if (from.shape != to.shape) fail_internal("a reorder from {} to {}", from.text(), to.text());
  const bool narrows = from.dtype == tensor::DType::kFloat32 && to.dtype == tensor::DType::kBFloat16;
  TensorDesc alike = from;
  alike.dtype = to.dtype;
  const auto count = [](const TensorDesc& desc) {
    return desc.bytes() / static_cast<int64_t>(tensor::dtype_size(desc.dtype));
  };
  if (narrows && engine::same_arrangement(alike, to)) return std::make_shared<NarrowingKernel>(count(from));
  auto reorder = reorder_kernel(onednn_desc(from), onednn_desc(to));
  if (!narrows) return reorder;
  return std::make_shared<SaturatingKernel>(std::move(reorder), count(from), count(to));
}

std::shared_ptr<const engine::Kernel> make_rounding_kernel(std::shared_ptr<const engine::Kernel> kernel,
                                                           std::vector<TensorDesc> outputs) {
  return std::make_shared<RoundingKernel>(std::move(kernel), std::move(outputs));
}

void add_reorder_tactics(TacticList& list) {
  list.push_back({.name = "same_bytes", .operators = {"Transpose"}, .make = offer_same_bytes});
  list.push_back({.name = "onednn_reorder", .operators = {"Transpose"}, .make = offer_transpose});
  list.push_back(
      {.name = "onednn_reorder", .operators = {"DepthToSpace", "SpaceToDepth"}, .make = offer_blocks});
}

}  // namespace hone::device::cpu
