// See narrow_types.hpp. Source of the formats: the ONNX specification, "Float stored in 8 bits", "4 bit
// integer types", "2 bit integer types".
#include "import/onnx/narrow_types.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "graph/operator.hpp"
#include "import/onnx/expand/expansion.hpp"
#include "import/onnx/external_bytes.hpp"
#include "import/tensor_bytes.hpp"

namespace hone::importer {
namespace {

using graph::Node;
using graph::ValueId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// An element type that hone's tensors do not support.
struct Format {
  int64_t data_type;
  std::string_view name;
  int bits;
  /// The range of an integer type.
  int lowest = 0;
  int highest = 0;
  /// For a floating type, the bits of its exponent and mantissa, and its bias; 0 for integers.
  int exponent = 0;
  int mantissa = 0;
  int bias = 0;
  double largest = 0;

  bool is_float() const { return exponent != 0; }
};

constexpr std::array<Format, 10> kFormats = {{
    {17, "float8e4m3fn", 8, 0, 0, 4, 3, 7, 448},
    {18, "float8e4m3fnuz", 8, 0, 0, 4, 3, 8, 240},
    {19, "float8e5m2", 8, 0, 0, 5, 2, 15, 57344},
    {20, "float8e5m2fnuz", 8, 0, 0, 5, 2, 16, 57344},
    {21, "uint4", 4, 0, 15},
    {22, "int4", 4, -8, 7},
    {23, "float4e2m1", 4, 0, 0, 2, 1, 1, 6},
    {24, "float8e8m0", 8, 0, 0, 8, 0, 127, 0x1p127},
    {25, "uint2", 2, 0, 3},
    {26, "int2", 2, -2, 1},
}};

const Format* find_format(int64_t data_type) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const Format& format) { return format.data_type == data_type; });
  return found == kFormats.end() ? nullptr : &*found;
}

float decode_float(const Format& format, unsigned code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (format.mantissa == 0) return code == 255 ? kNan : std::ldexp(1.0F, static_cast<int>(code) - 127);
  const bool negative = (code >> (format.bits - 1)) != 0;
  const unsigned exponent = code >> format.mantissa & ((1U << format.exponent) - 1);
  const unsigned mantissa = code & ((1U << format.mantissa) - 1);
  const float sign = negative ? -1.0F : 1.0F;
  const bool no_infinities = format.name.ends_with("fnuz");
  if (no_infinities && code == 0x80) return kNan;
  if (format.data_type == 17 && (code & 0x7f) == 0x7f) return kNan;
  if (format.data_type == 19 && exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity() : kNan;
  const int scale = std::max(static_cast<int>(exponent), 1) - format.bias - format.mantissa;
  const unsigned leading = exponent == 0 ? 0 : 1U << format.mantissa;
  return sign * std::ldexp(static_cast<float>(leading + mantissa), scale);
}

int decode_integer(const Format& format, unsigned code) {
  const int value = static_cast<int>(code);
  return value > format.highest ? value - (1 << format.bits) : value;
}

/// The bytes of the tensor. Small numbers share a byte, with the first number in the lowest bits.
std::vector<uint8_t> packed_bytes(const onnx::TensorProto& proto, size_t wanted, ExternalFolder& folder) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    const std::string name(find_format(proto.data_type())->name);
    const ExternalBytes mapped = external_bytes(proto, wanted, name, folder);
    const auto* bytes = reinterpret_cast<const uint8_t*>(mapped.bytes.data());
    return {bytes, bytes + wanted};
  }
  std::vector<uint8_t> bytes;
  if (proto.has_raw_data()) {
    bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  } else {
    for (const int32_t value : proto.int32_data()) bytes.push_back(static_cast<uint8_t>(value));
  }
  if (bytes.size() != wanted)
    fail_bad_input("its data have {} bytes, but its dims need {}", bytes.size(), wanted);
  return bytes;
}

bool moves_elements(const Node& node) { return graph::traits_of(node).moves_only; }

/// Rounds |x| to the format, to nearest and ties to even. Normal numbers keep their leading bits; smaller
/// ones become whole multiples of the smallest subnormal number.
ValueId rounded_magnitude(Expansion& e, ValueId magnitude, const Format& format) {
  const auto unsigned_number = [&](uint32_t value) { return e.constant(Tensor::scalar<uint32_t>(value)); };
  const auto type = [](DType dtype) { return attributes({{"to", static_cast<int64_t>(dtype)}}); };
  const auto right = attributes({{"direction", std::string("RIGHT")}});
  const auto dropped = static_cast<uint32_t>(23 - format.mantissa);
  const ValueId bits = e.op("BitCast", {magnitude}, type(DType::kUInt32));
  const ValueId last =
      e.op("BitwiseAnd", {e.op("BitShift", {bits, unsigned_number(dropped)}, right), unsigned_number(1)});
  const ValueId half = unsigned_number((1U << (dropped - 1)) - 1);
  const ValueId raised = e.op("Add", {e.op("Add", {bits, half}), last});
  const ValueId kept = e.op("BitwiseAnd", {raised, unsigned_number(~((1U << dropped) - 1))});
  const ValueId normal = e.op("BitCast", {kept}, type(DType::kFloat32));
  const double least = std::ldexp(1.0, 1 - format.bias - format.mantissa);
  const ValueId steps = e.op("Round", {e.op("Mul", {magnitude, e.number(1 / least, DType::kFloat32)})});
  const ValueId small = e.op("Mul", {steps, e.number(least, DType::kFloat32)});
  const ValueId least_normal = e.number(std::ldexp(1.0, 1 - format.bias), DType::kFloat32);
  return e.op("Where", {e.op("Less", {magnitude, least_normal}), small, normal});
}

