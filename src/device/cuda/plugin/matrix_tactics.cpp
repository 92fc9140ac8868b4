// Matrix products through cuBLASLt, and with a constant matrix by kernels of ours.
#include <algorithm>
#include <charconv>
#include <limits>

#include "device/cuda/plugin/cublaslt.hpp"
#include "device/cuda/plugin/kernels/matrix_vector.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm.hpp"
#include "device/cuda/plugin/tactics.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using graph::PostOp;
using tensor::DType;
using tensor::Precision;

constexpr int kMostVariants = 16;

bool is_product(const std::string& op) {
  return op == "Gemm" || op == "FusedGemm" || op == "MatMul" || op == "FusedMatMul";
}

bool is_gemm(const graph::Node& node) { return node.op == "Gemm" || node.op == "FusedGemm"; }

/// Post-ops that the library's epilogue has: an addition first, then one activation. Empty when they fit.
std::string read_epilogue(const StepRequest& request, Product& product) {
  const auto post_ops = read_post_ops(request, 3);
  if (!post_ops) return "a post-op's operand is broadcast";
  bool activated = false;
  for (const PostOpRequest& post : *post_ops) {
    if (activated) return "a post-op after the activation";
    if (post.op == PostOp::kAdd && post.shape == PostOpRequest::Shape::kFull && product.addend < 0) {
      product.addend = static_cast<int>(post.operand);
    } else if (post.op == PostOp::kRelu) {
      activated = true;
      product.epilogue = product.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    } else if (post.op == PostOp::kGeluTanh) {
      activated = true;
      product.epilogue = product.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    } else {
      return "a post-op that cuBLASLt has not";
    }
  }
  return "";
}

/// Empty when the product is filled in.
std::string read_product(const StepRequest& request, Product& product) {
  const graph::Node& node = request.node;
  const Shape& x = request.inputs[0].shape;
  const Shape& w = request.inputs[1].shape;
  const Shape& y = request.outputs[0].shape;
  if (request.outputs[0].dtype != DType::kFloat32) return "only float32 models";
  if (x.size() < 2 || w.size() < 2) return "an operand is a vector";
  if (tensor::element_count(y) == 0 || x.back() == 0) return "an operand is empty";
  product.dtype = request.compute_dtype;
  const auto& leaving = request.graph.outputs;
  product.result = std::find(leaving.begin(), leaving.end(), node.outputs[0]) != leaving.end()
                       ? DType::kFloat32
                       : product.dtype;
  product.compute = request.precision == Precision::kFp32   ? CUBLAS_COMPUTE_32F_PEDANTIC
                    : request.precision == Precision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                            : CUBLAS_COMPUTE_32F;
  if (is_gemm(node)) {
    if (node.attributes.get_int("transA") != 0) return "the first operand is transposed";
    product.transposed = node.attributes.get_int("transB") != 0;
    product.alpha = node.attributes.get_float("alpha");
    if (node.has_input(2) && node.attributes.get_float("beta") != 1.0f) return "beta is not 1";
  }
  product.depth = x.back();
  product.columns = y.back();
  if (w.size() == 2) {
    // Leading dimensions of a stack are rows of one matrix.
    product.rows = tensor::element_count(x) / product.depth;
    product.shared_w = true;
  } else {
    if (x.size() != w.size() || !std::equal(x.begin(), x.end() - 2, w.begin()))
      return "stacks of different shape";
    product.rows = x[x.size() - 2];
    product.batch = tensor::element_count(x) / (product.rows * product.depth);
  }
  if (node.has_input(2)) {
    if (!tensor::is_row(request.inputs[2].shape, product.columns))
      return "the bias is not one value per column";
    product.bias = true;
    product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  }
  if (request.graph.value(node.inputs[1]).constant && w.size() == 2) product.transposed = true;
  return read_epilogue(request, product);
}

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

/// A product with a constant matrix and at most a rectifier behind it, as kernels of ours take it.
struct LayerProduct {
  Product product;
  float low = -std::numeric_limits<float>::infinity();  ///< of the result
};

/// Empty when it is one and filled in.
std::string read_layer(const StepRequest& request, LayerProduct& layer) {
  Product& product = layer.product;
  if (std::string reason = read_product(request, product); !reason.empty()) return reason;
  if (!request.graph.value(request.node.inputs[1]).constant || !product.shared_w)
    return "the matrix is not constant";
  if (product.bias && !request.graph.value(request.node.inputs[2]).constant)
    return "the bias is not constant";
  if (product.addend >= 0) return "its epilogue has an operand";
  if (product.epilogue == CUBLASLT_EPILOGUE_RELU || product.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) {
    layer.low = 0;
  } else if (product.epilogue != CUBLASLT_EPILOGUE_DEFAULT && product.epilogue != CUBLASLT_EPILOGUE_BIAS) {
    return "its epilogue is more than a rectifier";
  }
  return "";
}

/// `run` gets x, 16-byte aligned, w, the bias or null, and y.
using LayerLaunch = std::function<cudaError_t(const void* x, const void* w, const float* bias, void* y,
                                              const LaunchOptions& options)>;

