// Products of rows with a constant matrix, in tiles of ours (tile_math.hpp): rows and columns are shared out
// evenly among threads, whatever their number, where oneDNN shares out blocks of rows. The pixels of a
// channels-last image are such rows, which 1 x 1 convolutions multiply.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "device/cpu/chain_math.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tactics.hpp"
#include "device/cpu/tile_math.hpp"
#include "device/cpu/tile_math_amx.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

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
  bool is_amx() const { return type == TileType::kAmx; }
  /// Units of a block. Sums in the registers of AMX stay there over all units.
  int64_t most() const { return is_amx() ? packed_units() : most_units(type); }
  /// How far apart copied rows lie: no multiple of 4 KiB, as kTileStride.
  int64_t stride() const { return is_amx() ? packed_units() + kAmxUnits : kTileStride; }
  /// Units of a panel as it is packed: oneDNN fills blocks of 16 up with zeros.
  int64_t packed_units() const { return parts_of(units(), 16) * 16; }
};

/// Parts of rows and of columns, each for one thread.
struct Shares {
  int64_t rows = 1;
  int64_t columns = 1;
};

/// Among shares for at most this many threads, those that leave the least work to the busiest thread. With
/// AMX, which waits for the constant more than for arithmetic, shares that read less of it come first.
Shares share_out(const Problem& problem, int64_t threads) {
  Shares best;
  int64_t least = INT64_MAX;
  const int64_t height = problem.is_amx() ? kAmxRegisterRows : 1;
  const int64_t heights = parts_of(problem.rows, height);
  for (int64_t columns = 1; columns <= std::min(threads, problem.panels()); ++columns) {
    const int64_t rows = std::clamp<int64_t>(heights, 1, threads / columns);
    const int64_t most = parts_of(problem.panels(), columns) * parts_of(heights, rows);
    if (most > least || (most == least && !problem.is_amx())) continue;
    least = most;
    best = {rows, columns};
  }
  return best;
}

class TiledMatrixKernel final : public engine::Kernel {
 public:
  /// `links` follow the sums.
  TiledMatrixKernel(const Problem& problem, const void* packed, bool has_bias, bool accumulates,
                    std::vector<ChainLink> links)
      : problem_(problem),
        shares_(share_out(problem, omp_get_max_threads())),
        packed_(static_cast<const uint32_t*>(packed)),
        has_bias_(has_bias),
        accumulates_(accumulates),
        links_(std::move(links)) {
    if (links_.size() != 1 || !has_tile_functions()) return;
    if (links_[0].op == ChainOp::kRelu) function_ = TileFunction::kRelu;
    if (links_[0].op == ChainOp::kSwish && links_[0].alpha == 1) function_ = TileFunction::kSwish;
    if (function_ != TileFunction::kNone) links_.clear();
  }

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

  /// Tiles of AMX read rows where they lie, if those end with whole registers.
  bool reads_in_place() const {
    return problem_.is_amx() && problem_.depth * problem_.width % (4 * kAmxUnits) == 0;
  }
  int64_t rows_in_place(int64_t count) const {
    return reads_in_place() ? count / kAmxRegisterRows * kAmxRegisterRows : 0;
  }
  int64_t block_rows() const { return problem_.is_amx() ? 8 * kAmxTileRows : kBlockRows; }
  int64_t copied_rows() const {
    if (reads_in_place()) return kAmxRegisterRows;
    const int64_t rows = std::min(parts_of(problem_.rows, shares_.rows) + kAmxRegisterRows, block_rows());
    return parts_of(rows, kAmxRegisterRows) * kAmxRegisterRows;
  }
  bool sums_apart() const {
    return problem_.type != TileType::kFloat32 && problem_.units() > problem_.most();
  }
  int64_t share_bytes() const {
    const int64_t sums = sums_apart() ? copied_rows() * kBlockPanels * kTileColumns : 0;
    return parts_of(4 * (copied_rows() * problem_.stride() + sums), 64) * 64;
  }

