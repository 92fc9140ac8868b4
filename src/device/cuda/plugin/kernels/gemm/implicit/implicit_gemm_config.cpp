// The configurations of a convolution by implicit GEMM, and their order by estimated time. See
// implicit_gemm.hpp.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <span>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kMinStages = 3;
constexpr int kMaxStages = 6;
constexpr int kMaxSplit = 16;
/// The size (pixels times filters) of a large float tile, and the configurations to time with each of them.
constexpr int kLargeTile = 64 * 128;
constexpr int kOfLargeTiles = 4;
/// Offsets are 32-bit; the limit leaves room for a tile past the end.
constexpr int64_t kMaxElements = int64_t{1} << 30;
constexpr int kMaxExtent = 1 << 20;

int64_t tiles_of(const ConvProblem& problem, int tile_m, int tile_n) {
  return ceil_divide(problem.rows(), tile_m) * ceil_divide(problem.filters, tile_n);
}

/// Floating-point operations of a multiprocessor in one clock: measured with mma.sync for 16-bit elements,
/// half of that for tf32, and most of the 128 fused multiply-adds for float.
double flops_per_clock(Element element) {
  switch (element) {
    case Element::kFloat: return 200;
    case Element::kTf32: return 1200;
    default: return 2400;
  }
}

std::span<const TileShape> tile_shapes(Element element) {
  if (element_bytes(element) == 4) return kWideTileShapes;
  return kTileShapes;
}

/// Estimated microseconds of a configuration, from rates measured on Hopper. A multiprocessor reads about 40
/// bytes a clock from L2. An iteration of the main loop cannot be shorter than its barrier and fragment
/// loads. Blocks also take time to start, fill the ring, add up and store.
double guess(const ConvProblem& problem, const ConvConfig& config, const DeviceProperties& device) {
  constexpr double kClocksPerMicrosecond = 1700;
  constexpr double kBytesPerClock = 40;
  const int element = element_bytes(problem.element);
  const auto bytes = static_cast<double>((config.tile_m + config.tile_n) * config.tile_k * element);
  const double flops = 2.0 * config.tile_m * config.tile_n * config.tile_k;
  const double step = std::max(bytes / kBytesPerClock, flops / flops_per_clock(problem.element));
  const double turn = 60 + 12.0 * config.tile_k * element / 32;
  const int64_t steps = ceil_divide(ceil_divide(problem.depth(), config.tile_k), config.split_k);
  const int64_t blocks = tiles_of(problem, config.tile_m, config.tile_n) * config.split_k;
  const int64_t shared = shared_bytes(config, problem.element, true) + 1024;
  const int64_t resident = std::max<int64_t>(1, std::min<int64_t>(8, device.shared_memory / shared));
  const int64_t waves = ceil_divide(blocks, device.multiprocessors * resident);
  const int64_t per_processor = ceil_divide(blocks, device.multiprocessors);
  const double store = static_cast<double>(config.tile_m * config.tile_n * (4 + element)) / kBytesPerClock;
  const double work = static_cast<double>(per_processor) * (static_cast<double>(steps) * step + store);
  const double latency = static_cast<double>(waves) * (1400 + static_cast<double>(steps) * turn);
  double reduce = 0;
  if (config.split_k > 1) reduce = config.reduction == Reduction::kCluster ? 500 + 40 * config.split_k : 2500;
  // With few stages, less of the latency of L2, about 600 clocks, is hidden.
  const double flight = std::max(0.0, 600.0 - (config.stages - 1) * std::max(step, turn)) / config.stages;
  return (std::max(work, latency) + static_cast<double>(steps * waves) * flight / 4 + reduce) /
         kClocksPerMicrosecond;
}

/// Stages worth trying: the most that the depth can use
/// within all, half or a quarter of the shared memory.
std::vector<int> stage_counts(ConvConfig config, const ConvProblem& problem, const DeviceProperties& device) {
  const int64_t steps = ceil_divide(ceil_divide(problem.depth(), config.tile_k), config.split_k);
  std::vector<int> counts;
  for (const int share : {1, 2, 4}) {
    config.stages = static_cast<int>(std::clamp<int64_t>(steps + 1, kMinStages, kMaxStages));
    while (config.stages > kMinStages &&
           shared_bytes(config, problem.element, true) > device.shared_memory / share)
      --config.stages;
    if (std::find(counts.begin(), counts.end(), config.stages) == counts.end())
      counts.push_back(config.stages);
  }
  return counts;
}

