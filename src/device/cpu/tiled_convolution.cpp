// Convolutions of channels-last images in tiles of ours (tile_math.hpp): what the windows of some pixels hold
// is copied next to each other, piece by piece of the window, and multiplied with packed filters.
//
//     pixels of a block          filters of a piece            result
//     ┌──────────────┐           ┌──┬──┬──┐                    ┌──┬──┬──┐
//     │ taps x       │     x     │  │  │  │ panels of 32   +=  │  │  │  │  rows as they lie in
//     │ channels     │           │  │  │  │ columns            │  │  │  │  the image
//     └──────────────┘           └──┴──┴──┘                    └──┴──┴──┘
//
// Blocks end where taps begin to read only padding, if that is much of the work, and such taps are left out:
// windows as large as the image, which networks for segmentation dilate, then sum a fraction of their taps.
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "device/cpu/onednn.hpp"
#include "device/cpu/own_convolution.hpp"
#include "device/cpu/packed_form.hpp"
#include "device/cpu/post_ops.hpp"
#include "device/cpu/tile_math.hpp"
#include "engine/requirements.hpp"
#include "graph/convolution_geometry.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using graph::Range;
using graph::WindowAxis;
using tensor::DType;
using tensor::Tensor;

/// Tiles of rows that are copied at a time: with the filters of a panel, half of an L2 cache of 512 KiB.
constexpr int64_t kBlockTiles = 8;
/// Channels from which on each tap is a piece of its own.
constexpr int64_t kManyChannels = 128;
/// Fewer columns leave too much of a panel empty.
constexpr int64_t kLeastOutputs = 8;

/// A part of the sum over a window that fits one sum of a tile.
struct Piece {
  Range taps;      ///< in the order in which they lie in the filter
  Range channels;  ///< all of them where there are several taps
  int64_t offset;  ///< of its first panel among the packed units of a column

  int64_t units() const { return taps.size() * channels.size(); }
};

/// Pixels next to each other in the image's order, from one on.
struct Segment {
  int64_t image;
  int64_t y;
  int64_t x;
  int64_t count;
};

struct Block {
  std::vector<Segment> segments;
  /// The taps that read more than padding.
  std::vector<size_t> pieces;
};

struct Problem {
  int64_t batch;
  int64_t in_channels;
  int64_t out_channels;
  WindowAxis y;
  WindowAxis x;

  int64_t taps() const { return y.kernel * x.kernel; }
  int64_t panels() const { return parts_of(out_channels, kTileColumns); }
  int64_t pixel(const Segment& s) const { return (s.image * y.output + s.y) * x.output + s.x; }
};

Range part(Range whole, int64_t count, int64_t index) {
  const int64_t size = whole.size();
  return {whole.begin + size * index / count, whole.begin + size * (index + 1) / count};
}

std::vector<Piece> make_pieces(const Problem& problem) {
  std::vector<Piece> pieces;
  const Range channels = {0, problem.in_channels};
  const Range taps = {0, problem.taps()};
  int64_t offset = 0;
  const auto add = [&](Range some_taps, Range some_channels) {
    pieces.push_back({some_taps, some_channels, offset});
    offset += pieces.back().units();
  };
  if (problem.in_channels >= kManyChannels) {
    const int64_t parts = parts_of(problem.in_channels, kTileUnits);
    for (int64_t tap = 0; tap < taps.end; ++tap) {
      for (int64_t i = 0; i < parts; ++i) add({tap, tap + 1}, part(channels, parts, i));
    }
    return pieces;
  }
  const int64_t most = kTileUnits / problem.in_channels;
  const int64_t parts = parts_of(taps.end, most);
  for (int64_t i = 0; i < parts; ++i) add(part(taps, parts, i), channels);
  return pieces;
}

/// Where outputs of an axis begin to be reached by other taps, if taps often read only padding; its whole
/// range otherwise.
std::vector<Range> bands(const WindowAxis& axis) {
  std::vector<int64_t> cuts = {0, axis.output};
  int64_t inside = 0;
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    const Range outputs = graph::outputs_inside(axis, tap);
    inside += outputs.size();
    if (outputs.size() > 0) cuts.insert(cuts.end(), {outputs.begin, outputs.end});
  }
  if (5 * inside > 4 * axis.kernel * axis.output) return {{0, axis.output}};
  std::ranges::sort(cuts);
  std::vector<Range> result;
  for (size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] > cuts[i - 1]) result.push_back({cuts[i - 1], cuts[i]});
  }
  return result;
}