  void run_share(const engine::Run& run, int64_t share) const {
    auto* const copied =
        reinterpret_cast<uint32_t*>(static_cast<std::byte*>(run.scratch) + share * share_bytes());
    const AmxRegisters registers(problem_.is_amx());
    const Range rows = rows_of(share / shares_.columns);
    const Range panels = part(problem_.panels(), shares_.columns, share % shares_.columns);
    for (int64_t row = rows.begin; row < rows.end; row += block_rows()) {
      const Range block = {row, std::min(row + block_rows(), rows.end)};
      for (int64_t panel = panels.begin; panel < panels.end; panel += kBlockPanels) {
        for (int64_t unit = 0; unit < problem_.units(); unit += problem_.most()) {
          // Rows that are whole are copied for the first panels and stay.
          if (problem_.units() > problem_.most() || panel == panels.begin)
            copy_rows(run, {block.begin + rows_in_place(block.size()), block.end}, unit, copied);
          run_panels(run, block, {panel, std::min(panel + kBlockPanels, panels.end)}, unit, copied);
        }
        finish(run, block, {panel, std::min(panel + kBlockPanels, panels.end)});
      }
    }
  }

  /// Shares of AMX begin with a register.
  Range rows_of(int64_t share) const {
    const int64_t height = problem_.is_amx() ? kAmxRegisterRows : 1;
    const Range heights = part(parts_of(problem_.rows, height), shares_.rows, share);
    return {heights.begin * height, std::min(heights.end * height, problem_.rows)};
  }

  void copy_rows(const engine::Run& run, Range rows, int64_t unit, uint32_t* copied) const {
    const int64_t row_bytes = problem_.depth * problem_.width;
    const auto* from = static_cast<const std::byte*>(run.inputs[0]) + rows.begin * row_bytes + unit * 4;
    const int64_t bytes = std::min(row_bytes - unit * 4, problem_.most() * 4);
    if (problem_.type == TileType::kWidened)
      return widen_rows(from, rows.size(), bytes / problem_.width, copied);
    // The second half of an odd last unit meets a zero, and must be a number for that.
    copy_tile_rows(from, row_bytes, rows.size(), bytes, copied, problem_.stride());
  }

  void widen_rows(const std::byte* from, int64_t rows, int64_t count, uint32_t* copied) const {
    for (int64_t row = 0; row < rows; ++row, from += problem_.depth * problem_.width, copied += kTileStride) {
      // The second neighbour of an odd last unit meets a zero, and must be a number for that.
      if (count % 2 != 0) copied[count] = 0;
      widen(reinterpret_cast<const BFloat16*>(from), reinterpret_cast<float*>(copied),
            static_cast<size_t>(count));
    }
  }

  /// Calls `f` with the rows of each tile of a block.
  template <class F>
  void for_each_tile(int64_t rows, F&& f) const {
    if (!problem_.is_amx()) {
      // Tiles of equal heights: a low last tile would load the same for less work.
      const int64_t tiles = parts_of(rows, tile_rows());
      for (int64_t tile = 0; tile < tiles; ++tile) f(part(rows, tiles, tile));
      return;
    }
    const int64_t in_place = rows_in_place(rows);
    for (int64_t row = 0; row < in_place; row += kAmxTileRows)
      f(Range{row, std::min(row + kAmxTileRows, in_place)});
    for (int64_t row = in_place; row < rows; row += kAmxTileRows)
      f(Range{row, std::min(row + kAmxTileRows, rows)});
  }