Refusal problem_extents(const ConvProblem& p) {
  const int extents[] = {p.batch,    p.height,   p.width,    p.channels,   p.filters,    p.kernel_h,
                         p.kernel_w, p.stride_h, p.stride_w, p.dilation_h, p.dilation_w, p.pitch()};
  for (const int extent : extents) {
    if (extent < 1) return "an extent, stride or dilation is below 1";
    if (extent > kMaxExtent) return "an extent is above 2^20";
  }
  for (const int pad : {p.pad_top, p.pad_left, p.pad_bottom, p.pad_right}) {
    if (pad > kMaxExtent || pad < -kMaxExtent) return "a padding is above 2^20";
  }
  if (int64_t{p.kernel_h} * p.dilation_h > kMaxExtent || int64_t{p.kernel_w} * p.dilation_w > kMaxExtent) {
    return "the window spans more than 2^20";
  }
  // The test compares spans, because a division rounds towards
  // zero and would accept an output whose window does not fit.
  const int64_t span_h =
      int64_t{p.height} + p.pad_top + p.pad_bottom - int64_t{p.dilation_h} * (p.kernel_h - 1);
  const int64_t span_w =
      int64_t{p.width} + p.pad_left + p.pad_right - int64_t{p.dilation_w} * (p.kernel_w - 1);
  if (span_h < 1 || span_w < 1) return "the window is larger than the padded input";
  return {};
}

}  // namespace

std::string ConvConfig::text() const {
  std::string result = std::to_string(tile_m) + "x" + std::to_string(tile_n) + "x" + std::to_string(tile_k) +
                       "_s" + std::to_string(stages);
  if (split_k > 1) result += (reduction == Reduction::kCluster ? "_c" : "_w") + std::to_string(split_k);
  return result;
}

std::optional<ConvConfig> ConvConfig::parse(const std::string& text) {
  ConvConfig config;
  char kind = 'c';
  const int fields = std::sscanf(text.c_str(), "%4dx%4dx%4d_s%2d_%c%2d", &config.tile_m, &config.tile_n,
                                 &config.tile_k, &config.stages, &kind, &config.split_k);
  if (fields != 4 && fields != 6) return std::nullopt;
  config.reduction = kind == 'w' ? Reduction::kWorkspace : Reduction::kCluster;
  // Comparing the configuration's text with the input rejects every second spelling.
  if (config.text() != text) return std::nullopt;
  return config;
}

Refusal conv_refusal(const ConvProblem& p) {
  if (Refusal why = problem_extents(p)) return why;
  if (p.float_result) return "its result has other elements than its operands";
  const int vector = vector_elements(p.element);
  if (p.channels % vector != 0) return "channels are no multiple of " + std::to_string(vector);
  if (p.filters % 8 != 0) return "filters are no multiple of 8";
  const bool aligned_taps = p.kernel_w == 1 || int64_t{p.dilation_w} * p.pitch() % vector == 0;
  if (int64_t{p.stride_w} * p.pitch() % vector != 0 || int64_t{p.pad_left} * p.pitch() % vector != 0 ||
      int64_t{p.width} * p.pitch() % vector != 0 || !aligned_taps) {
    return "pixels do not start at multiples of 16 bytes";
  }
  const int64_t plane = int64_t{p.width} * p.pitch();
  if (plane > kMaxElements || plane * p.height > kMaxElements || plane * p.height * p.batch > kMaxElements) {
    return "the input has more than 2^30 elements";
  }
  if (p.depth() > kMaxElements || (p.depth() + 128) * (p.filters + 128) > kMaxElements) {
    return "the weights have more than 2^30 elements";
  }
  if (p.rows() > kMaxElements) return "the output has more than 2^30 pixels";
  return {};
}

