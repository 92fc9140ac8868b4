// See row_product.hpp.
#include "device/cuda/regions/row_products/row_product.hpp"

#include "transform/fusion.hpp"

namespace hone::device::cuda {

using graph::Graph;
using graph::Node;
using graph::ValueId;

namespace {

/// Limits of the kernel (matrix_vector.hpp).
constexpr int64_t kMostRows = 8;
constexpr int64_t kDepthMultiple = 8;
constexpr size_t kMostPostOps = 6;

bool is_product(const Node& node) {
  return node.op == "MatMul" || node.op == "FusedMatMul" || node.op == "Gemm" || node.op == "FusedGemm";
}

/// True if the rows of a value are known to be few, and of a length that the kernel takes.
bool has_few_rows(const Graph& graph, ValueId id) {
  const graph::TensorType& type = graph.value(id).type;
  if (type.dtype != graph::DType::kFloat32 || !type.fully_known() || type.dims->size() < 2) return false;
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < type.dims->size(); ++i) {
    const int64_t size = (*type.dims)[i].value();
    if (size > kMostRows) return false;
    rows *= size;
  }
  const int64_t depth = type.dims->back().value();
  return rows >= 1 && rows <= kMostRows && depth > 0 && depth % kDepthMultiple == 0;
}

}  // namespace

bool is_row_product(const Graph& graph, const Node& node) {
  if (!is_product(node) || !has_few_rows(graph, node.inputs[0])) return false;
  const graph::Tensor* const matrix = graph.constant(node.inputs[1]);
  if (matrix == nullptr || matrix->shape().size() != 2) return false;
  if (node.has_input(2) && graph.constant(node.inputs[2]) == nullptr) return false;
  if (node.op == "Gemm" || node.op == "FusedGemm") {
    if (node.attributes.get_int("transA") != 0 || node.attributes.get_float("alpha") != 1 ||
        (node.has_input(2) && node.attributes.get_float("beta") != 1))
      return false;
  }
  return transform::post_ops_of(node).ops.size() <= kMostPostOps;
}

}  // namespace hone::device::cuda
