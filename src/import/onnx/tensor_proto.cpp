// See tensor_proto.hpp.
#include "import/onnx/tensor_proto.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "import/onnx/external_bytes.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx/narrow_types.hpp"
#include "import/tensor_bytes.hpp"

namespace hone::importer {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

Shape read_shape(const google::protobuf::RepeatedField<int64_t>& dims) {
  if (dims.size() > kMaxRank)
    fail_bad_input("field dims has {} entries, the limit is {}", dims.size(), kMaxRank);
  Shape shape(dims.begin(), dims.end());
  for (const int64_t dim : shape) {
    if (dim < 0) fail_bad_input("field dims has a negative entry {}", dim);
  }
  return shape;
}

template <class Source>
Tensor from_field(DType dtype, const Shape& shape, const Source& values, const char* field) {
  const int64_t wanted = tensor::element_count(shape);
  if (wanted != values.size()) {
    fail_bad_input("field {} holds {} values, but dims {} need {}", field, values.size(),
                   tensor::shape_text(shape), wanted);
  }
  Tensor result(dtype, shape);
  tensor::visit_dtype(dtype, [&]<class T>() {
    auto out = result.mutable_values<T>();
    for (int i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, tensor::Half> || std::is_same_v<T, tensor::BFloat16>) {
        out[static_cast<size_t>(i)].bits = static_cast<uint16_t>(values[i]);
      } else {
        out[static_cast<size_t>(i)] = static_cast<T>(values[i]);
      }
    }
  });
  return result;
}

Tensor from_typed_fields(const onnx::TensorProto& proto, DType dtype, const Shape& shape) {
  switch (dtype) {
    case DType::kFloat32: return from_field(dtype, shape, proto.float_data(), "float_data");
    case DType::kFloat64: return from_field(dtype, shape, proto.double_data(), "double_data");
    case DType::kInt64: return from_field(dtype, shape, proto.int64_data(), "int64_data");
    case DType::kUInt32:
    case DType::kUInt64: return from_field(dtype, shape, proto.uint64_data(), "uint64_data");
    default: return from_field(dtype, shape, proto.int32_data(), "int32_data");
  }
}

uint64_t read_number(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail_bad_input("field external_data: {} '{}' is not a number of bytes", key, text.substr(0, 40));
  }
  return value;
}

}  // namespace

ExternalBytes external_bytes(const onnx::TensorProto& proto, uint64_t wanted, const std::string& type,
                             ExternalFolder& folder) {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset") {
      offset = read_number("offset", entry.value());
    } else if (entry.key() == "length") {
      length = read_number("length", entry.value());
    } else if (entry.key() != "checksum") {
      fail_bad_input("field external_data has an unknown key '{}'", entry.key().substr(0, 40));
    }
  }
  if (length && *length != wanted)
    fail_bad_input("field external_data: length is {}, but {} needs {} bytes", *length, type, wanted);
  return folder.map(location, offset, wanted);
}

namespace {

Tensor from_external(const onnx::TensorProto& proto, DType dtype, const Shape& shape,
                     ExternalFolder& folder) {
  const auto wanted = static_cast<uint64_t>(tensor_bytes(dtype, shape));
  const std::string type = fmt::format("{}[{}]", tensor::dtype_name(dtype), tensor::shape_text(shape));
  const ExternalBytes bytes = external_bytes(proto, wanted, type, folder);
  return tensor_from_bytes(dtype, shape, bytes.bytes, "external data", bytes.owner);
}

bool is_external(const onnx::TensorProto& proto) {
  return proto.data_location() == onnx::TensorProto::EXTERNAL;
}

}  // namespace

DType read_dtype(int32_t data_type) {
  const auto dtype = static_cast<DType>(static_cast<uint8_t>(data_type));
  if (data_type >= 1 && data_type <= static_cast<int32_t>(DType::kBFloat16)) {
    if (tensor::is_supported(dtype)) return dtype;
    fail_bad_input("element type {} is not supported", tensor::dtype_name(dtype));
  }
  fail_bad_input("element type {} (of onnx.TensorProto.DataType) is not supported", data_type);
}

Tensor read_tensor(const onnx::TensorProto& proto, ExternalFolder& folder) {
  if (is_narrow(proto.data_type()) && !proto.has_segment())
    return read_narrow_tensor(proto, read_shape(proto.dims()), folder);
  const DType dtype = read_dtype(proto.data_type());
  const Shape shape = read_shape(proto.dims());
  if (proto.has_segment()) fail_bad_input("field segment is not supported");
  if (is_external(proto)) return from_external(proto, dtype, shape, folder);
  if (!proto.has_raw_data()) return from_typed_fields(proto, dtype, shape);
  return tensor_from_bytes(dtype, shape, std::as_bytes(std::span(proto.raw_data())), "field raw_data",
                           nullptr);
}

Tensor take_tensor(onnx::TensorProto& proto, ExternalFolder& folder) {
  const bool takes_bytes = proto.has_raw_data() && !proto.has_segment() && !is_narrow(proto.data_type());
  if (is_external(proto) || !takes_bytes) return read_tensor(proto, folder);
  const DType dtype = read_dtype(proto.data_type());
  const Shape shape = read_shape(proto.dims());
  const std::shared_ptr<const std::string> owner(proto.release_raw_data());
  return tensor_from_bytes(dtype, shape, std::as_bytes(std::span(*owner)), "field raw_data", owner);
}

Tensor read_sparse_tensor(const onnx::SparseTensorProto& proto, ExternalFolder& folder) {
  const Tensor values = read_tensor(proto.values(), folder);
  const Tensor indices = read_tensor(proto.indices(), folder);
  const Shape shape = read_shape(proto.dims());
  const auto stored = static_cast<int64_t>(values.byte_size() + indices.byte_size());
  const int64_t limit = std::min(kMaxSparseBytes, kFreeSparseBytes + kMaxSparseGrowth * stored);
  if (tensor_bytes(values.dtype(), shape) > limit) {
    fail_bad_input("sparse tensor of {} elements passes the limit of {} bytes", tensor::shape_text(shape),
                   limit);
  }
  const auto rank = static_cast<int64_t>(shape.size());
  const bool linear = indices.rank() == 1;
  if (values.rank() != 1 || indices.dtype() != DType::kInt64 || (!linear && indices.rank() != 2) ||
      indices.shape()[0] != values.size() || (!linear && indices.shape()[1] != rank)) {
    fail_bad_input("sparse tensor: values and indices do not fit each other");
  }
  Tensor result(values.dtype(), shape);
  const size_t width = tensor::dtype_size(values.dtype());
  std::memset(result.mutable_bytes(), 0, result.byte_size());
  const auto index = indices.values<int64_t>();
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t at = linear ? index[static_cast<size_t>(i)] : 0;
    for (int64_t d = 0; !linear && d < rank; ++d) {
      const int64_t part = index[static_cast<size_t>(i * rank + d)];
      const int64_t dim = shape[static_cast<size_t>(d)];
      if (part < 0 || part >= dim)
        fail_bad_input("sparse tensor: index {} lies outside dimension {}", part, dim);
      at = at * dim + part;
    }
    if (at < 0 || at >= result.size()) fail_bad_input("sparse tensor: index {} lies outside the tensor", at);
    std::memcpy(result.mutable_bytes() + static_cast<size_t>(at) * width,
                values.bytes() + static_cast<size_t>(i) * width, width);
  }
  return result;
}

}  // namespace hone::importer
