// Configurations and launch of the kernel of stems. See stem_gemm.hpp.
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

#include <algorithm>
#include <cstdio>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm_kernel.cuh"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_pooled_stem.hpp"
#include "device/cuda/regions/stem/plugin/kernels/warpgroup_stem.hpp"

namespace hone::device::cuda {
namespace {

template <class T, int kM, int kN, int kWarpsM, int kWarpsN, int kChannels>
StemKernel stem_kernel() {
  using TileT = ResidentTile<kM, kN, 1, kWarpsM, kWarpsN>;
  return {kM,
          kN,
          kChannels,
          TileT::kThreads,
          TileT::kThreads / 32 * WarpOutput<T, TileT>::kBytes,
          kernel_address(&stem_gemm<T, TileT, kChannels>)};
}

template <class T>
const StemKernel* stem_kernels(size_t& count) {
  static const StemKernel kKernels[] = {
      stem_kernel<T, 128, 64, 4, 2, 4>(), stem_kernel<T, 64, 64, 2, 2, 4>(),
      stem_kernel<T, 256, 32, 8, 1, 4>(), stem_kernel<T, 128, 32, 4, 1, 4>(),
      stem_kernel<T, 128, 64, 4, 2, 8>(), stem_kernel<T, 64, 64, 2, 2, 8>(),
      stem_kernel<T, 256, 32, 8, 1, 8>(), stem_kernel<T, 128, 32, 4, 1, 8>()};
  count = std::size(kKernels);
  return kKernels;
}

const StemKernel* find_kernel(const StemLayout& layout, const StemConfig& config) {
  size_t count = 0;
  const StemKernel* const kernels = layout.problem.element == Element::kHalf
                                        ? stem_kernels<__half>(count)
                                        : stem_kernels<__nv_bfloat16>(count);
  const StemKernel* const end = kernels + count;
  const StemKernel* const found = std::find_if(kernels, end, [&](const StemKernel& kernel) {
    return kernel.tile_m == config.tile_m && kernel.tile_n == config.tile_n &&
           kernel.pixel_channels == layout.pixel_channels;
  });
  return found == end ? nullptr : found;
}

struct StemMemory {
  int64_t weight_pitch;
  int64_t patch_at;
  int64_t staged_at;
  int64_t total;
};

StemMemory stem_memory(const StemLayout& layout, const StemConfig& config, const ResidentPatch& patch) {
  constexpr int64_t kAlignment = 128;
  StemMemory memory;
  const int64_t weights_at = ResidentMemory::kBarrier + int64_t{config.tile_n} * 4;
  memory.weight_pitch = layout.problem.depth() * 2 + 16;
  memory.patch_at =
      (weights_at + config.tile_n * memory.weight_pitch + kAlignment - 1) / kAlignment * kAlignment;
  const int64_t patch_bytes = int64_t{patch.height} * patch.width * layout.pixel_channels * 2;
  memory.staged_at = (memory.patch_at + patch_bytes + kAlignment - 1) / kAlignment * kAlignment;
  memory.total = memory.staged_at + find_kernel(layout, config)->staged_bytes;
  return memory;
}

/// Everything but where things lie in shared memory. `windows` is window_problem().
void set_stem(const StemLayout& layout, const ConvProblem& windows, const ResidentPatch& patch,
              const StemConfig& config, const ConvArgs& args, StemParams& params) {
  params.image_channels = layout.image_channels;
  params.tiles_m = windows.batch * patch.tiles_y * patch.tiles_x;
  ResidentParams& g = params.gemm;
  g.epilogue = make_epilogue(windows, args);
  g.x = args.x;
  g.w = args.w;
  // A row of a window is one "tap" of all its channels.
  g.channels = g.slab = layout.problem.channels;
  g.taps = windows.kernel_h;
  g.slab_steps = FastDivisor(g.slab / 16);
  g.kernel_w = FastDivisor(1);
  g.depth_steps = static_cast<int>(layout.problem.depth() / 16);
  g.height = windows.height;
  g.width = windows.width;
  g.out_height = windows.out_height();
  g.out_width = windows.out_width();
  g.stride_h = windows.stride_h;
  g.stride_w = windows.stride_w;
  g.pad_top = windows.pad_top;
  g.pad_left = windows.pad_left;
  g.tiles_n = FastDivisor((windows.filters + config.tile_n - 1) / config.tile_n);
  g.parts = FastDivisor(1);
  g.patch_pitch = layout.pixel_channels * 2;
  g.next_waits = args.next_waits;
  set_patch(windows, patch, g);
  g.tap_skip = 0;
  g.row_skip = patch.width * windows.dilation_h * g.patch_pitch - g.slab * 2;
}

/// True if all steps are unary.
bool is_unary(const ConvArgs& args) {
  return std::all_of(args.steps.begin(), args.steps.begin() + args.step_count,
                     [](const EpilogueStep& step) { return step.operand == nullptr; });
}

}  // namespace

ConvProblem window_problem(const StemLayout& layout) {
  ConvProblem problem = layout.problem;
  problem.height = layout.image_height;
  problem.width = layout.image_width;
  problem.kernel_w = layout.taps;
  problem.pixel_pitch = 0;
  problem.pad_top = layout.pad_top;
  problem.pad_left = layout.pad_left;
  // The padding that the outputs imply.
  problem.pad_bottom = (layout.problem.out_height() - 1) * problem.stride_h +
                       problem.dilation_h * (problem.kernel_h - 1) + 1 - problem.height - problem.pad_top;
  problem.pad_right =
      (layout.problem.out_width() - 1) * problem.stride_w + layout.taps - problem.width - problem.pad_left;
  return problem;
}

std::string StemConfig::text() const {
  const char* const names[] = {"", "w", "p"};
  return names[static_cast<int>(way)] + std::to_string(tile_m) + "x" + std::to_string(tile_n);
}

StemOrder StemConfig::order() const {
  switch (way) {
    case StemWay::kWarpgroups: return StemOrder::kRuns;
    case StemWay::kPooled: return StemOrder::kFragments;
    default: return StemOrder::kWindows;
  }
}

std::optional<StemConfig> StemConfig::parse(const std::string& text) {
  StemConfig config;
  if (text.starts_with('w')) config.way = StemWay::kWarpgroups;
  if (text.starts_with('p')) config.way = StemWay::kPooled;
  const char* const tile = text.c_str() + (config.way == StemWay::kWarps ? 0 : 1);
  // Comparing the text with that of the parsed configuration refuses everything that has a second spelling.
  if (std::sscanf(tile, "%4dx%4d", &config.tile_m, &config.tile_n) != 2 || config.text() != text)
    return std::nullopt;
  return config;
}

Refusal stem_refusal(const StemLayout& layout, const StemConfig& config, const DeviceProperties& device) {
  if (config.way == StemWay::kWarpgroups) return warpgroup_stem_refusal(layout, config, device);
  if (config.way == StemWay::kPooled) return warpgroup_pooled_stem_refusal(layout, config, device);
  if (layout.pool) return "it does not pool";
  if (find_kernel(layout, config) == nullptr) return "no kernel has the tile of " + config.text();
  if (!device.clusters) return "it needs compute capability 9.0";
  const ResidentPatch patch = resident_patch(window_problem(layout), config.tile_m);
  if (stem_memory(layout, config, patch).total > device.shared_memory)
    return "its operands are larger than the shared memory of a block";
  return {};
}

std::vector<StemConfig> stem_configs(const StemLayout& layout, const DeviceProperties& device) {
  std::vector<StemConfig> configs;
  for (const StemWay way : {StemWay::kPooled, StemWay::kWarpgroups, StemWay::kWarps}) {
    for (const int tile_n : {64, 32}) {
      for (const int tile_m : {256, 240, 144, 128, 64}) {
        const StemConfig config{tile_m, tile_n, way};
        if (!stem_refusal(layout, config, device)) configs.push_back(config);
      }
    }
  }
  return configs;
}

cudaError_t launch_stem(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                        const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (stem_refusal(layout, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  if (!is_unary(args)) return cudaErrorInvalidValue;
  if (config.way == StemWay::kWarpgroups) return launch_warpgroup_stem(layout, config, args, options);
  if (config.way == StemWay::kPooled)
    return launch_warpgroup_pooled_stem(layout, config, args, nullptr, options);
  const ConvProblem problem = window_problem(layout);
  const ResidentPatch patch = resident_patch(problem, config.tile_m);
  const StemMemory memory = stem_memory(layout, config, patch);
  StemParams params{};
  set_stem(layout, problem, patch, config, args, params);
  ResidentParams& g = params.gemm;
  g.weight_pitch = static_cast<int>(memory.weight_pitch);
  g.patch_at = static_cast<int>(memory.patch_at);
  params.staged_at = static_cast<int>(memory.staged_at);

  const StemKernel* const kernel = find_kernel(layout, config);
  GemmLaunch launch;
  launch.function = kernel->function;
  launch.threads = kernel->threads;
  launch.shared_bytes = memory.total;
  return launch_resident_tiles(launch, params.tiles_m, g.tiles_n.divisor, &params, options);
}

cudaError_t launch_stem_and_next(const StemLayout& layout, const StemConfig& config, const ConvArgs& args,
                                 const StemNext& next, const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (config.way != StemWay::kPooled || warpgroup_pooled_stem_refusal(layout, config, device) ||
      layout.problem.filters != StemNext::kChannels || !valid_steps(args) || !is_unary(args) ||
      !is_aligned(next.w) || !is_aligned(next.y))
    return cudaErrorInvalidValue;
  return launch_warpgroup_pooled_stem(layout, config, args, &next, options);
}

}  // namespace hone::device::cuda
