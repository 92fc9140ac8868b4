// Checks of strided_product.hpp: operands that are broadcast and transposed, tiles that rows, columns and
// depth do not fill.
#include "device/cuda/plugin/kernels/layers/strided_product.hpp"

#include <cmath>

#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kAxes = StridedMatrix::kAxes;

int64_t offset(const StridedMatrix& matrix, const StridedProduct& product, int64_t index) {
  int64_t result = 0;
  for (int axis = kAxes - 1; axis >= 0; --axis) {
    result += index % product.batch[axis] * matrix.batch[axis];
    index /= product.batch[axis];
  }
  return result;
}

void check_product(Family& family, FloatType type, const StridedProduct& p, bool adds,
                   const std::string& what) {
  int64_t batch = 1;
  for (const int64_t extent : p.batch) batch *= extent;
  // Strides reach no further than that.
  const int64_t elements = batch * (p.rows + p.columns) * (p.depth + p.rows + p.columns);
  const Values x(elements, type);
  const Values w(elements, type);
  const Values c(elements, type);
  Output y(batch * p.rows * p.columns, type);
  family.launched(strided_product(x.get(), w.get(), adds ? c.get() : nullptr, y.get(), type, p, {}), what);
  for (int64_t i = 0; i < batch * p.rows * p.columns; ++i) {
    const int64_t matrix = i / (p.rows * p.columns);
    const int64_t row = i / p.columns % p.rows;
    const int64_t column = i % p.columns;
    double sum = 0;
    for (int64_t k = 0; k < p.depth; ++k)
      sum += x[offset(p.x, p, matrix) + row * p.x.row + k * p.x.column] *
             w[offset(p.w, p, matrix) + k * p.w.row + column * p.w.column];
    y[i] = p.alpha * sum;
    if (adds) y[i] += p.beta * c[offset(p.c, p, matrix) + row * p.c.row + column * p.c.column];
  }
  // As many roundings as terms, and those of the scaled addend.
  family.compare(y, kFloatRoundoff * static_cast<double>(p.depth + 4), what);
}

}  // namespace

void check_strided_product() {
  Family family("products by strides");
  for (const FloatType type : kFloatTypes) {
    for (const auto& [rows, columns, depth] :
         {std::tuple<int64_t, int64_t, int64_t>{33, 65, 70}, {1, 40, 31}, {50, 1, 5}, {32, 32, 32}}) {
      StridedProduct p;
      p.rows = rows;
      p.columns = columns;
      p.depth = depth;
      p.x = {depth, 1, {}};
      p.w = {columns, 1, {}};
      check_product(family, type, p, false, "one product");
      p.x = {1, rows, {}};
      p.w = {1, depth, {}};
      p.c = {1, 0, {}};
      p.alpha = 0.5f;
      p.beta = -2;
      check_product(family, type, p, true, "transposed ones with a column to add");
      // Stacks of 3 x 1 and 1 x 2.
      p.batch[kAxes - 2] = 3;
      p.batch[kAxes - 1] = 2;
      p.x.batch[kAxes - 2] = rows * depth;
      p.w.batch[kAxes - 1] = columns * depth;
      p.c = {columns, 1, {}};
      check_product(family, type, p, true, "broadcast stacks");
    }
  }
}

}  // namespace hone::device::cuda::check
