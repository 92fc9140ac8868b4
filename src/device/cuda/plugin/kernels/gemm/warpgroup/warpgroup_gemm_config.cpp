// The configurations of a convolution by warpgroup GEMM, ordered by estimated time. See warpgroup_gemm.hpp.
#include <algorithm>
#include <cstdio>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kMinStages = 2;
constexpr int kMaxStages = 8;
/// Limits of maps of four dimensions: corners, offsets of taps and strides.
constexpr int kMaxCorner = 127;
constexpr int kMaxOffset = 255;
constexpr int kMaxStride = 8;

/// Estimated microseconds of a configuration, from rates of an H200 (docs/performance/lessons.md): 90 bytes a
/// clock from L2 to a multiprocessor, 15 from one multiprocessor to another, and 4,096 operations a clock for
/// tiles of at least 128 filters. Smaller tiles are slower, since starting their products takes longer.
double guess(const ConvProblem& problem, int64_t depth_steps, const WarpgroupConfig& config,
             const DeviceProperties& device) {
  constexpr double kClocksPerMicrosecond = 1700;
  constexpr double kBytesPerClock = 90;
  constexpr double kSentBytesPerClock = 15;
  const auto bytes = static_cast<double>((config.tile_m + config.tile_n) * kStageRowBytes);
  const double flops = 2.0 * config.tile_m * config.tile_n * kStageDepth;
  const double rate = 4096 * std::min(1.0, (config.tile_n + 48) / 176.0);
  const double step = std::max(bytes / kBytesPerClock, flops / rate);
  const int64_t steps = ceil_divide(depth_steps, config.parts);
  const int64_t blocks =
      ceil_divide(problem.rows(), config.tile_m) * ceil_divide(problem.filters, config.tile_n) * config.parts;
  const int64_t resident =
      std::max<int64_t>(1, device.shared_memory / (warpgroup_shared_bytes(config, true) + 1024));
  const int64_t waves = ceil_divide(blocks, device.multiprocessors * resident);
  const int64_t per_processor = ceil_divide(blocks, device.multiprocessors);
  const double store = config.tile_m * config.tile_n * 10 / kBytesPerClock;
  const double work = static_cast<double>(per_processor) * (static_cast<double>(steps) * step + store);
  constexpr double kTurn = 90;
  const double latency =
      static_cast<double>(waves) * (1800 + static_cast<double>(steps) * std::max(kTurn, step));
  const double sent = config.tile_m * config.tile_n * 4.0 * (config.parts - 1) / config.parts;
  const double reduce = config.parts > 1 ? 1500 + sent / kSentBytesPerClock : 0;
  const double flight = std::max(0.0, 900.0 - (config.stages - 1) * std::max(step, kTurn)) / config.stages;
  return (std::max(work, latency) + static_cast<double>(steps * waves) * flight / 2 + reduce) /
         kClocksPerMicrosecond;
}

Refusal problem_refusal(ConvProblem problem) {
  problem.float_result = false;
  return conv_refusal(problem);
}

bool fits_corner(int value) { return value >= -kMaxCorner - 1 && value <= kMaxCorner; }

Refusal map_refusal(const ConvProblem& p) {
  const int span_h = (p.kernel_h - 1) * p.dilation_h;
  const int span_w = (p.kernel_w - 1) * p.dilation_w;
  if (span_h > kMaxOffset || span_w > kMaxOffset || !fits_corner(-p.pad_top) || !fits_corner(-p.pad_left) ||
      !fits_corner(p.pad_bottom - span_h) || !fits_corner(p.pad_right - span_w)) {
    return "the window is larger than a tensor map can say";
  }
  if (p.stride_h > kMaxStride || p.stride_w > kMaxStride) return "a stride is above 8";
  return {};
}

/// The numbers of stages with which one, two or three blocks fit on a multiprocessor.
std::vector<int> stage_counts(WarpgroupConfig config, int64_t depth_steps, const DeviceProperties& device) {
  const int64_t steps = ceil_divide(depth_steps, config.parts);
  std::vector<int> counts;
  for (const int share : {1, 2, 3}) {
    config.stages = static_cast<int>(std::clamp<int64_t>(steps, kMinStages, kMaxStages));
    while (config.stages > kMinStages &&
           warpgroup_shared_bytes(config, true) > (device.shared_memory + 1024) / share - 1024)
      --config.stages;
    if (std::find(counts.begin(), counts.end(), config.stages) == counts.end())
      counts.push_back(config.stages);
  }
  return counts;
}

}  // namespace

