// Matrix products of cuBLASLt. cuBLASLt is column-major, so row-major products are computed transposed: y^T =
// w * x^T, with the bias along the rows of its result.
#pragma once

#include <cublasLt.h>
#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "tensor/tensor.hpp"

namespace hone::device::cuda {

/// One of cuBLASLt's opaque objects with its destroy function.
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
  /// True if w is stored as (columns, depth); otherwise as (depth, columns).
  bool transposed = false;
  /// True if x is stored as (depth, rows); otherwise as (rows, depth).
  bool transposed_x = false;
  /// True if the operand is the same for the whole batch.
  bool shared_w = false;
  bool shared_x = false;
  bool bias = false;
  /// Index of the node's input that is added to the product; -1 if there is none.
  int addend = -1;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  tensor::DType dtype = tensor::DType::kFloat32;
  /// The result's type; float32 if it is an output of the graph.
  tensor::DType result = tensor::DType::kFloat32;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

/// cuBLASLt on one GPU. Several threads may use it at the same time.
class Cublaslt {
 public:
  explicit Cublaslt(CUcontext context) : context_(context) {}
  /// Must be destroyed after everything that uses it.
  ~Cublaslt();
  Cublaslt(const Cublaslt&) = delete;
  Cublaslt& operator=(const Cublaslt&) = delete;

  /// Made by the first call. If that fails, environment error with cuBLASLt's own reason.
  cublasLtHandle_t handle();

 private:
  CUcontext context_;
  std::mutex mutex_;
  cublasLtHandle_t handle_ = nullptr;
};

/// Methods throw an environment error with cuBLASLt's own reason if it refuses.
class Matmul {
 public:
  /// The library must outlive it.
  Matmul(const Product& product, Cublaslt& library);

  /// Returns algorithms, the most promising first; empty if the library has none for the product.
  std::vector<cublasLtMatmulHeuristicResult_t> recommended(int most) const;

  /// Enqueues the product; `workspace` must have the size that the choice requires. Several threads may call
  /// it at the same time.
  void run(const cublasLtMatmulHeuristicResult_t& choice, const void* w, const void* x, const void* bias,
           const void* addend, void* y, void* workspace, cudaStream_t stream) const;

 private:
  using MatrixLayout = CublasltObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  using Operation = CublasltObject<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;

  void create(MatrixLayout& layout, tensor::DType dtype, int64_t rows, int64_t columns, int64_t stride) const;

  Product product_;
  cublasLtHandle_t handle_;
  Operation operation_;
  MatrixLayout w_;
  MatrixLayout x_;
  MatrixLayout y_;
};

}  // namespace hone::device::cuda
