// See sums_kernel.hpp:
//
//     a: rows x inner              b: inner x columns            sums: rows x columns
//     ┌──────────────┐             ┌──┬──┬──┐                    ┌──┬──┬──┐
//     │ a block of   │      x      │  │  │  │ panels of 32   =   │  │  │  │ of a block of rows and of panels,
//     │ rows, copied │             │  │  │  │ columns            │  │  │  │ then made results
//     └──────────────┘             └──┴──┴──┘                    └──┴──┴──┘
#include <algorithm>

#include "device/cpu/clones.hpp"
#include "device/cpu/quantized/sums_kernel.hpp"
#include "device/cpu/ranges.hpp"

namespace hone::device::cpu {
namespace {

using graph::Range;

/// Rows that are copied at a time, and panels of columns that they are multiplied with: they and their sums
/// take 170 KB of an L2 cache.
constexpr int64_t kBlockRows = 4 * kTileRows;
constexpr int64_t kBlockPanels = 8;
/// Multiplications that are worth a second thread.
constexpr int64_t kWorthThreads = 1 << 18;

/// sums[i] -= factor * shifts[i]. The result fits into 32 bits; the product may not.
HONE_CLONES void subtract(int32_t factor, const int32_t* __restrict shifts, int32_t* __restrict sums,
                          int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) -
                                   static_cast<uint32_t>(factor) * static_cast<uint32_t>(shifts[i]));
}

class TiledSumsKernel final : public SumsKernel {
 public:
  TiledSumsKernel(SumsProblem problem, const BytePositions& at, Requantization requantization,
                  const std::byte* packed)
      : SumsKernel(std::move(problem), at, std::move(requantization)), packed_(packed) {
    const int64_t others = problem_.stacks() * wide();
    parts_ = parts_of(problem_.rows, kBlockRows);
    // Lower blocks where threads would have nothing to do, but no lower than a tile.
    if (threads_ > 1 && parts_ * others < 2 * threads_)
      parts_ = std::clamp(parts_of(2 * threads_, others), parts_, parts_of(problem_.rows, kTileRows));
  }

  void run(const engine::Run& run) const override {
    auto* const scratch = static_cast<std::byte*>(run.scratch);
    Operands operands{packed_,
                      memory_at<int32_t>(scratch, 0),
                      memory_at<int32_t>(scratch, start_bytes()),
                      {problem_.form, problem_.a_type, a_zero(run)},
                      false};
    if (packed_ == nullptr) {
      auto* const b = scratch + 2 * start_bytes();
      problem_.pack(run.inputs[at_.b], b);
      operands.b = b;
    }
    prepare_columns(run, operands);
    const int64_t tasks = problem_.stacks() * parts_ * wide();
    const bool parallel = tasks > 1 && problem_.multiplications() > kWorthThreads;
    in_shares(tasks, threads_, parallel, [&](int64_t begin, int64_t end, int64_t thread) {
      const Memory memory = memory_of(scratch + shared_bytes() + thread * thread_bytes());
      int64_t copied = -1;
      for (int64_t task = begin; task < end; ++task) {
        const Block block = block_at(task / (parts_ * wide()), task / wide() % parts_, task % wide());
        run_block(run, operands, block, task / wide() == copied, memory);
        // Rows that are whole stay for the next panels.
        copied = problem_.units() <= kTileUnits ? task / wide() : -1;
      }
    });
  }

 private:
  /// Read by all tasks.
  struct Operands {
    const std::byte* b;
    /// Where the sums of each column begin, and its zero point, of all matrices.
    int32_t* starts;
    int32_t* shifts;
    ByteRows rows;
    /// True if a zero point of a column is not zero.
    bool shifts_columns;
  };
  /// One thread's own.
  struct Memory {
    uint32_t* rows;
    int32_t* sums;
    int32_t* row_sums;
    float* floats;
  };
  struct Block {
    int64_t stack;
    Range rows;
    Range panels;
  };

  static constexpr int64_t kBlockColumns = kBlockPanels * kTileColumns;
  static constexpr int64_t kRowsBytes = kBlockRows * kTileStride * 4;
  static constexpr int64_t kSumsBytes = kBlockRows * kBlockColumns * 4;
  static constexpr int64_t kRowSumsBytes = (kBlockRows * 4 + 63) / 64 * 64;

  template <class T>
  static T* memory_at(std::byte* base, int64_t offset) {
    return reinterpret_cast<T*>(base + offset);
  }
  static Memory memory_of(std::byte* at) {
    return {memory_at<uint32_t>(at, 0), memory_at<int32_t>(at, kRowsBytes),
            memory_at<int32_t>(at, kRowsBytes + kSumsBytes),
            memory_at<float>(at, kRowsBytes + kSumsBytes + kRowSumsBytes)};
  }
  int64_t thread_bytes() const override {
    return kRowsBytes + kSumsBytes + kRowSumsBytes + kBlockColumns * 4;
  }
  int64_t start_bytes() const { return aligned(problem_.b_matrices * problem_.columns * 4); }
  int64_t shared_bytes() const override {
    return 2 * start_bytes() + (packed_ != nullptr ? 0 : aligned(problem_.packed_bytes()));
  }

