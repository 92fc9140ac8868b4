// Matrix products through cuBLASLt, and by a kernel of ours where there are few rows. Row-major products are
// asked for transposed, as cuBLASLt counts columns first: y^T = w * x^T, so that the bias runs along the rows
// of its result.
#include <cublasLt.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "device/cuda/plugin/kernels/matrix_vector.hpp"
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

constexpr size_t kWorkspaceBytes = size_t{32} << 20;
constexpr int kMostVariants = 16;

void check(cublasStatus_t status, std::string_view what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail_environment("{} failed in cuBLASLt: {}", what, cublasLtGetStatusString(status));
}

cublasLtHandle_t handle() {
  static cublasLtHandle_t instance = [] {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "starting cuBLASLt");
    return made;
  }();
  return instance;
}

/// One of cuBLASLt's opaque objects with its destroyer.
template <class T, cublasStatus_t (*kDestroy)(T)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (object_ != nullptr) (void)kDestroy(object_);
  }
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T get() const { return object_; }
  T* put() { return &object_; }

 private:
  T object_ = nullptr;
};
using Layout2 = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return CUDA_R_16F;
    case DType::kBFloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

/// y [batch, rows, columns] = activation(alpha * x [batch, rows, depth] * w + c + bias).
struct Product {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  float alpha = 1;
  /// w is stored as (columns, depth); otherwise as (depth, columns).
  bool transposed = false;
  /// w is the same for the whole batch.
  bool shared_w = false;
  bool bias = false;
  /// Node input that is added to the product; -1 for none.
  int addend = -1;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  DType dtype = DType::kFloat32;
  /// Of the result: float32 for what leaves the graph.
  DType result = DType::kFloat32;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

class Matmul {
 public:
  explicit Matmul(const Product& product) : product_(product) {
    const cudaDataType_t type = data_type(product.dtype);
    check(cublasLtMatmulDescCreate(operation_.put(), product.compute, CUDA_R_32F), "describing a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, product.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, product.epilogue);
    if (product.bias) {
      // A pointer is part of the description; heuristics only ask whether there is one.
      set_bias(reinterpret_cast<const void*>(kAlignment));
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(product.result));
    }
    const int64_t w_rows = product.transposed ? product.depth : product.columns;
    const int64_t w_columns = product.transposed ? product.columns : product.depth;
    create(w_, type, w_rows, w_columns, product.shared_w ? 0 : w_rows * w_columns);
    create(x_, type, product.depth, product.rows, product.depth * product.rows);
    create(y_, data_type(product.result), product.columns, product.rows, product.columns * product.rows);
  }

