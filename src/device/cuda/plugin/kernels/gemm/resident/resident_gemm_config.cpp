// The configurations of the resident GEMM for a problem, ordered by estimated time. See resident_gemm.hpp.
#include <algorithm>
#include <cstdio>

#include "device/cuda/plugin/kernels/common/ceil_divide.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

/// Offsets into y are 32-bit.
constexpr int64_t kMaxOutputs = int64_t{1} << 30;

int64_t align(int64_t bytes) { return ceil_divide(bytes, 128) * 128; }

const ResidentShape* find_shape(const ResidentConfig& config) {
  for (const ResidentShape& shape : kResidentShapes) {
    if (shape.tile_m == config.tile_m && shape.tile_n == config.tile_n && shape.slices == config.slices)
      return &shape;
  }
  return nullptr;
}

int64_t slab_of(const ConvProblem& problem, const ResidentConfig& config) {
  return problem.channels / config.parts;
}

int64_t patch_pixels(const ConvProblem& problem, int tile_m) {
  if (!has_window(problem)) return tile_m;
  const ResidentPatch patch = resident_patch(problem, tile_m);
  return int64_t{patch.height} * patch.width;
}

/// Estimated microseconds of a configuration, from known rates of Hopper. Shared memory delivers 128 bytes a
/// clock, and L2 about 40 to each multiprocessor. A warp takes about 70 clocks for a depth of 16. The start,
/// the latency of L2, the sum and the store are each paid once.
double guess(const ConvProblem& problem, const ResidentConfig& config, const ResidentShape& shape,
             const DeviceProperties& device) {
  constexpr double kClocksPerMicrosecond = 1700;
  const int64_t blocks =
      ceil_divide(problem.rows(), config.tile_m) * ceil_divide(problem.filters, config.tile_n) * config.parts;
  const int64_t depth_steps = problem.depth() / 16 / config.parts;
  const auto steps = static_cast<double>(depth_steps);
  const double fragments =
      steps * 32 * (config.tile_m * shape.warps_n + config.tile_n * shape.warps_m);  // bytes
  const double tile = 4.0 * config.tile_m * config.tile_n;
  const ResidentMemory memory = resident_memory(problem, config);
  const double arrival =
      static_cast<double>(patch_pixels(problem, config.tile_m) * slab_of(problem, config) * 2) / 40;
  const double product = std::max(fragments / 128, 70 * steps / config.slices);
  const double sum = 2 * tile * config.slices / 128 + (config.parts > 1 ? 700 + 2 * tile / 32 : 0);
  const int64_t resident = std::max<int64_t>(1, device.shared_memory / (memory.total + 1024));
  const double waves = static_cast<double>(ceil_divide(blocks, device.multiprocessors * resident));
  const double busy = static_cast<double>(ceil_divide(blocks, device.multiprocessors));
  return (waves * 2000 + busy * (arrival + product + sum)) / kClocksPerMicrosecond;
}

}  // namespace

std::string ResidentConfig::text() const {
  std::string result = std::to_string(tile_m) + "x" + std::to_string(tile_n) + "_k" + std::to_string(slices);
  if (parts > 1) result += "_c" + std::to_string(parts);
  return result;
}

std::optional<ResidentConfig> ResidentConfig::parse(const std::string& text) {
  ResidentConfig config;
  const int fields = std::sscanf(text.c_str(), "%4dx%4d_k%2d_c%2d", &config.tile_m, &config.tile_n,
                                 &config.slices, &config.parts);
  // Comparing the configuration's text with the input rejects every second spelling.
  if (fields < 3 || config.text() != text) return std::nullopt;
  return config;
}

