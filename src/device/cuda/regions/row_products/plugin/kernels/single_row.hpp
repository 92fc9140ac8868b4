// The kernel of matrix_vector.hpp for one row that registers hold.
#pragma once

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector_parts.cuh"

namespace hone::device::cuda {

/// True if the kernel takes it: one row, which is not too long.
bool fits_single_row(const MatrixVector& size);

/// `operands`: all but how warps share a column. An error for types that there is no kernel of.
cudaError_t launch_single_row(matrix_vector_parts::Operands operands, FloatType type, FloatType result,
                              const MatrixVector& size, const LaunchOptions& options);

}  // namespace hone::device::cuda
