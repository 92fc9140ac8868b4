// Runs matrix products through cuBLASLt, including 1 x 1 convolutions.
#include <charconv>
#include <functional>

#include "device/cuda/plugin/tactics/matrix_request.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;

constexpr int kMostVariants = 16;

/// Returns an empty refusal if the product is filled in; otherwise the reason why the step is not a product.
Refusal read(const StepRequest& request, Product& product) {
  return is_convolution(request.node.op) ? read_pixel_product(request, product)
                                         : read_product(request, product);
}

/// True if the second operand is packed when the engine is loaded.
bool packs(const StepRequest& request) {
  return request.graph.value(request.node.inputs[1]).constant &&
         (is_convolution(request.node.op) || request.inputs[1].shape.size() == 2);
}

/// The constant matrix as the product reads it: rows of its depth.
PackedConstant pack(Gpu& gpu, const StepRequest& request, const Product& product,
                    engine::WeightStore& weights) {
  if (is_convolution(request.node.op))
    return pack_filter(gpu, request, 1, product.dtype, FilterOrder::kKrsc, product.depth, weights);
  const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
  return pack_matrix(gpu, request, 1, product.dtype, transposed, weights);
}

Offer make(Gpu& gpu, const StepRequest& request, const Product& product,
           const std::shared_ptr<const Matmul>& matmul, const cublasLtMatmulHeuristicResult_t& choice,
           engine::WeightStore& weights) {
  Offer offer;
  const Layout layout = is_convolution(request.node.op) ? Layout::kChannelsLast : Layout::kPlain;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {product.dtype, request.inputs[0].shape, layout};
  const TensorDesc result{product.result, request.outputs[0].shape, layout};
  offer.outputs = {result};
  PackedConstant packed;
  if (packs(request)) {
    packed = pack(gpu, request, product, weights);
    offer.packed = {packed.key};
  } else {
    offer.inputs[1] = {product.dtype, request.inputs[1].shape, Layout::kPlain};
  }
  if (product.bias) offer.inputs[2] = {product.result, request.inputs[2].shape, Layout::kPlain};
  if (product.addend >= 0) offer.inputs[static_cast<size_t>(product.addend)] = result;
  offer.scratch_bytes = static_cast<int64_t>(choice.workspaceSize);
  offer.kernel = std::make_shared<LaunchKernel>(
      "a matrix product", [=](auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
        const void* w = packed.device != nullptr ? packed.device->data() : inputs[1];
        matmul->run(choice, w, inputs[0], product.bias ? inputs[2] : nullptr,
                    product.addend >= 0 ? inputs[static_cast<size_t>(product.addend)] : nullptr, outputs[0],
                    scratch, options.stream);
        return cudaSuccess;
      });
  return offer;
}

std::vector<std::string> variants(Cublaslt& cublaslt, const StepRequest& request) {
  Product product;
  if (read(request, product)) return {};
  std::vector<std::string> result;
  for (size_t i = 0; i < Matmul(product, cublaslt).recommended(kMostVariants).size(); ++i)
    result.push_back(fmt::format("h{}", i));
  return result;
}

Offer refuse(const StepRequest& request, engine::WeightStore&) {
  Product product;
  Refusal reason = read(request, product);
  return Offer::refuse(!reason ? "cuBLASLt recommends no algorithm for it" : std::move(reason));
}

Offer offer_variant(Gpu& gpu, Cublaslt& cublaslt, const StepRequest& request, engine::WeightStore& weights,
                    std::string_view variant) {
  Product product;
  if (Refusal reason = read(request, product)) return Offer::refuse(std::move(reason));
  size_t index = 0;
  const auto [end, error] = std::from_chars(variant.data() + 1, variant.data() + variant.size(), index);
  auto matmul = std::make_shared<Matmul>(product, cublaslt);
  const auto choices = matmul->recommended(kMostVariants);
  if (variant.empty() || variant[0] != 'h' || error != std::errc() ||
      end != variant.data() + variant.size() || index >= choices.size())
    return Offer::refuse(fmt::format("'{}' is no algorithm that cuBLASLt recommends", variant));
  return make(gpu, request, product, matmul, choices[index], weights);
}

}  // namespace

void add_matrix_tactics(TacticList& list, Gpu& gpu, Cublaslt& cublaslt) {
  list.push_back({.name = "cublaslt",
                  .operators = {"Gemm", "FusedGemm", "MatMul", "FusedMatMul", "Conv", "FusedConv"},
                  .make = refuse,
                  .list_variants = std::bind_front(variants, std::ref(cublaslt)),
                  .make_variant = std::bind_front(offer_variant, std::ref(gpu), std::ref(cublaslt))});
}

}  // namespace hone::device::cuda