bool meet(Range a, Range b) { return std::max(a.begin, b.begin) < std::min(a.end, b.end); }

class BlockMaker {
 public:
  BlockMaker(const Problem& problem, const std::vector<Piece>& pieces)
      : problem_(problem), pieces_(pieces), most_(kBlockTiles * tile_rows()) {}

  std::vector<Block> make() {
    for (int64_t image = 0; image < problem_.batch; ++image) {
      for (const Range& rows : bands(problem_.y)) {
        for (const Range& columns : bands(problem_.x)) add_area(image, rows, columns);
      }
    }
    return std::move(blocks_);
  }

 private:
  void add_area(int64_t image, Range rows, Range columns) {
    std::vector<size_t> pieces;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (reads_pixels(pieces_[i], rows, columns)) pieces.push_back(i);
    }
    const auto add = [&](std::vector<Segment> segments) { blocks_.push_back({std::move(segments), pieces}); };
    if (columns.size() == problem_.x.output) {
      const Range pixels = {rows.begin * columns.size(), rows.end * columns.size()};
      const int64_t count = parts_of(pixels.size(), most_);
      for (int64_t i = 0; i < count; ++i) {
        const Range some = part(pixels, count, i);
        add({{image, some.begin / columns.size(), some.begin % columns.size(), some.size()}});
      }
      return;
    }
    const int64_t widths = parts_of(columns.size(), most_);
    for (int64_t i = 0; i < widths; ++i) {
      const Range some = part(columns, widths, i);
      const int64_t heights = parts_of(rows.size(), most_ / some.size());
      for (int64_t j = 0; j < heights; ++j) {
        const Range lines = part(rows, heights, j);
        std::vector<Segment> segments;
        for (int64_t y = lines.begin; y < lines.end; ++y)
          segments.push_back({image, y, some.begin, some.size()});
        add(std::move(segments));
      }
    }
  }

  bool reads_pixels(const Piece& piece, Range rows, Range columns) const {
    for (int64_t tap = piece.taps.begin; tap < piece.taps.end; ++tap) {
      if (meet(graph::outputs_inside(problem_.y, tap / problem_.x.kernel), rows) &&
          meet(graph::outputs_inside(problem_.x, tap % problem_.x.kernel), columns))
        return true;
    }
    return false;
  }

  const Problem& problem_;
  const std::vector<Piece>& pieces_;
  int64_t most_;
  std::vector<Block> blocks_;
};

class TiledConvolutionKernel final : public engine::Kernel {
 public:
  TiledConvolutionKernel(const Problem& problem, const void* packed, bool has_bias, bool accumulates,
                         std::vector<ChainLink> links)
      : problem_(problem),
        pieces_(make_pieces(problem)),
        blocks_(BlockMaker(problem_, pieces_).make()),
        packed_(static_cast<const uint32_t*>(packed)),
        threads_(omp_get_max_threads()),
        has_bias_(has_bias),
        accumulates_(accumulates),
        links_(std::move(links)) {
    const auto count = static_cast<int64_t>(blocks_.size());
    groups_ = threads_ == 1 ? 1 : std::min(problem_.panels(), parts_of(4 * threads_, count));
  }

  int64_t scratch_bytes() const { return threads_ * thread_bytes(); }

