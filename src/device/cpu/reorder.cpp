// See reorder.hpp.
#include "device/cpu/reorder.hpp"

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/tactics.hpp"
#include "graph/image_blocks.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;

class CopyKernel final : public engine::Kernel {
 public:
  explicit CopyKernel(size_t bytes) : bytes_(bytes) {}
  void run(const engine::Run& run) const override {
    if (bytes_ != 0) std::memcpy(run.outputs[0], run.inputs[0], bytes_);
  }

 private:
  size_t bytes_;
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
      constexpr int64_t kChunk = 512;
#pragma omp parallel for schedule(static) if (n > 16 * kChunk)
      for (int64_t begin = 0; begin < n; begin += kChunk) {
        tensor::BFloat16 narrowed[kChunk];
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

Offer offer_transpose(const StepRequest& request, engine::WeightStore&) {
  const engine::Shape& shape = request.inputs[0].shape;
  if (shape.empty() || shape.size() > 6) return Offer::refuse("rank 1 to 6 only");
  std::vector<int64_t> perm(shape.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(perm.size() - 1 - i);
  if (request.node.attributes.has("perm")) perm = request.node.attributes.get_ints("perm");
  // The input seen in the output's order of dimensions: a reorder to row-major is the transpose.
  const auto strides = tensor::row_major_strides(shape);
  memory::dims dims;
  memory::dims from;
  for (const int64_t axis : perm) {
    dims.push_back(shape[static_cast<size_t>(axis)]);
    from.push_back(strides[static_cast<size_t>(axis)]);
  }
  return moved(request, dims, from);
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
  return reorder_kernel(onednn_desc(from), onednn_desc(to));
}

std::shared_ptr<const engine::Kernel> make_rounding_kernel(std::shared_ptr<const engine::Kernel> kernel,
                                                           std::vector<TensorDesc> outputs) {
  return std::make_shared<RoundingKernel>(std::move(kernel), std::move(outputs));
}

void add_reorder_tactics(TacticList& list) {
  list.push_back({.name = "onednn_reorder", .operators = {"Transpose"}, .make = offer_transpose});
  list.push_back(
      {.name = "onednn_reorder", .operators = {"DepthToSpace", "SpaceToDepth"}, .make = offer_blocks});
}

}  // namespace hone::device::cpu