  void run_panels(const engine::Run& run, Range rows, Range panels, int64_t unit, uint32_t* copied) const {
    const int64_t units = std::min(problem_.units() - unit, problem_.most());
    auto* const apart = reinterpret_cast<float*>(copied + copied_rows() * problem_.stride());
    TileTarget target{};
    target.start = unit > 0 ? TileStart::kSums : accumulates_ ? TileStart::kResult : TileStart::kBias;
    target.ends = unit + units == problem_.units();
    target.function = function_;
    target.result_stride = problem_.columns;
    target.sums_stride = sums_apart() ? kBlockPanels * kTileColumns : problem_.columns;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      target.columns = std::min(problem_.columns - column, kTileColumns);
      target.bias = has_bias_ ? static_cast<const float*>(run.inputs[2]) + column : nullptr;
      const uint32_t* const b = packed_ + (panel * problem_.packed_units() + unit) * kTileColumns;
      for_each_tile(rows.size(), [&](Range inside) {
        const int64_t at = (rows.begin + inside.begin) * problem_.columns + column;
        target.result = static_cast<std::byte*>(run.outputs[0]) + at * problem_.width;
        target.sums = sums_apart()
                          ? apart + inside.begin * target.sums_stride + (panel - panels.begin) * kTileColumns
                          : static_cast<float*>(run.outputs[0]) + at;
        Operands operands = operands_of(run, rows, inside, copied);
        operands.b = b;
        operands.units = problem_.is_amx() ? problem_.packed_units() : units;
        if (problem_.is_amx() && panel + 1 < panels.end) fetch_ahead(rows, inside, operands);
        if (target.ends && links_in_tiles()) {
          multiply_and_apply(operands, target);
        } else {
          multiply(operands, target);
        }
      });
    }
  }

  /// The operands of a tile.
  struct Operands {
    const uint32_t* a;
    /// Units from one row to the next.
    int64_t stride;
    int64_t rows;
    const uint32_t* b = nullptr;
    int64_t units = 0;
    /// The part of the next panel that this tile fetches into the cache, with AMX.
    const uint32_t* ahead = nullptr;
    int64_t ahead_lines = 0;
  };

  /// Rows `inside` of a block.
  Operands operands_of(const engine::Run& run, Range block, Range inside, const uint32_t* copied) const {
    const int64_t in_place = rows_in_place(block.size());
    if (inside.begin >= in_place)
      return {copied + (inside.begin - in_place) * problem_.stride(), problem_.stride(), inside.size()};
    const auto* const from = static_cast<const uint32_t*>(run.inputs[0]);
    return {from + (block.begin + inside.begin) * problem_.units(), problem_.units(), inside.size()};
  }

  /// Lets each tile of a panel fetch a part of the next panel, so that it does not come from memory then.
  void fetch_ahead(Range block, Range inside, Operands& operands) const {
    const int64_t lines = parts_of(kTileColumns, parts_of(block.size(), kAmxTileRows));
    operands.ahead_lines = lines;
    operands.ahead =
        operands.b + operands.units * kTileColumns + inside.begin / kAmxTileRows * lines * operands.units;
  }

  void multiply(const Operands& o, const TileTarget& target) const {
    if (!problem_.is_amx()) return multiply_tile(problem_.type, o.rows, o.a, o.b, o.units, target);
    multiply_amx_tile(o.rows, {o.a, o.stride, o.b, o.units, o.ahead, o.ahead_lines}, target);
  }

  /// Links need float32, which results of another type never are: they follow each tile.
  bool links_in_tiles() const { return !links_.empty() && problem_.type != TileType::kFloat32; }

  void multiply_and_apply(const Operands& operands, const TileTarget& whole) const {
    const int64_t rows = operands.rows;
    alignas(64) float sums[std::max(kTileRows, kAmxTileRows) * kTileColumns];
    // Functions of the columns that are not there must not meet slow numbers.
    if (whole.columns < kTileColumns) std::fill_n(sums, rows * kTileColumns, 0.0f);
    TileTarget target = whole;
    if (target.start == TileStart::kSums) {
      const auto* from = static_cast<const float*>(target.sums);
      for (int64_t row = 0; row < rows; ++row, from += target.sums_stride)
        std::memcpy(sums + row * kTileColumns, from, static_cast<size_t>(target.columns) * sizeof(float));
    }
    target.ends = false;
    target.sums = sums;
    target.sums_stride = kTileColumns;
    multiply(operands, target);
    apply_links(links_, sums, rows * kTileColumns, LinkError::kOfHalf);
    narrow_tile(sums, kTileColumns, rows, target.columns, static_cast<uint16_t*>(target.result),
                target.result_stride);
  }

  void finish(const engine::Run& run, Range rows, Range panels) const {
    if (links_.empty() || links_in_tiles()) return;
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
  TileFunction function_ = TileFunction::kNone;
};