  void run(const engine::Run& run) const override {
    const int64_t tasks = static_cast<int64_t>(blocks_.size()) * groups_;
    const int threads = static_cast<int>(std::min<int64_t>({threads_, omp_get_max_threads(), tasks}));
    std::atomic<int64_t> next = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      auto* const copied = reinterpret_cast<uint32_t*>(static_cast<std::byte*>(run.scratch) +
                                                       omp_get_thread_num() * thread_bytes());
      for (int64_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
        const Range panels = part({0, problem_.panels()}, groups_, task % groups_);
        run_block(run, blocks_[static_cast<size_t>(task / groups_)], panels, copied);
      }
    }
  }

 private:
  static int64_t thread_bytes() { return kBlockTiles * kTileRows * kTileStride * 4; }

  void run_block(const engine::Run& run, const Block& block, Range panels, uint32_t* copied) const {
    TileStart start = accumulates_ ? TileStart::kResult : TileStart::kBias;
    // Where a window has only padding, the bias is the result.
    if (block.pieces.empty()) multiply(run, block, panels, nullptr, 0, start, copied);
    for (const size_t index : block.pieces) {
      const Piece& piece = pieces_[index];
      copy_windows(static_cast<const float*>(run.inputs[0]), block, piece, reinterpret_cast<float*>(copied));
      const uint32_t* const b = packed_ + piece.offset * problem_.panels() * kTileColumns;
      multiply(run, block, panels, b, piece.units(), start, copied);
      start = TileStart::kSums;
    }
    finish(run, block, panels);
  }

  void finish(const engine::Run& run, const Block& block, Range panels) const {
    if (links_.empty()) return;
    const int64_t begin = panels.begin * kTileColumns;
    const int64_t count = std::min(panels.end * kTileColumns, problem_.out_channels) - begin;
    for (const Segment& segment : block.segments) {
      float* const first =
          static_cast<float*>(run.outputs[0]) + problem_.pixel(segment) * problem_.out_channels;
      if (count == problem_.out_channels) {
        apply_links(links_, first, segment.count * count);
        continue;
      }
      for (int64_t i = 0; i < segment.count; ++i)
        apply_links(links_, first + i * problem_.out_channels + begin, count);
    }
  }

  void multiply(const engine::Run& run, const Block& block, Range panels, const uint32_t* b, int64_t units,
                TileStart start, const uint32_t* copied) const {
    TileTarget target{};
    target.start = start;
    target.ends = true;
    target.result_stride = target.sums_stride = problem_.out_channels;
    for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const int64_t column = panel * kTileColumns;
      target.columns = std::min(problem_.out_channels - column, kTileColumns);
      target.bias = has_bias_ ? static_cast<const float*>(run.inputs[2]) + column : nullptr;
      const uint32_t* a = copied;
      for (const Segment& segment : block.segments) {
        float* const result =
            static_cast<float*>(run.outputs[0]) + problem_.pixel(segment) * problem_.out_channels + column;
        const int64_t tiles = parts_of(segment.count, tile_rows());
        for (int64_t tile = 0; tile < tiles; ++tile) {
          const Range rows = part({0, segment.count}, tiles, tile);
          target.sums = result + rows.begin * problem_.out_channels;
          target.result = target.sums;
          multiply_tile(TileType::kFloat32, rows.size(), a + rows.begin * kTileStride,
                        b == nullptr ? nullptr : b + panel * units * kTileColumns, units, target);
        }
        a += segment.count * kTileStride;
      }
    }
  }

  void copy_windows(const float* image, const Block& block, const Piece& piece, float* to) const {
    for (const Segment& segment : block.segments) {
      const float* const first =
          image + segment.image * problem_.y.input * problem_.x.input * problem_.in_channels;
      int64_t y = segment.y;
      int64_t x = segment.x;
      for (int64_t i = 0; i < segment.count; ++i, to += kTileStride) {
        copy_window(first, y, x, piece, to);
        if (++x == problem_.x.output) {
          x = 0;
          ++y;
        }
      }
    }
  }

  /// The taps of the piece in the window of output pixel (y, x), zeros where they are outside.
  void copy_window(const float* image, int64_t y, int64_t x, const Piece& piece, float* to) const {
    const int64_t width = problem_.x.kernel;
    const int64_t channels = piece.channels.size();
    for (int64_t tap = piece.taps.begin; tap < piece.taps.end;) {
      const int64_t row = tap / width;
      const int64_t end = std::min(piece.taps.end, (row + 1) * width);
      const int64_t at_y = problem_.y.position(y, row);
      const bool inside = at_y >= 0 && at_y < problem_.y.input;
      const float* const line = image + at_y * problem_.x.input * problem_.in_channels;
      if (inside && problem_.x.dilation == 1 && end - tap > 1) {
        copy_run(line, problem_.x.position(x, tap % width), end - tap, to);
        to += (end - tap) * channels;
        tap = end;
        continue;
      }
      for (; tap < end; ++tap, to += channels) {
        const int64_t at_x = problem_.x.position(x, tap % width);
        if (inside && at_x >= 0 && at_x < problem_.x.input) {
          std::memcpy(to, line + at_x * problem_.in_channels + piece.channels.begin,
                      static_cast<size_t>(channels) * sizeof(float));
        } else {
          std::memset(to, 0, static_cast<size_t>(channels) * sizeof(float));
        }
      }
    }
  }

  /// `count` pixels of a line with all their channels, from `x` on.
  void copy_run(const float* line, int64_t x, int64_t count, float* to) const {
    const int64_t before = std::clamp<int64_t>(-x, 0, count);
    const int64_t end = std::clamp<int64_t>(problem_.x.input - x, before, count);
    const int64_t channels = problem_.in_channels;
    if (before > 0) std::fill_n(to, before * channels, 0.0f);
    if (end > before)
      std::memcpy(to + before * channels, line + (x + before) * channels,
                  static_cast<size_t>((end - before) * channels) * sizeof(float));
    if (end < count) std::fill_n(to + end * channels, (count - end) * channels, 0.0f);
  }

  Problem problem_;
  std::vector<Piece> pieces_;
  std::vector<Block> blocks_;
  const uint32_t* packed_;
  int64_t threads_;
  /// Parts of the panels, each with a task of its own for a block.
  int64_t groups_ = 1;
  bool has_bias_;
  bool accumulates_;
  std::vector<ChainLink> links_;
};

