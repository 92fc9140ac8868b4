// Reference kernels of the matrix family. Einsum is in einsum.cpp.
#include "reference/kernels/matrix.hpp"

#include <cmath>

#include "reference/compute.hpp"
#include "reference/kernels/parts.hpp"
#include "reference/strided.hpp"
#include "tensor/convert.hpp"

namespace hone::reference {
namespace {

/// One product of two matrices that are given by the strides of their rows and columns.
struct Product {
  int64_t rows, depth, columns;
  int64_t a_row, a_column;
  int64_t b_row, b_column;
};

/// c[rows, columns] += a * b. The sum runs over the depth in order; floats are summed in double.
template <class T>
void multiply_matrices(const Product& p, const T* a, const T* b, T* c) {
  for (int64_t i = 0; i < p.rows; ++i) {
    T* row = c + i * p.columns;
    if (p.b_row == 1) {
      for (int64_t j = 0; j < p.columns; ++j) {
        T sum{};
        for (int64_t k = 0; k < p.depth; ++k) {
          sum = add(sum, multiply(a[i * p.a_row + k * p.a_column], b[k + j * p.b_column]));
        }
        row[j] = add(row[j], sum);
      }
      continue;
    }
    for (int64_t k = 0; k < p.depth; ++k) {
      const T factor = a[i * p.a_row + k * p.a_column];
      const T* b_row = b + k * p.b_row;
      for (int64_t j = 0; j < p.columns; ++j) row[j] = add(row[j], multiply(factor, b_row[j * p.b_column]));
    }
  }
}

template <class T>
Tensor zeros(Shape shape) {
  Tensor result(tensor::DTypeOf<T>::value, std::move(shape));
  for (T& element : result.mutable_values<T>()) element = T{};
  return result;
}

void require_equal_types(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  fail_bad_input("inputs have types {} and {}", tensor::dtype_name(a.dtype()), tensor::dtype_name(b.dtype()));
}

void matmul_kernel(KernelContext& context) {
  require_equal_types(context.input(0), context.input(1));
  context.outputs[0] =
      matmul(widened(context.input(0)), widened(context.input(1))).cast(context.input(0).dtype());
}

void gemm(KernelContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  require_equal_types(a, b);
  if (a.rank() != 2 || b.rank() != 2)
    fail_bad_input("inputs have ranks {} and {}, expected 2", a.rank(), b.rank());
  const size_t trans_a = context.attributes().get_int("transA") != 0;
  const size_t trans_b = context.attributes().get_int("transB") != 0;
  const Shape& sa = a.shape();
  const Shape& sb = b.shape();
  if (sa[1 - trans_a] != sb[trans_b]) {
    fail_bad_input("the common dimension is {} and {} in different inputs", sa[1 - trans_a], sb[trans_b]);
  }
  const Product product{sa[trans_a],
                        sa[1 - trans_a],
                        sb[1 - trans_b],
                        trans_a != 0 ? 1 : sa[1],
                        trans_a != 0 ? sa[1] : 1,
                        trans_b != 0 ? 1 : sb[1],
                        trans_b != 0 ? sb[1] : 1};
  visit_compute(a.dtype(), [&]<class T>() {
    Tensor y = zeros<T>({product.rows, product.columns});
    multiply_matrices(product, widened(a).values<T>().data(), widened(b).values<T>().data(),
                      y.mutable_values<T>().data());
    const auto alpha = tensor::convert<T>(context.attributes().get_float("alpha"));
    for (T& value : y.mutable_values<T>()) value = multiply(value, alpha);
    if (context.has_input(2)) {
      require_equal_types(a, context.input(2));
      const Tensor c = widened(context.input(2));
      const auto beta = tensor::convert<T>(context.attributes().get_float("beta"));
      size_t next = 0;
      walk<1>(y.shape(), {tensor::broadcast_strides(c.shape(), y.shape())}, {0}, [&](const auto& at) {
        T& value = y.mutable_values<T>()[next++];
        value = add(value, multiply(beta, c.values<T>()[static_cast<size_t>(at[0])]));
      });
    }
    context.outputs[0] = y.cast(a.dtype());
  });
}

/// Determinant of a matrix of side n by elimination with partial pivoting; overwrites it.
double determinant(std::span<double> m, size_t n) {
  double result = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
    }
    if (m[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      for (size_t k = 0; k < n; ++k) std::swap(m[pivot * n + k], m[column * n + k]);
      result = -result;
    }
    result *= m[column * n + column];
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = m[row * n + column] / m[column * n + column];
      for (size_t k = column; k < n; ++k) m[row * n + k] -= factor * m[column * n + k];
    }
  }
  return result;
}

void det(KernelContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() < 2 || x.shape()[x.shape().size() - 2] != x.shape().back()) {
    fail_bad_input("input of shape {} holds no square matrices", tensor::shape_text(x.shape()));
  }
  const auto side = static_cast<size_t>(x.shape().back());
  Tensor y(DType::kFloat64, Shape(x.shape().begin(), x.shape().end() - 2));
  auto elements = x.to_double();
  for (size_t i = 0; i < static_cast<size_t>(y.size()); ++i) {
    y.mutable_values<double>()[i] =
        determinant(std::span(elements).subspan(i * side * side, side * side), side);
  }
  context.outputs[0] = y.cast(x.dtype());
}

constexpr KernelEntry kKernels[] = {{"Det", det}, {"Gemm", gemm}, {"MatMul", matmul_kernel}};

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) fail_bad_input("scalars cannot be multiplied as matrices");
  Shape sa = a.shape();
  Shape sb = b.shape();
  if (a.rank() == 1) sa.insert(sa.begin(), 1);
  if (b.rank() == 1) sb.push_back(1);
  const Product product{sa[sa.size() - 2], sa.back(), sb.back(), sa.back(), 1, sb.back(), 1};
  if (product.depth != sb[sb.size() - 2]) {
    fail_bad_input("the common dimension is {} and {} in different inputs", product.depth, sb[sb.size() - 2]);
  }
  const Shape a_batch(sa.begin(), sa.end() - 2);
  const Shape b_batch(sb.begin(), sb.end() - 2);
  const Shape batch = tensor::broadcast_shapes(a_batch, b_batch);
  Shape shape = batch;
  if (a.rank() > 1) shape.push_back(product.rows);
  if (b.rank() > 1) shape.push_back(product.columns);
  return visit_compute(a.dtype(), [&]<class T>() {
    Tensor y = zeros<T>(shape);
    T* out = y.mutable_values<T>().data();
    walk<2>(batch, {tensor::broadcast_strides(a_batch, batch), tensor::broadcast_strides(b_batch, batch)},
            {0, 0}, [&](const auto& at) {
              multiply_matrices(product, a.values<T>().data() + at[0] * product.rows * product.depth,
                                b.values<T>().data() + at[1] * product.depth * product.columns, out);
              out += product.rows * product.columns;
            });
    return y;
  });
}

std::span<const KernelEntry> matrix_kernels() {
  static const auto kAll = join_parts({kKernels, einsum_kernels()});
  return kAll;
}

}  // namespace hone::reference
