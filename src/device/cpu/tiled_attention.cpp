// Attention (graph/attention.hpp) with products of ours, for sequences whose scores fit one sum of a tile
// (tile_math.hpp): windows of some dozen tokens, sentences of some hundred. Keys and values of a head are
// packed once, then a tile of rows after the other has its scores, weights and results in the first-level
// cache.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "device/cpu/attention_operands.hpp"
#include "device/cpu/chain_math.hpp"
#include "device/cpu/clones.hpp"
#include "device/cpu/tactics.hpp"
#include "device/cpu/tile_math.hpp"
#include "device/cpu/tile_math_amx.hpp"
#include "device/cpu/tiled_attention.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using engine::Offer;
using engine::StepRequest;
using tensor::BFloat16;
using tensor::DType;

/// Heads a thread from which on a task is a whole head, which is packed once then.
constexpr int64_t kEnoughHeads = 4;
/// Elements of T that a unit of a tile holds.
template <class T>
constexpr int64_t kPerUnit = int64_t{4} / static_cast<int64_t>(sizeof(T));

/// Units of columns whose elements lie next to each other, `stride` units from one column to the next.
void pack_columns(const uint32_t* from, int64_t stride, int64_t columns, int64_t units, uint32_t* to) {
  for (int64_t column = 0; column < columns; ++column, from += stride) {
    for (int64_t unit = 0; unit < units; ++unit) to[unit * kTileColumns + column] = from[unit];
  }
}

/// Pairs of rows that lie `stride` elements apart.
HONE_CLONES void pack_pairs(const uint16_t* __restrict from, int64_t stride, int64_t columns, int64_t pairs,
                            uint32_t* __restrict to) {
  for (int64_t pair = 0; pair < pairs; ++pair, from += 2 * stride, to += kTileColumns) {
    for (int64_t column = 0; column < columns; ++column)
      to[column] = from[column] | uint32_t{from[stride + column]} << 16;
  }
}

/// `rows` x `columns` as panels of 32 columns by `units` units of rows, zeros where there are none.
template <class T>
void pack(const T* from, const Matrices& m, int64_t units, T* to) {
  constexpr int64_t kPer = kPerUnit<T>;
  const int64_t panels = parts_of(m.columns, kTileColumns);
  std::fill_n(to, panels * units * kTileColumns * kPer, T{});
  for (int64_t first = 0; first < m.columns; first += kTileColumns, to += units * kTileColumns * kPer) {
    const int64_t width = std::min(kTileColumns, m.columns - first);
    const T* const panel = from + first * m.column_stride;
    auto* const packed = reinterpret_cast<uint32_t*>(to);
    // The first row that is copied element by element: it follows whole units, if they could be copied.
    int64_t begin = 0;
    if (m.row_stride == 1 && m.column_stride % kPer == 0 && reinterpret_cast<uintptr_t>(panel) % 4 == 0) {
      pack_columns(reinterpret_cast<const uint32_t*>(panel), m.column_stride / kPer, width, m.rows / kPer,
                   packed);
      begin = m.rows / kPer * kPer;
    } else if (m.column_stride == 1 && kPer == 2) {
      pack_pairs(reinterpret_cast<const uint16_t*>(panel), m.row_stride, width, m.rows / kPer, packed);
      begin = m.rows / kPer * kPer;
    }
    for (int64_t row = begin; row < m.rows; ++row) {
      for (int64_t column = 0; column < width; ++column)
        to[(row / kPer * kTileColumns + column) * kPer + row % kPer] =
            panel[row * m.row_stride + column * m.column_stride];
    }
  }
}

