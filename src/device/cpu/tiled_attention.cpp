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
#include "device/cpu/tactics.hpp"
#include "device/cpu/tile_math.hpp"
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
/// Elements of 4 bytes of a group of rows.
constexpr int64_t kGroup = kTileRows * kTileStride;

/// Elements of T that a unit of a tile holds.
template <class T>
constexpr int64_t kPerUnit = int64_t{4} / static_cast<int64_t>(sizeof(T));

/// `rows` x `columns` as panels of 32 columns by units of rows, zeros where there are none.
template <class T>
void pack(const T* from, const Matrices& m, T* to) {
  constexpr int64_t kPer = kPerUnit<T>;
  const int64_t units = parts_of(m.rows, kPer);
  const int64_t panels = parts_of(m.columns, kTileColumns);
  std::fill_n(to, panels * units * kTileColumns * kPer, T{});
  for (int64_t first = 0; first < m.columns; first += kTileColumns, to += units * kTileColumns * kPer) {
    const int64_t width = std::min(kTileColumns, m.columns - first);
    const T* const panel = from + first * m.column_stride;
    const auto copy = [&](int64_t row, int64_t column) {
      to[(row / kPer * kTileColumns + column) * kPer + row % kPer] =
          panel[row * m.row_stride + column * m.column_stride];
    };
    if (m.column_stride == 1) {
      for (int64_t row = 0; row < m.rows; ++row) {
        for (int64_t column = 0; column < width; ++column) copy(row, column);
      }
    } else {
      for (int64_t column = 0; column < width; ++column) {
        for (int64_t row = 0; row < m.rows; ++row) copy(row, column);
      }
    }
  }
}

int64_t packed_bytes(const Matrices& m, int64_t per_unit) {
  return parts_of(m.columns, kTileColumns) * parts_of(m.rows, per_unit) * kTileColumns * 4;
}

class TiledAttentionKernel final : public engine::Kernel {
 public:
  explicit TiledAttentionKernel(AttentionOperands operands)
      : o_(std::move(operands)),
        type_(tile_type(o_.storage == DType::kFloat32)),
        threads_(omp_get_max_threads()),
        key_bytes_(packed_bytes(o_.k, per_unit())),
        value_bytes_(packed_bytes(o_.v, per_unit())) {
    const int64_t groups = parts_of(o_.q.rows, tile_rows());
    int64_t blocks = 1;
    while (o_.heads() * blocks < kEnoughHeads * threads_ && blocks < groups) ++blocks;
    if (threads_ == 1) blocks = 1;
    block_ = parts_of(groups, blocks) * tile_rows();
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const int64_t tasks = o_.heads() * blocks();
    const int threads = static_cast<int>(std::min<int64_t>({threads_, omp_get_max_threads(), tasks}));
    std::atomic<int64_t> next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
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
  int64_t per_unit() const { return type_ == TileType::kFloat32 ? kPerUnit<float> : kPerUnit<BFloat16>; }
  int64_t blocks() const { return parts_of(o_.q.rows, block_); }
  int64_t thread_bytes() const { return key_bytes_ + value_bytes_ + 3 * kGroup * 4; }

  template <class T>
  static const T* input(const engine::Run& run, const Matrices& m, size_t head) {
    return static_cast<const T*>(run.inputs[m.operand]) + m.offsets[head];
  }

  /// Runs a block of elements of T, with rows of elements of Row.
  template <class T, class Row>
  void run_block(const engine::Run& run, size_t head, int64_t first, std::byte* scratch) const {
    auto* const keys = reinterpret_cast<T*>(scratch);
    auto* const values = reinterpret_cast<T*>(scratch + key_bytes_);
    pack(input<T>(run, o_.k, head), o_.k, keys);
    pack(input<T>(run, o_.v, head), o_.v, values);
    auto* const queries = reinterpret_cast<uint32_t*>(scratch + key_bytes_ + value_bytes_);
    const int64_t end = std::min(first + block_, o_.q.rows);
    // Tiles of equal heights: a low last tile would load the same for less work.
    const int64_t height = parts_of(end - first, parts_of(end - first, tile_rows()));
    for (int64_t row = first; row < end; row += height) {
      const int64_t rows = std::min(height, end - row);
      copy_queries<T, Row>(input<T>(run, o_.q, head) + row * o_.q.row_stride, rows, queries);
      auto* const scores = reinterpret_cast<float*>(queries + kGroup);
      score(queries, reinterpret_cast<const uint32_t*>(keys), rows, scores);
      for (int64_t i = 0; i < rows; ++i) o_.weigh(run.inputs, head, row + i, scores + i * kTileStride);
      const uint32_t* const weights = weights_of<Row>(scores, rows, queries + 2 * kGroup);
      T* const result =
          static_cast<T*>(run.outputs[0]) + o_.result.offsets[head] + row * o_.result.row_stride;
      sum_values(weights, reinterpret_cast<const uint32_t*>(values), rows, result);
    }
  }

  /// Rows next to each other, with a zero after an odd number of neighbours.
  template <class T, class Row>
  void copy_queries(const T* from, int64_t rows, uint32_t* to) const {
    for (int64_t row = 0; row < rows; ++row, from += o_.q.row_stride, to += kTileStride) {
      auto* const line = reinterpret_cast<Row*>(to);
      const auto columns = static_cast<size_t>(o_.q.columns);
      if (o_.q.columns % per_unit() != 0) line[columns] = Row{};
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

  void score(const uint32_t* queries, const uint32_t* keys, int64_t rows, float* scores) const {
    const int64_t units = parts_of(o_.k.rows, per_unit());
    for (int64_t first = 0; first < o_.keys(); first += kTileColumns, keys += units * kTileColumns) {
      const int64_t columns = std::min(kTileColumns, o_.keys() - first);
      multiply_tile(type_, rows, queries, keys, units,
                    {columns, nullptr, TileStart::kBias, false, scores + first, kTileStride, nullptr, 0});
    }
  }

  /// The weights as rows of a tile.
  template <class Row>
  const uint32_t* weights_of(float* scores, int64_t rows, uint32_t* to) const {
    const bool is_odd = o_.keys() % per_unit() != 0;
    if constexpr (std::is_same_v<Row, float>) {
      for (int64_t row = 0; is_odd && row < rows; ++row) scores[row * kTileStride + o_.keys()] = 0;
      return reinterpret_cast<const uint32_t*>(scores);
    } else {
      for (int64_t row = 0; row < rows; ++row) {
        uint32_t* const line = to + row * kTileStride;
        if (is_odd) line[o_.keys() / per_unit()] = 0;
        narrow(scores + row * kTileStride, reinterpret_cast<Row*>(line), static_cast<size_t>(o_.keys()));
      }
      return to;
    }
  }

  template <class T>
  void sum_values(const uint32_t* weights, const uint32_t* values, int64_t rows, T* result) const {
    const int64_t units = parts_of(o_.v.rows, kPerUnit<T>);
    for (int64_t first = 0; first < o_.v.columns; first += kTileColumns, values += units * kTileColumns) {
      const int64_t columns = std::min(kTileColumns, o_.v.columns - first);
      multiply_tile(
          type_, rows, weights, values, units,
          {columns, nullptr, TileStart::kBias, true, nullptr, 0, result + first, o_.result.row_stride});
    }
  }

  AttentionOperands o_;
  TileType type_;
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