Refusal conv_refusal(const ConvProblem& problem, const ConvConfig& config, const DeviceProperties& device) {
  if (Refusal why = conv_refusal(problem)) return why;
  if (!device.async_copies) return "it needs compute capability 8.0";
  const std::span<const TileShape> shapes = tile_shapes(problem.element);
  const bool compiled = std::any_of(shapes.begin(), shapes.end(), [&](const TileShape& s) {
    return s.tile_m == config.tile_m && s.tile_n == config.tile_n && s.tile_k == config.tile_k;
  });
  if (!compiled) return "no kernel has the tile of " + config.text();
  if (config.stages < kMinStages || config.stages > kMaxStages) return "stages are not 3 to 6";
  if (shared_bytes(config, problem.element, true) > device.shared_memory)
    return "it needs more shared memory than a block can get";
  const int64_t tiles = tiles_of(problem, config.tile_m, config.tile_n);
  if (tiles * kMaxSplit > kMaxElements) return "the output has too many tiles";
  if (config.split_k < 1 || config.split_k > kMaxSplit) return "the depth is not split into 1 to 16";
  if (config.split_k > ceil_divide(problem.depth(), config.tile_k))
    return "the depth has fewer steps than parts";
  if (config.split_k == 1) return {};
  if (config.reduction == Reduction::kWorkspace) {
    return tiles > kMaxSplitTiles ? "it has too many tiles to split their depth" : std::string();
  }
  if (!device.clusters) return "the device has no thread block clusters";
  if (config.split_k != 2 && config.split_k != 4 && config.split_k != 8)
    return "a cluster has 2, 4 or 8 blocks";
  return {};
}

std::vector<ConvConfig> conv_configs(const ConvProblem& problem, const DeviceProperties& device,
                                     size_t limit) {
  if (conv_refusal(problem)) return {};
  struct Guess {
    double microseconds;
    ConvConfig config;
  };
  std::vector<Guess> found;
  for (const TileShape& shape : tile_shapes(problem.element)) {
    ConvConfig config;
    config.tile_m = shape.tile_m;
    config.tile_n = shape.tile_n;
    config.tile_k = shape.tile_k;
    for (const int split : {1, 2, 3, 4, 6, 8, 12, 16}) {
      config.split_k = split;
      for (const Reduction reduction : {Reduction::kCluster, Reduction::kWorkspace}) {
        if (split == 1 && reduction == Reduction::kWorkspace) continue;
        config.reduction = reduction;
        for (const int stages : stage_counts(config, problem, device)) {
          config.stages = stages;
          if (conv_refusal(problem, config, device)) continue;
          found.push_back({guess(problem, config, device), config});
        }
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Guess& a, const Guess& b) { return a.microseconds < b.microseconds; });
  std::vector<ConvConfig> configs;
  for (size_t i = 0; i < std::min(limit, found.size()); ++i) configs.push_back(found[i].config);
  return configs;
}

std::vector<ConvConfig> conv_candidates(const ConvProblem& problem, const DeviceProperties& device) {
  std::vector<ConvConfig> candidates = conv_configs(problem, device);
  if (problem.element != Element::kFloat) return candidates;
  std::map<std::pair<int, int>, int> taken;
  for (const ConvConfig& config : conv_configs(problem, device, std::numeric_limits<size_t>::max())) {
    if (config.tile_m * config.tile_n < kLargeTile ||
        taken[{config.tile_m, config.tile_n}]++ >= kOfLargeTiles)
      continue;
    const std::string text = config.text();
    if (std::none_of(candidates.begin(), candidates.end(),
                     [&](const ConvConfig& other) { return other.text() == text; }))
      candidates.push_back(config);
  }
  return candidates;
}

int64_t conv_workspace_bytes(const ConvProblem& problem, const ConvConfig& config) {
  return conv_counter_bytes(problem, config) * config.split_k * config.tile_m * config.tile_n;
}

int64_t conv_counter_bytes(const ConvProblem& problem, const ConvConfig& config) {
  if (config.split_k == 1 || config.reduction == Reduction::kCluster) return 0;
  return tiles_of(problem, config.tile_m, config.tile_n) * 4;
}

}  // namespace hone::device::cuda
