// Weights of 2, 4 or 8 bits that are quantized in blocks: MatMulNBits and GatherBlockQuantized of
// com.microsoft. Constant matrices are dequantized when the model is read; otherwise DequantizeLinear with
// blocks does it.
#include <algorithm>

#include "base/checked.hpp"
#include "import/onnx/expand/rules.hpp"

namespace hone::importer {
namespace {

using graph::DType;
using graph::kNoValue;
using graph::Tensor;
using graph::ValueId;

/// Unpacks [rows, bytes] to [rows, bytes · 8 / bits] numbers; the low bits of a byte come first.
ValueId unpack(Expansion& e, ValueId packed, int64_t bits, const Extent& rows) {
  if (bits == 8) return packed;
  const auto mask = Tensor::scalar<uint8_t>(static_cast<uint8_t>((1 << bits) - 1));
  const auto right = attributes({{"direction", std::string("RIGHT")}});
  std::vector<ValueId> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    ValueId part = packed;
    if (shift > 0) {
      const ValueId distance = e.constant(Tensor::scalar<uint8_t>(static_cast<uint8_t>(shift)));
      part = e.op("BitShift", {part, distance}, right);
    }
    if (shift + bits < 8) part = e.op("BitwiseAnd", {part, e.constant(mask)});
    parts.push_back(e.unsqueeze(part, {-1}));
  }
  return e.reshape(e.concat(parts, -1), {rows, e.mul(e.extent(packed, 1), 8 / bits)});
}

int64_t checked_bits(Expansion& e) {
  const int64_t bits = e.integer("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) fail_bad_input("attribute 'bits' is {}, expected 2, 4 or 8", bits);
  return bits;
}

/// Numbers quantized in blocks along the second of two axes.
struct Blocks {
  ValueId numbers;  ///< [rows, blocks · size] bytes
  ValueId scales;   ///< [rows, blocks]
  ValueId zeros;    ///< [rows, blocks], bytes or of the type of the scales
  Extent rows;
  int64_t blocks, size;
};

ValueId dequantize(Expansion& e, const Blocks& b) {
  if (e.dtype(b.zeros) == e.dtype(b.numbers)) {
    return e.op("DequantizeLinear", {b.numbers, b.scales, b.zeros},
                attributes({{"axis", int64_t{1}}, {"block_size", b.size}}));
  }
  const ValueId wide = e.cast(e.reshape(b.numbers, {b.rows, b.blocks, b.size}), e.dtype(b.scales));
  const ValueId centred = e.op("Sub", {wide, e.unsqueeze(b.zeros, {2})});
  return e.reshape(e.op("Mul", {centred, e.unsqueeze(b.scales, {2})}), {b.rows, e.mul(b.blocks, b.size)});
}

/// The zero points, or the middle of the range if the file has none.
ValueId read_zeros(Expansion& e, ValueId zeros, int64_t bits, const Extent& rows, int64_t blocks) {
  if (zeros == kNoValue) {
    const ValueId middle = e.constant(Tensor::scalar<uint8_t>(static_cast<uint8_t>(1 << (bits - 1))));
    return e.op("Expand", {middle, e.list({rows, blocks})});
  }
  if (e.dtype(zeros) != DType::kUInt8) return e.reshape(zeros, {rows, blocks});
  const Extent bytes = e.div(e.add(e.mul(blocks, bits), 7), 8);
  const ValueId unpacked = unpack(e, e.reshape(zeros, {rows, bytes}), bits, rows);
  return e.slice(unpacked, 1, 0, blocks);
}

/// The parts of a MatMulNBits matrix as they are in the file.
struct PackedMatrix {
  ValueId numbers, scales, zeros;  ///< zeros may be absent
  int64_t columns, depth, bits, blocks, size;
};

/// The zero point of each block, [columns · blocks]; empty if the sizes do not fit.
std::vector<double> block_zeros(const PackedMatrix& m, const Tensor* zeros) {
  const auto count = static_cast<size_t>(m.columns * m.blocks);
  if (zeros == nullptr) return std::vector<double>(count, static_cast<double>(int64_t{1} << (m.bits - 1)));
  if (zeros->dtype() != DType::kUInt8) {
    return zeros->size() == m.columns * m.blocks ? zeros->to_double() : std::vector<double>{};
  }
  const int64_t row_bytes = (m.blocks * m.bits + 7) / 8;
  if (zeros->size() != m.columns * row_bytes) return {};
  const auto bytes = zeros->values<uint8_t>();
  std::vector<double> result;
  result.reserve(count);
  for (int64_t column = 0; column < m.columns; ++column) {
    for (int64_t block = 0; block < m.blocks; ++block) {
      const int64_t bit = block * m.bits;
      const int byte = bytes[static_cast<size_t>(column * row_bytes + bit / 8)];
      result.push_back((byte >> (bit % 8)) & ((1 << m.bits) - 1));
    }
  }
  return result;
}

/// The matrix [depth, columns] if it is constant. It is computed here because it is many times larger than
/// its packed form, which constant folding does not allow. Nullopt if it is not constant or sizes do not fit.
std::optional<Tensor> constant_matrix(Expansion& e, const PackedMatrix& m) {
  const Tensor* packed = e.graph.constant(m.numbers);
  const Tensor* scales = e.graph.constant(m.scales);
  const Tensor* zeros = e.graph.constant(m.zeros);
  if (packed == nullptr || scales == nullptr || (m.zeros != kNoValue && zeros == nullptr)) return {};
  const int64_t block_bytes = m.size * m.bits / 8;
  const int64_t block_count = base::checked_mul(m.columns, m.blocks);
  if (packed->dtype() != DType::kUInt8 || scales->size() != block_count ||
      packed->size() != base::checked_mul(block_count, block_bytes)) {
    return {};
  }
  const std::vector<double> zero = block_zeros(m, zeros);
  if (zero.empty()) return {};
  const std::vector<double> scale = scales->to_double();
  const uint8_t* bytes = packed->values<uint8_t>().data();
  Tensor matrix(DType::kFloat32, {m.depth, m.columns});
  float* out = matrix.mutable_values<float>().data();
  const int mask = (1 << m.bits) - 1;
  // Columns are processed in groups, so that consecutive writes are adjacent in memory.
  constexpr int64_t kGroup = 16;
  for (int64_t first = 0; first < m.columns; first += kGroup) {
    const int64_t last = std::min(first + kGroup, m.columns);
    for (int64_t row = 0; row < m.depth; ++row) {
      const int64_t bit = row % m.size * m.bits;
      for (int64_t column = first; column < last; ++column) {
        const int64_t block = column * m.blocks + row / m.size;
        const int number = (bytes[block * block_bytes + bit / 8] >> (bit % 8)) & mask;
        const auto at = static_cast<size_t>(block);
        out[row * m.columns + column] = static_cast<float>((number - zero[at]) * scale[at]);
      }
    }
  }
  return matrix;
}

/// The same matrix, computed by nodes of the graph.
ValueId computed_matrix(Expansion& e, const PackedMatrix& m) {
  Blocks weights{.rows = m.columns, .blocks = m.blocks, .size = m.size};
  const ValueId packed = e.reshape(m.numbers, {m.columns, m.blocks * (m.size * m.bits / 8)});
  weights.numbers = unpack(e, packed, m.bits, m.columns);
  weights.scales = e.reshape(m.scales, {m.columns, m.blocks});
  weights.zeros = read_zeros(e, m.zeros, m.bits, m.columns, m.blocks);
  ValueId matrix = dequantize(e, weights);
  if (m.blocks * m.size != m.depth) matrix = e.slice(matrix, 1, 0, m.depth);
  return e.transpose(matrix, {1, 0});
}

void matmul_nbits(Expansion& e) {
  const int64_t columns = e.count("N");
  const int64_t depth = e.count("K");
  const int64_t bits = checked_bits(e);
  const int64_t size = e.count("block_size");
  if (size % 8 != 0) fail_bad_input("attribute 'block_size' is {}, expected a multiple of 8", size);
  e.ignore("accuracy_level");
  if (e.integer("weight_prepacked", 0) != 0)
    fail_bad_input("attribute 'weight_prepacked' is set, which is not supported");
  const int64_t blocks = depth / size + (depth % size != 0);
  const PackedMatrix packed{e.in(1), e.in(2), e.maybe_in(3), columns, depth, bits, blocks, size};
  auto constant = constant_matrix(e, packed);
  const ValueId x = e.in(0);
  const DType dtype = e.dtype(x);
  const ValueId matrix =
      constant ? e.constant(dtype == DType::kFloat32 ? std::move(*constant) : constant->cast(dtype))
               : e.cast(computed_matrix(e, packed), dtype);
  const ValueId y = e.op("MatMul", {x, matrix});
  e.give(0, e.has_in(5) ? e.op("Add", {y, e.in(5)}) : y);
}

/// Gathers along any axis of a table of 4-bit integers, each of which is stored in its own element.
void gather_small_integers(Expansion& e) {
  const int64_t rank = e.rank(e.in(0));
  const int64_t gathered = tensor::normalize_axis(e.integer("gather_axis", 0), rank);
  const int64_t quantized = tensor::normalize_axis(e.integer("quantize_axis", 1), rank);
  const int64_t size = e.has_attribute("block_size") ? e.count("block_size") : 128;
  e.ignore("bits");
  if (gathered == quantized) fail_bad_input("gather_axis and quantize_axis are both {}", gathered);
  const auto picked = [&](size_t input) {
    return e.op("Gather", {e.in(input), e.in(1)}, attributes({{"axis", gathered}}));
  };
  std::vector<ValueId> inputs = {picked(0), picked(2)};
  if (e.has_in(3)) inputs.push_back(picked(3));
  // The axes of the indices replace the gathered axis.
  const int64_t axis = quantized > gathered ? quantized + e.rank(e.in(1)) - 1 : quantized;
  e.give(0, e.op("DequantizeLinear", inputs, attributes({{"axis", axis}, {"block_size", size}})));
}

/// Gathers rows of a table whose second axis is quantized in blocks.
void gather_block_quantized(Expansion& e) {
  if (e.integer(kOneNumberEach, 0) != 0) return gather_small_integers(e);
  const ValueId data = e.in(0);
  const ValueId scales = e.in(2);
  e.require_rank(data, 2, "input 0");
  const int64_t quantized = e.integer("quantize_axis", 1);
  const int64_t gathered = e.integer("gather_axis", 0);
  if (gathered != 0 || (quantized != 1 && quantized != -1) || e.dtype(data) != DType::kUInt8) {
    fail_bad_input(
        "gather_axis {} and quantize_axis {} on {} are not supported, only rows of uint8 tables in blocks "
        "along axis 1 are",
        gathered, quantized, tensor::dtype_name(e.dtype(data)));
  }
  const int64_t bits = checked_bits(e);
  const Extent blocks = e.extent(scales, 1);
  if (!blocks.known()) fail_bad_input("the shape of input 2 (scales) is not known");
  const ValueId ids = e.op("Reshape", {e.in(1), e.ints({-1})});
  const auto rows_of = [&](ValueId table) {
    return e.op("Gather", {table, ids}, attributes({{"axis", int64_t{0}}}));
  };
  const ValueId packed = rows_of(data);
  const Extent rows = e.extent(packed, 0);
  Blocks table{.rows = rows,
               .blocks = *blocks.number,
               .size = e.has_attribute("block_size") ? e.count("block_size") : 128};
  table.numbers = unpack(e, packed, bits, rows);
  table.scales = rows_of(scales);
  table.zeros = read_zeros(e, e.has_in(3) ? rows_of(e.in(3)) : kNoValue, bits, rows, table.blocks);
  const ValueId values = dequantize(e, table);
  std::vector<Extent> shape;
  for (int64_t i = 0; i < e.rank(e.in(1)); ++i) shape.push_back(e.extent(e.in(1), i));
  shape.push_back(e.extent(values, 1));
  e.give(0, e.reshape(values, shape));
}

constexpr ExpansionRule kRules[] = {
    {kMicrosoft, "MatMulNBits", 0, matmul_nbits},
    {kMicrosoft, "GatherBlockQuantized", 0, gather_block_quantized},
};

}  // namespace

std::span<const ExpansionRule> block_quantized_expansions() { return kRules; }

}  // namespace hone::importer