Offer make_layer_offer(const StepRequest& request, const Product& product, engine::WeightStore& weights,
                       const char* what, LayerLaunch run) {
  const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
  const PackedConstant packed = pack_matrix(request, 1, product.dtype, transposed, weights);
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  offer.inputs[0] = {product.dtype, request.inputs[0].shape, Layout::kPlain};
  if (product.bias) offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
  offer.outputs = {{product.result, request.outputs[0].shape, Layout::kPlain}};
  offer.packed = {packed.key};
  const auto x_bytes =
      static_cast<size_t>(tensor::element_count(request.inputs[0].shape)) * tensor::dtype_size(product.dtype);
  offer.scratch_bytes = static_cast<int64_t>(x_bytes);
  offer.kernel = std::make_shared<LaunchKernel>(
      what,
      [=, bias = product.bias, run = std::move(run)](auto inputs, auto outputs, void* scratch,
                                                     const LaunchOptions& options) {
        const void* x = inputs[0];
        constexpr uintptr_t kAlignment = 16;
        if (reinterpret_cast<uintptr_t>(x) % kAlignment != 0) {  // it is a part of a concatenation
          const cudaError_t status =
              cudaMemcpyAsync(scratch, x, x_bytes, cudaMemcpyDeviceToDevice, options.stream);
          if (status != cudaSuccess) return status;
          x = scratch;
        }
        return run(x, packed.device->data(), bias ? static_cast<const float*>(inputs[2]) : nullptr,
                   outputs[0], options);
      },
      true);
  return offer;
}

/// Few rows by a kernel of ours.
class MatrixVectorTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "matrix_vector"; }
  bool handles(const std::string& op) const override { return is_product(op); }

  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    LayerProduct layer;
    if (std::string reason = read_layer(request, layer); !reason.empty())
      return Offer::refuse(std::move(reason));
    const Product& product = layer.product;
    const MatrixVector size{product.rows, product.columns, product.depth, product.alpha, layer.low};
    if (std::string reason = matrix_vector_refusal(size); !reason.empty())
      return Offer::refuse(std::move(reason));
    return make_layer_offer(
        request, product, weights, "a product with few rows",
        [=, type = float_type(product.dtype), result = float_type(product.result)](
            const void* x, const void* w, const float* bias, void* y, const LaunchOptions& options) {
          return matrix_vector(x, w, bias, y, type, result, size, options);
        });
  }
};

/// More rows as the pixels of a convolution by warpgroup GEMM, in clusters, since the matrix is what takes
/// time to read.
class WarpgroupMatrixTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "warpgroup_matrix"; }
  bool handles(const std::string& op) const override { return is_product(op); }

  std::vector<std::string> variants(const StepRequest& request) const override {
    LayerProduct layer;
    ConvProblem problem;
    std::vector<std::string> result;
    if (!read(request, layer, problem).empty()) return result;
    for (const WarpgroupConfig& config : warpgroup_configs(problem, limits()))
      result.push_back(config.text());
    return result;
  }

  Offer offer(const StepRequest& request, engine::WeightStore&) const override {
    LayerProduct layer;
    ConvProblem problem;
    std::string reason = read(request, layer, problem);
    return Offer::refuse(reason.empty() ? "no configuration fits this device" : std::move(reason));
  }

  Offer offer_variant(const StepRequest& request, engine::WeightStore& weights,
                      std::string_view variant) const override {
    LayerProduct layer;
    ConvProblem problem;
    if (std::string reason = read(request, layer, problem); !reason.empty())
      return Offer::refuse(std::move(reason));
    const auto config = WarpgroupConfig::parse(std::string(variant));
    if (!config) return Offer::refuse(fmt::format("'{}' is no configuration", variant));
    if (std::string reason = warpgroup_refusal(problem, *config, limits()); !reason.empty())
      return Offer::refuse(std::move(reason));
    return make_layer_offer(
        request, layer.product, weights, "a product in clusters",
        [=, config = *config, low = layer.low](const void* x, const void* w, const float* bias, void* y,
                                               const LaunchOptions& options) {
          ConvArgs args;
          args.x = x;
          args.w = w;
          args.bias = bias;
          args.y = y;
          args.next_waits = options.next_waits;
          if (low == 0) args.steps[args.step_count++].op = EpilogueOp::kRelu;
          return launch_warpgroup(problem, config, args, options.pdl, options.stream);
        });
  }

 private:
  static std::string read(const StepRequest& request, LayerProduct& layer, ConvProblem& problem) {
    if (std::string reason = read_layer(request, layer); !reason.empty()) return reason;
    const Product& product = layer.product;
    if (product.alpha != 1) return "alpha is not 1";
    if (product.dtype == DType::kFloat32) return "it multiplies elements of two bytes";
    constexpr int64_t kMost = int64_t{1} << 30;
    if (product.rows > kMost || product.columns > kMost || product.depth > kMost)
      return "an empty or a huge matrix";
    problem.element = product.dtype == DType::kFloat16 ? Element::kHalf : Element::kBFloat16;
    problem.batch = static_cast<int>(product.rows);
    problem.height = problem.width = 1;
    problem.channels = static_cast<int>(product.depth);
    problem.filters = static_cast<int>(product.columns);
    problem.float_result = product.result == DType::kFloat32;
    return "";
  }
};

}  // namespace

void add_matrix_tactics(TacticList& list) {
  list.push_back(std::make_unique<MatrixTactic>());
  list.push_back(std::make_unique<MatrixVectorTactic>());
  list.push_back(std::make_unique<WarpgroupMatrixTactic>());
}

}  // namespace hone::device::cuda