/// x in float32 rounded to the format. A number beyond its range becomes the largest number or, without
/// saturation, the format's infinity or NaN.
ValueId rounded(Expansion& e, ValueId x, const Format& format, bool saturates) {
  if (format.mantissa == 0) fail_bad_input("rounding to {} is not supported", format.name);
  const ValueId largest = e.number(format.largest, DType::kFloat32);
  const ValueId unbounded = rounded_magnitude(e, e.op("Abs", {x}), format);
  // float8e5m2 has infinities; the other formats only have NaN.
  const double beyond = format.data_type == 19 ? std::numeric_limits<double>::infinity()
                                               : std::numeric_limits<double>::quiet_NaN();
  const ValueId magnitude = saturates ? e.op("Min", {unbounded, largest})
                                      : e.op("Where", {e.op("Greater", {unbounded, largest}),
                                                       e.number(beyond, DType::kFloat32), unbounded});
  // A NaN stays NaN.
  const ValueId number = e.op("Mul", {magnitude, e.op("Sign", {x})});
  return e.op("Where", {e.op("IsNaN", {x}), x, number});
}

/// The scale in a form that broadcasts with x. There is a single scale, one for each index of an axis, or one
/// for each block of an axis, the last of which may be shorter.
ValueId broadcast(Expansion& e, ValueId x, ValueId scale) {
  const int64_t axis_of_file = e.integer("axis", 1);
  const int64_t block = e.integer("block_size", 0);
  const int64_t scale_rank = e.rank(scale);
  const bool single = scale_rank == 0 || (scale_rank == 1 && e.dims(scale)[0].is(1));
  if (single && block == 0) return e.op("Reshape", {scale, e.ints({})});
  const int64_t rank = e.rank(x);
  if (axis_of_file < -rank || axis_of_file >= rank)
    fail_bad_input("attribute 'axis' is {}, outside rank {}", axis_of_file, rank);
  const int64_t axis = axis_of_file < 0 ? axis_of_file + rank : axis_of_file;
  if (block == 0) {
    std::vector<int64_t> behind;
    for (int64_t i = axis + 1; i < rank; ++i) behind.push_back(i - axis);
    return behind.empty() ? scale : e.unsqueeze(scale, behind);
  }
  const graph::Dim& dim = e.dims(x)[static_cast<size_t>(axis)];
  if (!dim.known() || block < 1)
    fail_bad_input("blocks of {} along an axis of {} are not supported", block, dim.text());
  const int64_t blocks = dim.value() / block + (dim.value() % block != 0);
  if (scale_rank != rank || !e.dims(scale)[static_cast<size_t>(axis)].is(blocks))
    fail_bad_input("the scale has not one number for each of {} blocks of {} along axis {}", blocks, block,
                   axis);
  std::vector<int64_t> block_of(static_cast<size_t>(dim.value()));
  for (size_t i = 0; i < block_of.size(); ++i) block_of[i] = static_cast<int64_t>(i) / block;
  return e.op("Gather", {scale, e.ints(block_of)}, attributes({{"axis", axis}}));
}

void quantize(Expansion& e, const Format& format) {
  e.integer("output_dtype", 0);
  e.integer("precision", 0);
  const bool saturates = e.integer("saturate", 1) != 0;
  e.maybe_in(2);
  const ValueId x = e.cast(e.in(0), DType::kFloat32);
  const ValueId scale = broadcast(e, x, e.cast(e.in(1), DType::kFloat32));
  e.give(0, rounded(e, e.op("Div", {x, scale}), format, saturates));
}

void quantize_to_integers(Expansion& e, const Format& format) {
  const DType wide = wide_type(format.data_type);
  e.integer("output_dtype", 0);
  e.integer("precision", 0);
  std::vector<ValueId> inputs = {e.in(0), e.in(1)};
  if (e.has_in(2)) inputs.push_back(e.in(2));
  graph::Attributes options = e.other_attributes();
  options.set("output_dtype", static_cast<int64_t>(wide));
  const ValueId y = e.op("QuantizeLinear", inputs, options);
  e.give(0, e.op("Clip", {y, e.number(format.lowest, wide), e.number(format.highest, wide)}));
}