  std::vector<cublasLtMatmulHeuristicResult_t> recommended() const {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.put()), "stating a preference");
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspaceBytes, sizeof kWorkspaceBytes),
          "stating a preference");
    std::vector<cublasLtMatmulHeuristicResult_t> results(kMostVariants);
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(handle(), operation_.get(), w_.get(), x_.get(), y_.get(), y_.get(),
                                       preference.get(), kMostVariants, results.data(),
                                       &count) != CUBLAS_STATUS_SUCCESS) {
      count = 0;
    }
    results.resize(static_cast<size_t>(count));
    return results;
  }

  void run(const cublasLtMatmulHeuristicResult_t& choice, const void* w, const void* x, const void* bias,
           const void* addend, void* y, void* workspace, cudaStream_t stream) {
    if (product_.bias) set_bias(bias);
    const float beta = product_.addend >= 0 ? 1.0f : 0.0f;
    check(cublasLtMatmul(handle(), operation_.get(), &product_.alpha, w, w_.get(), x, x_.get(), &beta,
                         addend == nullptr ? y : addend, y_.get(), y, y_.get(), &choice.algo, workspace,
                         choice.workspaceSize, stream),
          "a matrix product");
  }

 private:
  static constexpr uintptr_t kAlignment = 256;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof value),
          "describing a product");
  }
  void set_bias(const void* bias) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

  void create(Layout2& layout, cudaDataType_t type, int64_t rows, int64_t columns, int64_t stride) const {
    check(cublasLtMatrixLayoutCreate(layout.put(), type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), rows),
          "describing a matrix");
    if (product_.batch == 1) return;
    const auto batch = static_cast<int32_t>(product_.batch);
    check(cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                           sizeof batch),
          "describing a matrix");
    check(cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                           sizeof stride),
          "describing a matrix");
  }

  Product product_;
  Operation operation_;
  Layout2 w_;
  Layout2 x_;
  Layout2 y_;
};

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
    if (tensor::element_count(request.inputs[2].shape) != product.columns)
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
  bool handles(const std::string& op) const override {
    return op == "Gemm" || op == "FusedGemm" || op == "MatMul" || op == "FusedMatMul";
  }

  std::vector<std::string> variants(const StepRequest& request) const override {
    Product product;
    if (!read_product(request, product).empty()) return {};
    std::vector<std::string> result;
    for (size_t i = 0; i < Matmul(product).recommended().size(); ++i) result.push_back(fmt::format("h{}", i));
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
    const auto choices = matmul->recommended();
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

/// Few rows by a kernel of ours.
class MatrixVectorTactic final : public CudaTactic {
 public:
  std::string_view name() const override { return "matrix_vector"; }
  bool handles(const std::string& op) const override {
    return op == "Gemm" || op == "FusedGemm" || op == "MatMul" || op == "FusedMatMul";
  }

  Offer offer(const StepRequest& request, engine::WeightStore& weights) const override {
    Product product;
    if (std::string reason = read_product(request, product); !reason.empty())
      return Offer::refuse(std::move(reason));
    if (!request.graph.value(request.node.inputs[1]).constant || !product.shared_w)
      return Offer::refuse("the matrix is not constant");
    if (product.bias && !request.graph.value(request.node.inputs[2]).constant)
      return Offer::refuse("the bias is not constant");
    MatrixVector size{product.rows, product.columns, product.depth, product.alpha};
    if (product.addend >= 0) return Offer::refuse("its epilogue has an operand");
    if (product.epilogue == CUBLASLT_EPILOGUE_RELU || product.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) {
      size.low = 0;
    } else if (product.epilogue != CUBLASLT_EPILOGUE_DEFAULT && product.epilogue != CUBLASLT_EPILOGUE_BIAS) {
      return Offer::refuse("its epilogue is more than a rectifier");
    }
    if (std::string reason = matrix_vector_refusal(size); !reason.empty())
      return Offer::refuse(std::move(reason));
    const bool transposed = is_gemm(request.node) && request.node.attributes.get_int("transB") != 0;
    const PackedConstant packed = pack_matrix(request, 1, product.dtype, transposed, weights);
    Offer offer;
    offer.inputs.resize(request.inputs.size());
    offer.inputs[0] = {product.dtype, request.inputs[0].shape, Layout::kPlain};
    if (product.bias) offer.inputs[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
    offer.outputs = {{product.result, request.outputs[0].shape, Layout::kPlain}};
    offer.packed = {packed.key};
    const auto x_bytes = static_cast<size_t>(tensor::element_count(request.inputs[0].shape)) *
                         tensor::dtype_size(product.dtype);
    offer.scratch_bytes = static_cast<int64_t>(x_bytes);
    offer.kernel = std::make_shared<LaunchKernel>(
        "a product with few rows",
        [=, bias = product.bias, type = float_type(product.dtype), result = float_type(product.result)](
            auto inputs, auto outputs, void* scratch, const LaunchOptions& options) {
          const void* x = inputs[0];
          constexpr uintptr_t kAlignment = 16;
          if (reinterpret_cast<uintptr_t>(x) % kAlignment != 0) {  // it is a part of a concatenation
            const cudaError_t status =
                cudaMemcpyAsync(scratch, x, x_bytes, cudaMemcpyDeviceToDevice, options.stream);
            if (status != cudaSuccess) return status;
            x = scratch;
          }
          return matrix_vector(x, packed.device->data(),
                               bias ? static_cast<const float*>(inputs[2]) : nullptr, outputs[0], type,
                               result, size, options);
        },
        true);
    return offer;
  }
};

}  // namespace

void add_matrix_tactics(TacticList& list) {
  list.push_back(std::make_unique<MatrixTactic>());
  list.push_back(std::make_unique<MatrixVectorTactic>());
}

}  // namespace hone::device::cuda
