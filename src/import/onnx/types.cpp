// See types.hpp.
#include "import/onnx/types.hpp"

#include <string_view>

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

/// True for UTF-8 as Unicode defines it: shortest forms only, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    for (int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3; more > 0; --more) {
      const auto next = i < text.size() ? static_cast<unsigned char>(text[i++]) : 0;
      if (next < low || next > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

}  // namespace

const std::string& checked_name(const std::string& name, const char* what) {
  if (name.size() > kMaxNameBytes)
    fail_bad_input("{} holds {} bytes, the limit is {}", what, name.size(), kMaxNameBytes);
  if (!is_utf8(name)) fail_bad_input("{} is not UTF-8", what);
  return name;
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
