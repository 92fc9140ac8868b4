// See types.hpp.
#include "import/onnx/types.hpp"

#include "import/onnx/limits.hpp"
#include "import/onnx/tensor_proto.hpp"

namespace hone::importer {
namespace {

const char* kind_name(onnx::TypeProto::ValueCase kind) {
  switch (kind) {
    case onnx::TypeProto::kSequenceType: return "sequence";
    case onnx::TypeProto::kMapType: return "map";
    case onnx::TypeProto::kOptionalType: return "optional";
    case onnx::TypeProto::kSparseTensorType: return "sparse tensor";
    default: return "opaque";
  }
}

graph::Dim read_dim(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value()) {
    if (dim.dim_value() < 0)
      fail_bad_input("field dim_value is {}, which no dimension can be", dim.dim_value());
    return graph::Dim(dim.dim_value());
  }
  if (dim.has_dim_param()) return graph::Dim::symbol(checked_name(dim.dim_param(), "field dim_param"));
  return {};
}

}  // namespace

const std::string& checked_name(const std::string& name, const char* what) {
  if (name.size() <= kMaxNameBytes) return name;
  fail_bad_input("{} holds {} bytes, the limit is {}", what, name.size(), kMaxNameBytes);
}

graph::TensorType read_type(const onnx::TypeProto& type) {
  graph::TensorType result;
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return result;
  if (!type.has_tensor_type()) {
    fail_bad_input("type {} is not supported, only tensors are", kind_name(type.value_case()));
  }
  const auto& tensor = type.tensor_type();
  if (tensor.elem_type() != 0) result.dtype = read_dtype(tensor.elem_type());
  if (!tensor.has_shape()) return result;
  if (tensor.shape().dim_size() > kMaxRank) {
    fail_bad_input("field shape has {} dimensions, the limit is {}", tensor.shape().dim_size(), kMaxRank);
  }
  result.dims.emplace();
  for (const auto& dim : tensor.shape().dim()) result.dims->push_back(read_dim(dim));
  return result;
}

}  // namespace hone::importer