void dequantize(Expansion& e) {
  const auto wanted = static_cast<DType>(e.integer("output_dtype", 0));
  e.maybe_in(2);
  const ValueId scale = e.in(1);
  const DType dtype = wanted == DType::kUndefined ? e.dtype(scale) : wanted;
  const ValueId wide = broadcast(e, e.in(0), e.cast(scale, DType::kFloat32));
  e.give(0, e.cast(e.op("Mul", {e.in(0), wide}), dtype));
}

void cast(Expansion& e, const Format& format) {
  e.integer("to", 0);
  e.ignore("round_mode");
  const bool saturates = e.integer("saturate", 1) != 0;
  e.give(0, rounded(e, e.cast(e.in(0), DType::kFloat32), format, saturates));
}

}  // namespace

bool is_narrow(int64_t data_type) { return find_format(data_type) != nullptr; }

DType wide_type(int64_t data_type) {
  const Format& format = *find_format(data_type);
  if (format.is_float()) return DType::kFloat32;
  return format.lowest < 0 ? DType::kInt8 : DType::kUInt8;
}

Tensor read_narrow_tensor(const onnx::TensorProto& proto, const Shape& shape, ExternalFolder& folder) {
  const Format& format = *find_format(proto.data_type());
  const DType wide = wide_type(proto.data_type());
  const auto count = static_cast<size_t>(tensor_bytes(wide, shape)) / tensor::dtype_size(wide);
  const auto per_byte = static_cast<size_t>(8 / format.bits);
  const std::vector<uint8_t> bytes = packed_bytes(proto, (count + per_byte - 1) / per_byte, folder);
  Tensor result(wide, shape);
  const unsigned mask = (1U << format.bits) - 1;
  for (size_t i = 0; i < count; ++i) {
    const unsigned code = bytes[i / per_byte] >> (i % per_byte * static_cast<size_t>(format.bits)) & mask;
    if (format.is_float()) {
      result.mutable_values<float>()[i] = decode_float(format, code);
    } else if (wide == DType::kInt8) {
      result.mutable_values<int8_t>()[i] = static_cast<int8_t>(decode_integer(format, code));
    } else {
      result.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(code);
    }
  }
  return result;
}

int64_t NarrowValues::type_of(const graph::Graph& graph, ValueId id) const {
  const auto found = types_.find({&graph, id});
  return found == types_.end() ? 0 : found->second;
}

void NarrowValues::refuse_floats(const graph::Graph& graph, const Node& node) const {
  if (node.op == "Cast" || node.op == "QuantizeLinear" || moves_elements(node)) return;
  for (const ValueId id : node.inputs) {
    const Format* format = find_format(type_of(graph, id));
    if (format != nullptr && format->is_float())
      fail_bad_input("numbers of {} are read, which {} does not take", format->name, node.op);
  }
}

bool NarrowValues::convert(graph::Graph& graph, Node& node, int opset) {
  if (node.outputs.empty()) return false;  // later refused with its name, when its operator is checked
  const auto attribute = [&](const char* name) {
    const graph::Attribute* value = node.attributes.find(name);
    const auto* number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    return number == nullptr ? int64_t{0} : *number;
  };
  int64_t made = 0;
  if (node.op == "QuantizeLinear") {
    made = type_of(graph, node.input(2));
    if (made == 0) made = attribute("output_dtype");
  } else if (node.op == "Cast") {
    made = attribute("to");
  }
  const Format* format = find_format(made);
  const Format* read = find_format(type_of(graph, node.input(0)));
  const bool from_float = read != nullptr && read->is_float();
  if (node.op == "DequantizeLinear" && from_float) {
    Expansion e(graph, std::move(node), opset);
    dequantize(e);
    e.finish();
    return true;
  }
  if (format == nullptr) {
    refuse_floats(graph, node);
    // The elements of a byte table hold several numbers each; those of a table of smaller integers hold one.
    if (node.op == "GatherBlockQuantized" && read != nullptr) node.attributes.set(kOneNumberEach, int64_t{1});
    return false;
  }
  if (node.op == "Cast" && !format->is_float()) fail_bad_input("a cast to {} is not supported", format->name);
  types_[{&graph, node.outputs[0]}] = made;
  const bool is_cast = node.op == "Cast";
  Expansion e(graph, std::move(node), opset);
  if (is_cast) {
    cast(e, *format);
  } else if (format->is_float()) {
    quantize(e, *format);
  } else {
    quantize_to_integers(e, *format);
  }
  e.finish();
  return true;
}

void NarrowValues::pass_on(const graph::Graph& graph, const Node& node) {
  const int64_t type = type_of(graph, node.input(0));
  if (type == 0 || !moves_elements(node)) return;
  for (const ValueId id : node.outputs) {
    if (id != graph::kNoValue) set(graph, id, type);
  }
}

}  // namespace hone::importer