  void prepare_columns(const engine::Run& run, Operands& operands) const {
    const int64_t za = operands.rows.shift();
    for (int64_t matrix = 0; matrix < problem_.b_matrices; ++matrix) {
      const int32_t* const sums = problem_.column_sums(operands.b, matrix);
      for (int64_t c = 0; c < problem_.columns; ++c) {
        const int64_t at = matrix * problem_.columns + c;
        const int64_t column = problem_.is_convolution ? at : c;
        const int64_t zb = column_shift(problem_.form, problem_.b_type, b_zero(run, column));
        operands.shifts[at] = static_cast<int32_t>(zb);
        operands.shifts_columns = operands.shifts_columns || zb != 0;
        operands.starts[at] =
            static_cast<int32_t>(bias(run, column) - za * sums[c] + problem_.inner * za * zb);
      }
    }
  }

  /// Parts of all panels.
  int64_t wide() const { return parts_of(problem_.panels(), kBlockPanels); }
  Block block_at(int64_t stack, int64_t part, int64_t panels) const {
    const int64_t first = panels * kBlockPanels;
    return {stack,
            {problem_.rows * part / parts_, problem_.rows * (part + 1) / parts_},
            {first, std::min(first + kBlockPanels, problem_.panels())}};
  }

  void run_block(const engine::Run& run, const Operands& operands, const Block& block, bool is_copied,
                 const Memory& memory) const {
    const int64_t matrix = problem_.b_matrix[static_cast<size_t>(block.stack)];
    for (int64_t unit = 0; unit < problem_.units(); unit += kTileUnits) {
      const int64_t units = std::min(problem_.units() - unit, kTileUnits);
      if (!is_copied) copy_rows(run, operands, block, {unit, unit + units}, memory);
      multiply(operands, matrix, block, {unit, unit + units}, memory);
    }
    const int64_t first = block.panels.begin * kTileColumns;
    const int64_t count = std::min(block.panels.end * kTileColumns, problem_.columns) - first;
    const int64_t column = problem_.is_convolution ? matrix * problem_.columns + first : first;
    for (int64_t r = 0; r < block.rows.size(); ++r) {
      int32_t* const sums = memory.sums + r * kBlockColumns;
      if (operands.shifts_columns)
        subtract(memory.row_sums[r], operands.shifts + matrix * problem_.columns + first, sums, count);
      store(run, problem_.result_row(block.stack) + block.rows.begin + r, column, sums, count, memory.floats);
    }
  }

  /// The elements of these units of the block's rows.
  void copy_rows(const engine::Run& run, const Operands& operands, const Block& block, Range units,
                 const Memory& memory) const {
    const int64_t per_unit = bytes_per_unit(problem_.form);
    const Range inner = {units.begin * per_unit, std::min(units.end * per_unit, problem_.inner)};
    for (int64_t r = 0; r < block.rows.size(); ++r) {
      uint32_t* const row = memory.rows + r * kTileStride;
      // The rest of the last unit meets zeros.
      row[units.size() - 1] = 0;
      problem_.copy_row(run.inputs[at_.a], operands.rows, block.stack, block.rows.begin + r, inner, row);
      const int32_t before = units.begin == 0 ? 0 : memory.row_sums[r];
      if (operands.shifts_columns) memory.row_sums[r] = before + operands.rows.sum(row, inner.size());
    }
  }

  void multiply(const Operands& operands, int64_t matrix, const Block& block, Range units,
                const Memory& memory) const {
    const int64_t tiles = parts_of(block.rows.size(), tile_rows());
    TileTarget target{};
    target.start = units.begin > 0 ? TileStart::kSums : TileStart::kBias;
    target.ends = true;
    target.sums_stride = target.result_stride = kBlockColumns;
    for (int64_t panel = block.panels.begin; panel < block.panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      target.columns = std::min(problem_.columns - column, kTileColumns);
      target.bias = operands.starts + matrix * problem_.columns + column;
      const uint32_t* const b = problem_.panel(operands.b, matrix, panel) + units.begin * kTileColumns;
      for (int64_t tile = 0; tile < tiles; ++tile) {
        // Tiles of equal heights: a low last tile would load the same for less work.
        const int64_t begin = block.rows.size() * tile / tiles;
        const int64_t end = block.rows.size() * (tile + 1) / tiles;
        target.sums = target.result =
            memory.sums + begin * kBlockColumns + (panel - block.panels.begin) * kTileColumns;
        multiply_tile(problem_.form, end - begin, memory.rows + begin * kTileStride, b, units.size(), target);
      }
    }
  }

  const std::byte* packed_;
  /// The rows of a stack are cut into these parts, each for one block.
  int64_t parts_ = 1;
};

}  // namespace

std::shared_ptr<const SumsKernel> make_tiled_sums(SumsProblem problem, const BytePositions& at,
                                                  Requantization requantization, const std::byte* packed) {
  return std::make_shared<TiledSumsKernel>(std::move(problem), at, std::move(requantization), packed);
}

}  // namespace hone::device::cpu