/// The product of `rows` rows of `depth` elements that lie like `left`, with a constant, to rows that lie
/// like `result`. `transposed`: the graph has the constant as (columns, depth).
Offer offer_product(const StepRequest& request, const TensorDesc& left, const TensorDesc& result,
                    int64_t depth, int64_t columns, bool transposed, engine::WeightStore& weights) {
  const bool half = request.storage() == DType::kBFloat16;
  Problem problem{};
  problem.type = tile_type(!half);
  problem.columns = columns;
  problem.depth = depth;
  problem.rows = tensor::element_count(left.shape) / depth;
  problem.width = half ? 2 : 4;
  const memory::dims dims = {columns, depth};
  const memory::desc form(dims, onednn_type(request.storage()),
                          half ? memory::format_tag::AB16b32a2b : memory::format_tag::AB16b32a);
  const PackedConstant packed = pack_matrix(request, 1, dims, transposed, form, weights);
  const bool sum = begins_with_sum(request);
  std::vector<ChainLink> links = unary_post_ops(request, sum ? 1 : 0);
  const size_t inside = links.size() + (sum ? 1 : 0);
  auto kernel = std::make_shared<TiledMatrixKernel>(problem, packed.data, request.node.has_input(2), sum,
                                                    std::move(links));
  return finish_tiled_offer(request, left, result, packed.key, inside, kernel, kernel->scratch_bytes());
}

Refusal refuse_type(const StepRequest& request) {
  if (!has_tiles(tile_type(request.storage() == DType::kFloat32)))
    return "the CPU has no vectors for operands of this type";
  return {};
}

Offer offer_tiled(const StepRequest& request, engine::WeightStore& weights) {
  if (Refusal reason = refuse_type(request)) return Offer::refuse(std::move(reason));
  if (Refusal reason = refuse_operands(request)) return Offer::refuse(std::move(reason));
  const engine::Shape& left = request.inputs[0].shape;
  const engine::Shape& result = request.outputs[0].shape;
  return offer_product(request, {request.storage(), left, Layout::kPlain},
                       {request.storage(), result, Layout::kPlain}, left.back(), result.back(),
                       is_transposed(request.node), weights);
}

Refusal refuse_convolution(const StepRequest& request, const graph::Convolution& geometry) {
  if (request.emulates_bf16()) return "bf16 is emulated";
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  if (request.layout != Layout::kChannelsLast) return "images are not channels-last";
  if (geometry.group != 1) return "the convolution has groups";
  if (!std::ranges::all_of(geometry.axes, &graph::WindowAxis::pointwise)) return "no 1 x 1 convolution";
  if (geometry.in_channels == 0) return "it sums over nothing";
  return {};
}

Offer offer_pointwise(const StepRequest& request, engine::WeightStore& weights) {
  if (Refusal reason = refuse_type(request)) return Offer::refuse(std::move(reason));
  const graph::Convolution geometry =
      graph::read_convolution(request.node.attributes, request.inputs[0].shape, request.inputs[1].shape);
  if (Refusal reason = refuse_convolution(request, geometry)) return Offer::refuse(std::move(reason));
  if (tile_type(request.storage() == DType::kFloat32) != TileType::kAmx &&
      !any_is_smooth(unary_post_ops(request, begins_with_sum(request) ? 1 : 0)))
    return Offer::refuse("no SiLU, sigmoid or GELU follows, without which oneDNN is faster");
  return offer_product(request, {request.storage(), request.inputs[0].shape, Layout::kChannelsLast},
                       {request.storage(), request.outputs[0].shape, Layout::kChannelsLast},
                       geometry.in_channels, geometry.out_channels, /*transposed=*/true, weights);
}

Refusal only_images(const StepRequest& request) {
  const size_t rank = request.inputs[0].shape.size();
  if (rank != 4 && rank != 5) return "only 2-D and 3-D convolutions";
  return {};
}

}  // namespace

void add_tiled_matrix_tactics(TacticList& list) {
  list.push_back({.name = "tiled_matrix",
                  .operators = {"Gemm", "FusedGemm", "MatMul", "FusedMatMul"},
                  .requirements = product_requirements(),
                  .make = offer_tiled});
  list.push_back({.name = "tiled_pixels",
                  .operators = {"Conv", "FusedConv"},
                  .requirements = {only_images, engine::only_float32, engine::nonempty_output},
                  .make = offer_pointwise});
}

}  // namespace hone::device::cpu