/// Piece after piece its panels of columns, units by units.
PackedConstant pack_filters(const StepRequest& request, const Problem& problem,
                            engine::WeightStore& weights) {
  const std::string word =
      fmt::format("f32:taps:{}x{}x{}", problem.out_channels, problem.in_channels, problem.taps());
  const int64_t units = problem.in_channels * problem.taps();
  const auto bytes = static_cast<size_t>(4 * problem.panels() * units * kTileColumns);
  return packed_form(request, 1, word, bytes, weights, [&](const Tensor& constant, std::byte* packed) {
    const auto* const from = reinterpret_cast<const float*>(constant.bytes());
    auto* const to = reinterpret_cast<float*>(packed);
    for (const Piece& piece : make_pieces(problem)) {
      for (int64_t column = 0; column < problem.out_channels; ++column) {
        int64_t at = piece.offset * problem.panels() * kTileColumns +
                     column / kTileColumns * piece.units() * kTileColumns + column % kTileColumns;
        for (int64_t tap = piece.taps.begin; tap < piece.taps.end; ++tap) {
          for (int64_t channel = piece.channels.begin; channel < piece.channels.end;
               ++channel, at += kTileColumns)
            to[at] = from[(column * problem.in_channels + channel) * problem.taps() + tap];
        }
      }
    }
  });
}

Refusal refuse(const StepRequest& request, const graph::Convolution& geometry) {
  if (!has_tiles(TileType::kFloat32)) return "the CPU has no vectors for operands of this type";
  if (request.storage() != DType::kFloat32 || request.emulates_bf16()) return "only fp32";
  if (!request.graph.value(request.node.inputs[1]).constant) return "the weights are not constant";
  // Where taps are left out, the images are worth a reorder.
  if (request.layout != Layout::kChannelsLast && bands(geometry.axes[0]).size() == 1 &&
      bands(geometry.axes[1]).size() == 1)
    return "in other layouts than channels-last only windows whose taps often read padding";
  if (geometry.group != 1) return "the convolution has groups";
  if (geometry.out_channels < kLeastOutputs)
    return fmt::format("fewer than {} output channels", kLeastOutputs);
  if (geometry.in_channels == 0 || geometry.batch == 0) return "it sums over nothing";
  return {};
}

Offer offer_tiled(const StepRequest& request, engine::WeightStore& weights) {
  const graph::Node& node = request.node;
  const graph::Convolution geometry =
      graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape);
  if (Refusal reason = refuse(request, geometry)) return Offer::refuse(std::move(reason));
  const Problem problem{geometry.batch, geometry.in_channels, geometry.out_channels, geometry.axes[0],
                        geometry.axes[1]};
  const PackedConstant packed = pack_filters(request, problem, weights);
  const bool sum = begins_with_sum(request);
  std::vector<ChainLink> links = unary_post_ops(request, sum ? 1 : 0);
  const size_t inside = links.size() + (sum ? 1 : 0);
  auto kernel = std::make_shared<TiledConvolutionKernel>(problem, packed.data, node.has_input(2), sum,
                                                         std::move(links));
  return finish_tiled_offer(request, {DType::kFloat32, request.inputs[0].shape, Layout::kChannelsLast},
                            {DType::kFloat32, request.outputs[0].shape, Layout::kChannelsLast}, packed.key,
                            inside, kernel, kernel->scratch_bytes());
}

Refusal only_images(const StepRequest& request) {
  if (request.inputs[0].shape.size() != 4) return "only 2-D convolutions";
  return {};
}

}  // namespace

void add_tiled_convolution_tactics(TacticList& list) {
  list.push_back({.name = "tiled_convolution",
                  .operators = {"Conv", "FusedConv"},
                  .requirements = {only_images, engine::only_float32, engine::nonempty_output},
                  .make = offer_tiled});
}

}  // namespace hone::device::cpu
