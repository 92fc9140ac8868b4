// See attributes.hpp.
#include "import/onnx/attributes.hpp"

#include "import/onnx/tensor_proto.hpp"

namespace hone::importer {
namespace {

using onnx::AttributeProto;
using tensor::Tensor;

/// The declared type. Files of the first IR versions had none, so there the field that is set decides.
AttributeProto::AttributeType type_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

template <class T, class Field>
std::vector<T> list(const Field& field) {
  return std::vector<T>(field.begin(), field.end());
}

template <class T>
Tensor vector_tensor(std::vector<T> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Tensor::of<T>(values, {count});
}

graph::Attribute read(const AttributeProto& proto, ExternalFolder& folder) {
  switch (type_of(proto)) {
    case AttributeProto::INT: return static_cast<int64_t>(proto.i());
    case AttributeProto::FLOAT: return proto.f();
    case AttributeProto::STRING: return proto.s();
    case AttributeProto::TENSOR: return read_tensor(proto.t(), folder);
    case AttributeProto::INTS: return list<int64_t>(proto.ints());
    case AttributeProto::FLOATS: return list<float>(proto.floats());
    case AttributeProto::STRINGS: return list<std::string>(proto.strings());
    default: break;
  }
  fail_bad_input("its type {} is not supported", static_cast<int>(proto.type()));
}

[[noreturn]] void rethrow_for(const AttributeProto& proto, const Error& error) {
  throw error.within(fmt::format("attribute '{}'", proto.name().substr(0, 200)));
}

}  // namespace

graph::Attribute read_attribute(const AttributeProto& proto, ExternalFolder& folder) {
  try {
    return read(proto, folder);
  } catch (const Error& error) {
    rethrow_for(proto, error);
  }
}

Tensor read_constant(const AttributeProto& proto, ExternalFolder& folder) {
  const std::string& name = proto.name();
  try {
    if (name == "value") return read_tensor(proto.t(), folder);
    if (name == "sparse_value") return read_sparse_tensor(proto.sparse_tensor(), folder);
    if (name == "value_int") return Tensor::scalar<int64_t>(proto.i());
    if (name == "value_float") return Tensor::scalar<float>(proto.f());
    if (name == "value_ints") return vector_tensor(list<int64_t>(proto.ints()));
    if (name == "value_floats") return vector_tensor(list<float>(proto.floats()));
  } catch (const Error& error) {
    rethrow_for(proto, error);
  }
  fail_bad_input("attribute '{}' is no supported value of a Constant", name.substr(0, 200));
}

}  // namespace hone::importer