std::string WarpgroupConfig::text() const {
  std::string result = std::to_string(tile_m) + "x" + std::to_string(tile_n) + "_s" + std::to_string(stages);
  if (parts > 1) result += "_c" + std::to_string(parts);
  return result;
}

std::optional<WarpgroupConfig> WarpgroupConfig::parse(const std::string& text) {
  WarpgroupConfig config;
  const int fields = std::sscanf(text.c_str(), "%4dx%4d_s%2d_c%2d", &config.tile_m, &config.tile_n,
                                 &config.stages, &config.parts);
  // Comparing the configuration's text with the input rejects every second spelling.
  if ((fields != 3 && fields != 4) || config.text() != text) return std::nullopt;
  return config;
}

int64_t warpgroup_depth_steps(const ConvProblem& p) {
  return int64_t{p.kernel_h} * p.kernel_w * ceil_divide(p.channels, kStageDepth);
}

Refusal warpgroup_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                          const DeviceProperties& device, int64_t depth_steps) {
  if (Refusal why = problem_refusal(problem)) return why;
  if (!device.warpgroups) return "it is for compute capability 9.0";
  if (element_bytes(problem.element) != 2) return "it multiplies elements of two bytes";
  if (problem.pitch() != problem.channels) return "pixels overlap";
  if (Refusal why = map_refusal(problem)) return why;
  const bool compiled = std::any_of(
      std::begin(kWarpgroupShapes), std::end(kWarpgroupShapes),
      [&](const WarpgroupShape& s) { return s.tile_m == config.tile_m && s.tile_n == config.tile_n; });
  if (!compiled) return "no kernel has the tile of " + config.text();
  if (config.stages < kMinStages || config.stages > kMaxStages) return "stages are not 2 to 8";
  if (warpgroup_shared_bytes(config, true) > device.shared_memory)
    return "it needs more shared memory than a block can get";
  if (config.parts != 1 && config.parts != 2 && config.parts != 4 && config.parts != 8)
    return "a cluster has 1, 2, 4 or 8 blocks";
  if (config.parts > depth_steps) return "the depth has fewer stages than parts";
  if (problem.float_result && config.parts == 1) return "floats leave a cluster only";
  return {};
}

std::vector<WarpgroupConfig> warpgroup_configs(const ConvProblem& problem, const DeviceProperties& device,
                                               size_t limit, int64_t depth_steps) {
  if (problem_refusal(problem)) return {};
  struct Guess {
    double microseconds;
    WarpgroupConfig config;
  };
  std::vector<Guess> found;
  for (const WarpgroupShape& shape : kWarpgroupShapes) {
    for (const int parts : {1, 2, 4, 8}) {
      WarpgroupConfig config{shape.tile_m, shape.tile_n, kMinStages, parts};
      for (const int stages : stage_counts(config, depth_steps, device)) {
        config.stages = stages;
        if (warpgroup_refusal(problem, config, device, depth_steps)) continue;
        found.push_back({guess(problem, depth_steps, config, device), config});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Guess& a, const Guess& b) { return a.microseconds < b.microseconds; });
  std::vector<WarpgroupConfig> configs;
  for (size_t i = 0; i < std::min(limit, found.size()); ++i) configs.push_back(found[i].config);
  return configs;
}

Refusal warpgroup_refusal(const ConvProblem& problem, const WarpgroupConfig& config,
                          const DeviceProperties& device) {
  return warpgroup_refusal(problem, config, device, warpgroup_depth_steps(problem));
}

std::vector<WarpgroupConfig> warpgroup_configs(const ConvProblem& problem, const DeviceProperties& device,
                                               size_t limit) {
  if (problem_refusal(problem)) return {};
  return warpgroup_configs(problem, device, limit, warpgroup_depth_steps(problem));
}

}  // namespace hone::device::cuda
