// Matrix products of cuBLASLt. Row-major products are asked for transposed, as cuBLASLt counts columns first:
// y^T = w * x^T, so that the bias runs along the rows of its result.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::device::cuda {

/// One of cuBLASLt's opaque objects with its destroyer.
template <class T, cublasStatus_t (*kDestroy)(T)>
class CublasltObject {
 public:
  CublasltObject() = default;
  ~CublasltObject() {
    if (object_ != nullptr) (void)kDestroy(object_);
  }
  CublasltObject(CublasltObject&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  CublasltObject& operator=(CublasltObject&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  T get() const { return object_; }
  T* put() { return &object_; }

 private:
  T object_ = nullptr;
};

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
  tensor::DType dtype = tensor::DType::kFloat32;
  /// Of the result: float32 for what leaves the graph.
  tensor::DType result = tensor::DType::kFloat32;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

/// The methods throw an environment error with cuBLASLt's own reason where it refuses.
class Matmul {
 public:
  explicit Matmul(const Product& product);

  /// Algorithms, the most promising first; empty when the library has none for the product.
  std::vector<cublasLtMatmulHeuristicResult_t> recommended(int most) const;

  /// Enqueues the product; `workspace` holds what the choice asks for.
  void run(const cublasLtMatmulHeuristicResult_t& choice, const void* w, const void* x, const void* bias,
           const void* addend, void* y, void* workspace, cudaStream_t stream);

 private:
  using MatrixLayout = CublasltObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  using Operation = CublasltObject<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;

  void set_bias(const void* bias);
  void create(MatrixLayout& layout, tensor::DType dtype, int64_t rows, int64_t columns, int64_t stride) const;

  Product product_;
  Operation operation_;
  MatrixLayout w_;
  MatrixLayout x_;
  MatrixLayout y_;
};

}  // namespace hone::device::cuda
