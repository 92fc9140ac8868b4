// See matmul_geometry.hpp.
#include "graph/matmul_geometry.hpp"

#include "base/error.hpp"
#include "tensor/shape.hpp"

namespace hone::graph {
namespace {

Dims batch_part(const Dims& dims) { return dims.size() <= 2 ? Dims() : Dims(dims.begin(), dims.end() - 2); }

}  // namespace

Dims matmul_dims(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) fail_bad_input("a matrix product of a scalar");
  const Dim& left = a.back();
  const Dim& right = b.size() == 1 ? b[0] : b[b.size() - 2];
  if (left.known() && right.known() && left.value() != right.value()) {
    fail_bad_input("shapes {} and {} do not multiply: {} columns meet {} rows", dims_text(a), dims_text(b),
                   left.text(), right.text());
  }
  Dims result = broadcast_dims(batch_part(a), batch_part(b));
  if (a.size() > 1) result.push_back(a[a.size() - 2]);
  if (b.size() > 1) result.push_back(b.back());
  return result;
}

MatMulGeometry read_matmul(std::span<const int64_t> a, std::span<const int64_t> b) {
  const Dims dims = matmul_dims(Dims(a.begin(), a.end()), Dims(b.begin(), b.end()));
  MatMulGeometry result;
  for (const Dim& dim : dims) result.output.push_back(dim.value());
  result.inner = a.back();
  if (a.size() > 1) result.rows = a[a.size() - 2];
  if (b.size() > 1) result.columns = b.back();
  if (result.rows == 0 || result.columns == 0) return result;
  const auto a_batch = a.first(a.size() > 2 ? a.size() - 2 : 0);
  const auto b_batch = b.first(b.size() > 2 ? b.size() - 2 : 0);
  const tensor::Shape batch = tensor::broadcast_shapes(a_batch, b_batch);
  const tensor::Shape a_strides = tensor::broadcast_strides(a_batch, batch);
  const tensor::Shape b_strides = tensor::broadcast_strides(b_batch, batch);
  const tensor::Shape strides = tensor::row_major_strides(batch);
  const int64_t count = tensor::element_count(batch);
  for (int64_t i = 0; i < count; ++i) {
    int64_t a_index = 0;
    int64_t b_index = 0;
    for (size_t axis = 0; axis < batch.size(); ++axis) {
      const int64_t position = i / strides[axis] % batch[axis];
      a_index += position * a_strides[axis];
      b_index += position * b_strides[axis];
    }
    result.a_matrix.push_back(a_index);
    result.b_matrix.push_back(b_index);
  }
  return result;
}

}  // namespace hone::graph
