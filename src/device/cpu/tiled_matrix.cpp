// Products of rows with a constant matrix, in tiles of ours (tile_math.hpp): rows and columns are shared out
// evenly among threads, whatever their number, where oneDNN shares out blocks of rows.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tactics.hpp"
#include "device/cpu/tile_math.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cpu {
namespace {

using dnnl::memory;
using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::BFloat16;
using tensor::DType;

/// Rows that are copied at a time: with kTileUnits units of four bytes, half of an L2 cache of 1 MiB.
constexpr int64_t kBlockRows = 18 * kTileRows;
/// Panels of columns whose sums stay in the L2 cache from one block of units to the next.
constexpr int64_t kBlockPanels = 8;

struct Problem {
  TileType type;
  int64_t rows;
  int64_t columns;
  /// Elements of a row.
  int64_t depth;
  /// Element size.
  int64_t width;

  int64_t panels() const { return parts_of(columns, kTileColumns); }
  int64_t units() const { return parts_of(depth * width, 4); }
  /// Units of a block.
  int64_t most() const { return most_units(type); }
  /// Units of a panel as it is packed: oneDNN fills blocks of 16 up with zeros.
  int64_t packed_units() const { return parts_of(units(), 16) * 16; }
};

/// Parts of rows and of columns, each for one thread.
struct Shares {
  int64_t rows = 1;
  int64_t columns = 1;
};

/// Among shares for at most this many threads, those that leave the least work to the busiest thread.
Shares share_out(const Problem& problem, int64_t threads) {
  Shares best;
  int64_t least = INT64_MAX;
  for (int64_t columns = 1; columns <= std::min(threads, problem.panels()); ++columns) {
    const int64_t rows = std::clamp<int64_t>(problem.rows, 1, threads / columns);
    const int64_t most = parts_of(problem.panels(), columns) * parts_of(problem.rows, rows);
    if (most >= least) continue;
    least = most;
    best = {rows, columns};
  }
  return best;
}

class TiledMatrixKernel final : public engine::Kernel {
 public:
  /// `links` follow the sums, which are float32 then.
  TiledMatrixKernel(const Problem& problem, const void* packed, bool has_bias, bool accumulates,
                    std::vector<ChainLink> links)
      : problem_(problem),
        shares_(share_out(problem, omp_get_max_threads())),
        packed_(static_cast<const uint32_t*>(packed)),
        has_bias_(has_bias),
        accumulates_(accumulates),
        links_(std::move(links)) {}

  int64_t scratch_bytes() const { return shares_.rows * shares_.columns * share_bytes(); }

  void run(const engine::Run& run) const override {
    const int64_t shares = shares_.rows * shares_.columns;
#pragma omp parallel for schedule(static) if (shares > 1)
    for (int64_t share = 0; share < shares; ++share) run_share(run, share);
  }

 private:
  struct Range {
    int64_t begin;
    int64_t end;

    int64_t size() const { return end - begin; }
  };

  static Range part(int64_t count, int64_t parts, int64_t index) {
    return {count * index / parts, count * (index + 1) / parts};
  }

  int64_t copied_rows() const { return std::min(parts_of(problem_.rows, shares_.rows), kBlockRows); }
  bool sums_apart() const {
    return problem_.type != TileType::kFloat32 && problem_.units() > problem_.most();
  }
  int64_t share_bytes() const {
    const int64_t sums = sums_apart() ? copied_rows() * kBlockPanels * kTileColumns : 0;
    return 4 * (copied_rows() * kTileStride + sums);
  }

  void run_share(const engine::Run& run, int64_t share) const {
    auto* const copied =
        reinterpret_cast<uint32_t*>(static_cast<std::byte*>(run.scratch) + share * share_bytes());
    const Range rows = part(problem_.rows, shares_.rows, share / shares_.columns);
    const Range panels = part(problem_.panels(), shares_.columns, share % shares_.columns);
    for (int64_t row = rows.begin; row < rows.end; row += kBlockRows) {
      const Range block = {row, std::min(row + kBlockRows, rows.end)};
      for (int64_t panel = panels.begin; panel < panels.end; panel += kBlockPanels) {
        for (int64_t unit = 0; unit < problem_.units(); unit += problem_.most()) {
          // Rows that are whole are copied for the first panels and stay.
          if (problem_.units() > problem_.most() || panel == panels.begin)
            copy_rows(run, block, unit, copied);
          run_panels(run, block, {panel, std::min(panel + kBlockPanels, panels.end)}, unit, copied);
        }
        finish(run, block, {panel, std::min(panel + kBlockPanels, panels.end)});
      }
    }
  }

  void copy_rows(const engine::Run& run, Range rows, int64_t unit, uint32_t* copied) const {
    const int64_t row_bytes = problem_.depth * problem_.width;
    const auto* from = static_cast<const std::byte*>(run.inputs[0]) + rows.begin * row_bytes + unit * 4;
    const int64_t bytes = std::min(row_bytes - unit * 4, problem_.most() * 4);
    if (problem_.type == TileType::kWidened)
      return widen_rows(from, rows.size(), bytes / problem_.width, copied);
    for (int64_t row = 0; row < rows.size(); ++row, from += row_bytes, copied += kTileStride) {
      // The second half of an odd last unit meets a zero, and must be a number for that.
      if (bytes % 4 != 0) copied[bytes / 4] = 0;
      std::memcpy(copied, from, static_cast<size_t>(bytes));
    }
  }

