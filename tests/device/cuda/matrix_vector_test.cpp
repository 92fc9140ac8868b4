// Which products the kernel for few rows takes.
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"

#include <gtest/gtest.h>

namespace hone::device::cuda {
namespace {

MatrixVector size_of(int64_t rows, int64_t columns, int64_t depth) {
  MatrixVector size;
  size.rows = rows;
  size.columns = {columns};
  size.depth = depth;
  return size;
}

std::string refusal(const MatrixVector& size, FloatType type = FloatType::kHalf) {
  return std::string(matrix_vector_refusal(size, type).text());
}

TEST(MatrixVector, TakesFewRowsOfWholeRuns) {
  EXPECT_EQ(refusal(size_of(1, 1000, 2048)), "");
  EXPECT_EQ(refusal(size_of(8, 1, 8)), "");
}

TEST(MatrixVector, SaysWhyItRefuses) {
  EXPECT_EQ(refusal(size_of(9, 1000, 2048)), "9 rows, not 1 to 8");
  EXPECT_EQ(refusal(size_of(0, 1000, 2048)), "0 rows, not 1 to 8");
  EXPECT_EQ(refusal(size_of(1, 1000, 2047)), "a depth of 2047, no multiple of 8");
  EXPECT_EQ(refusal(size_of(1, 1000, 0)), "a depth of 0, no multiple of 8");
  EXPECT_EQ(refusal(size_of(1, 0, 8)), "an empty or a huge matrix");
}

TEST(MatrixVector, NormalizesRowsThatFitIntoSharedMemory) {
  MatrixVector size = size_of(8, 100, 2048);
  size.normalizes = true;
  EXPECT_EQ(refusal(size), "");
  EXPECT_EQ(refusal(size, FloatType::kFloat), "normalized rows do not fit into shared memory");
  size.rows = 1;
  size.depth = 16384;
  EXPECT_EQ(refusal(size), "");
  size.depth = 32768;
  EXPECT_EQ(refusal(size), "normalized rows do not fit into shared memory");
}

}  // namespace
}  // namespace hone::device::cuda