ResidentPatch resident_patch(const ConvProblem& problem, int tile_m) {
  ResidentPatch best;
  int64_t fewest = 0;
  for (int tile_w = 1; tile_w <= tile_m; tile_w *= 2) {
    ResidentPatch patch;
    patch.tile_h = tile_m / tile_w;
    patch.tile_w = tile_w;
    patch.tiles_y = ceil_divide(problem.out_height(), patch.tile_h);
    patch.tiles_x = ceil_divide(problem.out_width(), patch.tile_w);
    patch.height = (patch.tile_h - 1) * problem.stride_h + (problem.kernel_h - 1) * problem.dilation_h + 1;
    patch.width = (patch.tile_w - 1) * problem.stride_w + (problem.kernel_w - 1) * problem.dilation_w + 1;
    const int64_t tiles = int64_t{patch.tiles_y} * patch.tiles_x;
    const bool smaller = int64_t{patch.height} * patch.width < int64_t{best.height} * best.width;
    if (fewest != 0 && (tiles > fewest || (tiles == fewest && !smaller))) continue;
    best = patch;
    fewest = tiles;
  }
  return best;
}

int64_t resident_tiles_m(const ConvProblem& problem, int tile_m) {
  if (!has_window(problem)) return ceil_divide(problem.rows(), tile_m);
  const ResidentPatch patch = resident_patch(problem, tile_m);
  return int64_t{problem.batch} * patch.tiles_y * patch.tiles_x;
}

ResidentMemory resident_memory(const ConvProblem& problem, const ResidentConfig& config) {
  ResidentMemory memory;
  const int64_t slab = slab_of(problem, config);
  const int64_t weights_at = ResidentMemory::kBarrier + int64_t{config.tile_n} * 4;
  // The pitch is a multiple of 32 bytes plus 16, so that eight rows lie in eight different groups of banks.
  memory.weight_pitch = problem.depth() / config.parts * 2 + 16;
  memory.patch_pitch = slab * 2 + 16;
  memory.patch_at = align(weights_at + config.tile_n * memory.weight_pitch);
  const int64_t patch_end = memory.patch_at + patch_pixels(problem, config.tile_m) * memory.patch_pitch;
  const int64_t sums = int64_t{config.slices} * config.tile_m * (config.tile_n + kStagePad) * 4;
  memory.receive_at = align(std::max(patch_end, weights_at + sums));
  memory.total = memory.receive_at + (config.parts > 1 ? int64_t{config.tile_m} * config.tile_n * 4 : 0);
  return memory;
}

Refusal resident_refusal(const ConvProblem& problem, const ResidentConfig& config,
                         const DeviceProperties& device) {
  if (Refusal why = conv_refusal(problem)) return why;
  if (element_bytes(problem.element) != 2) return "only fp16 and bf16";
  if (find_shape(config) == nullptr) return "no kernel has the tile of " + config.text();
  if (config.parts != 1 && config.parts != 2 && config.parts != 4 && config.parts != 8)
    return "a cluster has 2, 4 or 8 blocks";
  if (!device.clusters) return "it needs compute capability 9.0";
  if (problem.pitch() != problem.channels) return "its pixels overlap or have gaps";
  if (problem.channels % (16 * config.parts) != 0)
    return "its channels are no multiple of " + std::to_string(16 * config.parts);
  if (problem.rows() * problem.filters > kMaxOutputs) return "the output has more than 2^30 elements";
  const int64_t depth_bytes = problem.depth() / config.parts * 2 * config.tile_n;
  if (depth_bytes > device.shared_memory || resident_memory(problem, config).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

std::vector<ResidentConfig> resident_configs(const ConvProblem& problem, const DeviceProperties& device,
                                             size_t limit) {
  struct Guess {
    double microseconds;
    ResidentConfig config;
  };
  std::vector<Guess> found;
  for (const ResidentShape& shape : kResidentShapes) {
    for (const int parts : {1, 2, 4, 8}) {
      const ResidentConfig config{shape.tile_m, shape.tile_n, shape.slices, parts};
      if (resident_refusal(problem, config, device)) continue;
      found.push_back({guess(problem, config, shape, device), config});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Guess& a, const Guess& b) { return a.microseconds < b.microseconds; });
  std::vector<ResidentConfig> configs;
  for (size_t i = 0; i < std::min(limit, found.size()); ++i) configs.push_back(found[i].config);
  return configs;
}

}  // namespace hone::device::cuda
