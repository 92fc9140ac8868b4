// Matrix products through cuBLASLt.
#include <charconv>

#include "device/cuda/plugin/matrix_request.hpp"
#include "device/cuda/plugin/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;

constexpr int kMostVariants = 16;

class MatrixTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "cublaslt"; }
  bool handles(const std::string& op) const override { return is_product(op); }

  std::vector<std::string> variants(const StepRequest& request) const override {
    Product product;
    if (!read_product(request, product).empty()) return {};
    std::vector<std::string> result;
    for (size_t i = 0; i < Matmul(product).recommended(kMostVariants).size(); ++i)
      result.push_back(fmt::format("h{}", i));
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    Product product;
    std::string reason = read_product(request, product);
    return Offer::refuse(reason.empty() ? "cuBLASLt recommends no algorithm for it" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    Product product;
    if (std::string reason = read_product(request, product); !reason.empty())
      return Offer::refuse(std::move(reason));
    size_t index = 0;
    const auto [end, error] = std::from_chars(variant.data() + 1, variant.data() + variant.size(), index);
    auto matmul = std::make_shared<Matmul>(product);
    const auto choices = matmul->recommended(kMostVariants);
    if (variant.empty() || variant[0] != 'h' || error != std::errc() ||
        end != variant.data() + variant.size() || index >= choices.size())
      return Offer::refuse(fmt::format("'{}' is no algorithm that cuBLASLt recommends", variant));
    return make(request, product, matmul, choices[index], weights);
  }

 private:
  static Offer make(const StepRequest& request, const Product& product, const std::shared_ptr<Matmul>& matmul,
                    const cublasLtMatmulHeuristicResult_t& choice, engine::WeightStore& weights) {
    Offer offer;
    const auto plain = [&](const Shape& shape) { return TensorDesc{product.dtype, shape, Layout::kPlain}; };
    const auto like_result = [&](const Shape& shape) {
      return TensorDesc{product.result, shape, Layout::kPlain};
    };
    offer.inputs.resize(request.inputs.size());
    offer.inputs[0] = plain(request.inputs[0].shape);
    offer.outputs = {like_result(request.outputs[0].shape)};
    PackedConstant packed;
    if (request.graph.value(request.node.inputs[1]).constant && product.shared_w) {
      const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
      packed = pack_matrix(request, 1, product.dtype, transposed, weights);
      offer.packed = {packed.key};
    } else {
      offer.inputs[1] = plain(request.inputs[1].shape);
    }
    if (product.bias) offer.inputs[2] = like_result(request.inputs[2].shape);
    if (product.addend >= 0)
      offer.inputs[static_cast<size_t>(product.addend)] = like_result(request.outputs[0].shape);
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
};

}  // namespace

void add_matrix_tactics(TacticList& list) { list.push_back(std::make_unique<MatrixTactic>()); }

}  // namespace hone::device::cuda