  void widen_rows(const std::byte* from, int64_t rows, int64_t count, uint32_t* copied) const {
    for (int64_t row = 0; row < rows; ++row, from += problem_.depth * problem_.width, copied += kTileStride) {
      // The second neighbour of an odd last unit meets a zero, and must be a number for that.
      if (count % 2 != 0) copied[count] = 0;
      widen(reinterpret_cast<const BFloat16*>(from), reinterpret_cast<float*>(copied),
            static_cast<size_t>(count));
    }
  }

  void run_panels(const engine::Run& run, Range rows, Range panels, int64_t unit, uint32_t* copied) const {
    const int64_t units = std::min(problem_.units() - unit, problem_.most());
    const int64_t tiles = parts_of(rows.size(), tile_rows());
    auto* const apart = reinterpret_cast<float*>(copied + copied_rows() * kTileStride);
    TileTarget target{};
    target.start = unit > 0 ? TileStart::kSums : accumulates_ ? TileStart::kResult : TileStart::kBias;
    target.ends = unit + units == problem_.units();
    target.result_stride = problem_.columns;
    target.sums_stride = sums_apart() ? kBlockPanels * kTileColumns : problem_.columns;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      target.columns = std::min(problem_.columns - column, kTileColumns);
      target.bias = has_bias_ ? static_cast<const float*>(run.inputs[2]) + column : nullptr;
      const uint32_t* const b = packed_ + (panel * problem_.packed_units() + unit) * kTileColumns;
      for (int64_t tile = 0; tile < tiles; ++tile) {
        // Tiles of equal heights: a low last tile would load the same for less work.
        const Range inside = part(rows.size(), tiles, tile);
        const int64_t at = (rows.begin + inside.begin) * problem_.columns + column;
        target.result = static_cast<std::byte*>(run.outputs[0]) + at * problem_.width;
        target.sums = sums_apart()
                          ? apart + inside.begin * target.sums_stride + (panel - panels.begin) * kTileColumns
                          : static_cast<float*>(run.outputs[0]) + at;
        multiply_tile(problem_.type, inside.size(), copied + inside.begin * kTileStride, b, units, target);
      }
    }
  }

  void finish(const engine::Run& run, Range rows, Range panels) const {
    if (links_.empty()) return;
    const int64_t begin = panels.begin * kTileColumns;
    const int64_t count = std::min(panels.end * kTileColumns, problem_.columns) - begin;
    for (int64_t row = rows.begin; row < rows.end; ++row)
      apply_links(links_, static_cast<float*>(run.outputs[0]) + row * problem_.columns + begin, count);
  }

  Problem problem_;
  Shares shares_;
  const uint32_t* packed_;
  bool has_bias_;
  bool accumulates_;
  std::vector<ChainLink> links_;
};

Offer offer_tiled(const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const bool half = request.storage() == DType::kBFloat16;
  const TileType type = tile_type(!half);
  if (!has_tiles(type)) return Offer::refuse("the CPU has no vectors for operands of this type");
  if (Refusal reason = refuse_operands(request)) return Offer::refuse(std::move(reason));
  const engine::Shape& left = request.inputs[0].shape;
  const engine::Shape& result = request.outputs[0].shape;
  Problem problem{};
  problem.type = type;
  problem.columns = result.back();
  problem.depth = left.back();
  problem.rows = tensor::element_count(left) / problem.depth;
  problem.width = half ? 2 : 4;
  const memory::dims dims = {problem.columns, problem.depth};
  const memory::desc form(dims, onednn_type(request.storage()),
                          half ? memory::format_tag::AB16b32a2b : memory::format_tag::AB16b32a);
  const PackedConstant packed = pack_matrix(request, 1, dims, is_transposed(node), form, weights);
  const bool sum = begins_with_sum(request);
  std::vector<ChainLink> links;
  if (!half) links = unary_post_ops(request, sum ? 1 : 0);
  const size_t inside = links.size() + (sum ? 1 : 0);
  auto kernel =
      std::make_shared<TiledMatrixKernel>(problem, packed.data, node.has_input(2), sum, std::move(links));
  return finish_tiled_offer(request, {request.storage(), left, Layout::kPlain},
                            {request.storage(), result, Layout::kPlain}, packed.key, inside, kernel,
                            kernel->scratch_bytes());
}

}  // namespace

void add_tiled_matrix_tactics(TacticList& list) {
  list.push_back({.name = "tiled_matrix",
                  .operators = {"Gemm", "FusedGemm", "MatMul", "FusedMatMul"},
                  .requirements = product_requirements(),
                  .make = offer_tiled});
}

}  // namespace hone::device::cpu
