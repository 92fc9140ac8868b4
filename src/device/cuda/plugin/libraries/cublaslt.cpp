// See cublaslt.hpp.
#include "device/cuda/plugin/libraries/cublaslt.hpp"

#include "device/cuda/plugin/device_guard.hpp"
#include "device/cuda/plugin/kernels/common/library_call.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

using tensor::DType;

constexpr size_t kWorkspaceBytes = size_t{32} << 20;
/// Alignment of every operand in bytes, which the engine's arena guarantees.
constexpr uint32_t kAlignment = 64;

void check(cublasStatus_t status, std::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail_library_call(what, "cuBLASLt", cublasLtGetStatusString(status), status == CUBLAS_STATUS_ALLOC_FAILED);
}

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return CUDA_R_16F;
    case DType::kBFloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

template <class T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), "describing a product");
}

void set_bias(cublasLtMatmulDesc_t operation, const void* bias) {
  set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

}  // namespace

Cublaslt::~Cublaslt() {
  const DeviceGuard guard(context_);
  if (handle_ != nullptr) (void)cublasLtDestroy(handle_);
}

cublasLtHandle_t Cublaslt::handle() {
  const std::lock_guard lock(mutex_);
  if (handle_ != nullptr) return handle_;
  const DeviceGuard guard(context_);
  check(cublasLtCreate(&handle_), "starting cuBLASLt");
  return handle_;
}

Matmul::Matmul(const Product& product, Cublaslt& library) : product_(product), handle_(library.handle()) {
  check(cublasLtMatmulDescCreate(operation_.put(), product.compute, CUDA_R_32F), "describing a product");
  set(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSA, product.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_.get(), CUBLASLT_MATMUL_DESC_TRANSB, product.transposed_x ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(operation_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, product.epilogue);
  if (product.bias) {
    // The description contains the pointer; the heuristics only use whether there is one.
    set_bias(operation_.get(), reinterpret_cast<const void*>(uintptr_t{kAlignment}));
    set(operation_.get(), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, data_type(product.result));
  }
  const int64_t w_rows = product.transposed ? product.depth : product.columns;
  const int64_t w_columns = product.transposed ? product.columns : product.depth;
  create(w_, product.dtype, w_rows, w_columns, product.shared_w ? 0 : w_rows * w_columns);
  const int64_t x_rows = product.transposed_x ? product.rows : product.depth;
  const int64_t x_columns = product.transposed_x ? product.depth : product.rows;
  create(x_, product.dtype, x_rows, x_columns, product.shared_x ? 0 : x_rows * x_columns);
  create(y_, product.result, product.columns, product.rows, product.columns * product.rows);
}

std::vector<cublasLtMatmulHeuristicResult_t> Matmul::recommended(int most) const {
  CublasltObject<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
  check(cublasLtMatmulPreferenceCreate(preference.put()), "stating a preference");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
          "stating a preference");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  for (const auto operand :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    prefer(operand, kAlignment);
  // Other schemes add the parts of a split depth in the result's type.
  const uint32_t schemes = data_type(product_.result) == CUDA_R_32F ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                                    : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<size_t>(most));
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle_, operation_.get(), w_.get(), x_.get(), y_.get(), y_.get(),
                                     preference.get(), most, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return {};
  check(status, "asking for algorithms of a product");
  results.resize(static_cast<size_t>(count));
  return results;
}

void Matmul::run(const cublasLtMatmulHeuristicResult_t& choice, const void* w, const void* x,
                 const void* bias, const void* addend, void* y, void* workspace, cudaStream_t stream) const {
  // The description contains the bias, so every run has its own copy.
  cublasLtMatmulDescOpaque_t operation = *operation_.get();
  if (product_.bias) set_bias(&operation, bias);
  const float beta = product_.addend >= 0 ? 1.0f : 0.0f;
  const auto multiply = [&] {
    check(cublasLtMatmul(handle_, &operation, &product_.alpha, w, w_.get(), x, x_.get(), &beta,
                         addend == nullptr ? y : addend, y_.get(), y, y_.get(), &choice.algo, workspace,
                         choice.workspaceSize, stream),
          "a matrix product");
  };
  check(call_library(stream, multiply), "a matrix product");
}

void Matmul::create(MatrixLayout& layout, DType dtype, int64_t rows, int64_t columns, int64_t stride) const {
  check(cublasLtMatrixLayoutCreate(layout.put(), data_type(dtype), static_cast<uint64_t>(rows),
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

}  // namespace hone::device::cuda