class TiledAttentionKernel final : public engine::Kernel {
 public:
  explicit TiledAttentionKernel(AttentionOperands operands)
      : o_(std::move(operands)),
        type_(tile_type(o_.storage == DType::kFloat32)),
        tile_rows_(is_amx() ? kAmxTileRows : tile_rows()),
        threads_(omp_get_max_threads()),
        key_bytes_(packed_bytes(o_.k)),
        value_bytes_(packed_bytes(o_.v)) {
    const int64_t groups = parts_of(o_.q.rows, tile_rows_);
    int64_t blocks = 1;
    while (o_.heads() * blocks < kEnoughHeads * threads_ && blocks < groups) ++blocks;
    if (threads_ == 1) blocks = 1;
    block_ = parts_of(groups, blocks) * tile_rows_;
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const int64_t tasks = o_.heads() * blocks();
    const int threads = static_cast<int>(std::min<int64_t>({threads_, omp_get_max_threads(), tasks}));
    std::atomic<int64_t> next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      const AmxRegisters registers(is_amx());
      std::byte* const scratch = static_cast<std::byte*>(run.scratch) + omp_get_thread_num() * thread_bytes();
      for (int64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
        const auto head = static_cast<size_t>(task / blocks());
        const int64_t first = task % blocks() * block_;
        if (type_ == TileType::kFloat32) {
          run_block<float, float>(run, head, first, scratch);
        } else if (type_ == TileType::kWidened) {
          run_block<BFloat16, float>(run, head, first, scratch);
        } else {
          run_block<BFloat16, BFloat16>(run, head, first, scratch);
        }
      }
    }
  }

 private:
  bool is_amx() const { return type_ == TileType::kAmx; }
  int64_t per_unit() const { return type_ == TileType::kFloat32 ? kPerUnit<float> : kPerUnit<BFloat16>; }
  int64_t blocks() const { return parts_of(o_.q.rows, block_); }
  /// Units of `elements` next to each other, as tiles read them.
  int64_t units_of(int64_t elements) const {
    const int64_t units = parts_of(elements, per_unit());
    return is_amx() ? parts_of(units, kAmxUnits) * kAmxUnits : units;
  }
  int64_t packed_bytes(const Matrices& m) const {
    return parts_of(m.columns, kTileColumns) * units_of(m.rows) * kTileColumns * 4;
  }
  /// Elements of 4 bytes of a group of rows.
  int64_t group() const { return tile_rows_ * kTileStride; }
  int64_t thread_bytes() const { return key_bytes_ + value_bytes_ + 3 * group() * 4; }

  template <class T>
  static const T* input(const engine::Run& run, const Matrices& m, size_t head) {
    return static_cast<const T*>(run.inputs[m.operand]) + m.offsets[head];
  }

  /// Runs a block of elements of T, with rows of elements of Row.
  template <class T, class Row>
  void run_block(const engine::Run& run, size_t head, int64_t first, std::byte* scratch) const {
    auto* const keys = reinterpret_cast<T*>(scratch);
    auto* const values = reinterpret_cast<T*>(scratch + key_bytes_);
    pack(input<T>(run, o_.k, head), o_.k, units_of(o_.k.rows), keys);
    pack(input<T>(run, o_.v, head), o_.v, units_of(o_.v.rows), values);
    auto* const queries = reinterpret_cast<uint32_t*>(scratch + key_bytes_ + value_bytes_);
    const int64_t end = std::min(first + block_, o_.q.rows);
    // Tiles of equal heights: a low last tile would load the same for less work.
    const int64_t height = is_amx() ? tile_rows_ : parts_of(end - first, parts_of(end - first, tile_rows_));
    for (int64_t row = first; row < end; row += height) {
      const int64_t rows = std::min(height, end - row);
      copy_queries<T, Row>(input<T>(run, o_.q, head) + row * o_.q.row_stride, rows, queries);
      auto* const scores = reinterpret_cast<float*>(queries + group());
      score(queries, reinterpret_cast<const uint32_t*>(keys), rows, scores);
      for (int64_t i = 0; i < rows; ++i) o_.weigh(run.inputs, head, row + i, scores + i * kTileStride);
      const uint32_t* const weights = weights_of<Row>(scores, rows, queries + 2 * group());
      T* const result =
          static_cast<T*>(run.outputs[0]) + o_.result.offsets[head] + row * o_.result.row_stride;
      sum_values(weights, reinterpret_cast<const uint32_t*>(values), rows, result);
    }
  }

  /// Fills the row with zeros after `count` elements, to the end of its last unit or register.
  template <class Row>
  void fill_row(uint32_t* row, int64_t count) const {
    auto* const line = reinterpret_cast<Row*>(row);
    std::fill(line + count, line + units_of(count) * per_unit(), Row{});
  }

  /// Rows next to each other.
  template <class T, class Row>
  void copy_queries(const T* from, int64_t rows, uint32_t* to) const {
    for (int64_t row = 0; row < rows; ++row, from += o_.q.row_stride, to += kTileStride) {
      auto* const line = reinterpret_cast<Row*>(to);
      const auto columns = static_cast<size_t>(o_.q.columns);
      fill_row<Row>(to, o_.q.columns);
      if constexpr (std::is_same_v<T, Row>) {
        if (o_.q.column_stride == 1) {
          std::memcpy(line, from, columns * sizeof(T));
        } else {
          for (int64_t i = 0; i < o_.q.columns; ++i) line[i] = from[i * o_.q.column_stride];
        }
      } else if (o_.q.column_stride == 1) {
        widen(from, line, columns);
      } else {
        for (int64_t i = 0; i < o_.q.columns; ++i) widen(from + i * o_.q.column_stride, line + i, 1);
      }
    }
  }

  void multiply(int64_t rows, const uint32_t* a, const uint32_t* b, int64_t units,
                const TileTarget& target) const {
    if (!is_amx()) return multiply_tile(type_, rows, a, b, units, target);
    multiply_amx_tile(rows, {a, kTileStride, b, units}, target);
  }

  void score(const uint32_t* queries, const uint32_t* keys, int64_t rows, float* scores) const {
    const int64_t units = units_of(o_.k.rows);
    for (int64_t first = 0; first < o_.keys(); first += kTileColumns, keys += units * kTileColumns) {
      const int64_t columns = std::min(kTileColumns, o_.keys() - first);
      multiply(rows, queries, keys, units,
               {columns, nullptr, TileStart::kBias, false, scores + first, kTileStride, nullptr, 0});
    }
  }

  /// The weights as rows of a tile.
  template <class Row>
  const uint32_t* weights_of(float* scores, int64_t rows, uint32_t* to) const {
    if constexpr (std::is_same_v<Row, float>) {
      auto* const weights = reinterpret_cast<uint32_t*>(scores);
      for (int64_t row = 0; row < rows; ++row) fill_row<Row>(weights + row * kTileStride, o_.keys());
      return weights;
    } else {
      for (int64_t row = 0; row < rows; ++row) {
        uint32_t* const line = to + row * kTileStride;
        fill_row<Row>(line, o_.keys());
        narrow(scores + row * kTileStride, reinterpret_cast<Row*>(line), static_cast<size_t>(o_.keys()));
      }
      return to;
    }
  }

  template <class T>
  void sum_values(const uint32_t* weights, const uint32_t* values, int64_t rows, T* result) const {
    const int64_t units = units_of(o_.v.rows);
    for (int64_t first = 0; first < o_.v.columns; first += kTileColumns, values += units * kTileColumns) {
      const int64_t columns = std::min(kTileColumns, o_.v.columns - first);
      multiply(rows, weights, values, units,
               {columns, nullptr, TileStart::kBias, true, nullptr, 0, result + first, o_.result.row_stride});
    }
  }

  AttentionOperands o_;
  TileType type_;
  int64_t tile_rows_;
  int64_t threads_;
  int64_t key_bytes_;
  int64_t value_bytes_;
  /// Rows of a task.
  int64_t block_ = 1;
};

Offer offer_tiled_attention(const StepRequest& request, engine::WeightStore&) {
  const DType storage = request.storage();
  if (!has_tiles(tile_type(storage == DType::kFloat32)))
    return Offer::refuse("the CPU has no vectors for operands of this type");
  Offer offer;
  AttentionOperands operands;
  if (Refusal reason = arrange_attention(request, offer, operands)) return Offer::refuse(std::move(reason));
  if (operands.keys() > kTileUnits || operands.q.columns > kTileUnits)
    return Offer::refuse(fmt::format("more than {} keys or features of one", kTileUnits));
  auto kernel = std::make_shared<TiledAttentionKernel>(std::move(operands));
  offer.scratch_bytes = kernel->scratch_bytes();
  offer.kernel = std::move(kernel);
  return offer;
}

}  // namespace

void add_tiled_attention_tactics(TacticList& list) {
  list.push_back({.name = "tiled_attention",
                  .operators = {"Region:" + std::string(graph::kAttention)},
                  .requirements = {engine::only_float32, engine::nonempty_output},
                  .make = offer_tiled_attention});
}

}  // namespace hone::device::cpu
