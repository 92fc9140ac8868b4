// Which products the kernel for few rows takes.
#include "device/cuda/plugin/kernels/gemm/matrix_vector.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

TEST(MatrixVector, TakesFewRowsOfWholeRuns) {
  EXPECT_EQ(matrix_vector_refusal({1, 1000, 2048}).text(), "");
  EXPECT_EQ(matrix_vector_refusal({8, 1, 8}).text(), "");
}

TEST(MatrixVector, SaysWhyItRefuses) {
  EXPECT_EQ(matrix_vector_refusal({9, 1000, 2048}).text(), "9 rows, not 1 to 8");
  EXPECT_EQ(matrix_vector_refusal({0, 1000, 2048}).text(), "0 rows, not 1 to 8");
  EXPECT_EQ(matrix_vector_refusal({1, 1000, 2047}).text(), "a depth of 2047, no multiple of 8");
  EXPECT_EQ(matrix_vector_refusal({1, 1000, 0}).text(), "a depth of 0, no multiple of 8");
  EXPECT_EQ(matrix_vector_refusal({1, 0, 8}).text(), "an empty or a huge matrix");
}

}  // namespace
}  // namespace hone::device::cuda
