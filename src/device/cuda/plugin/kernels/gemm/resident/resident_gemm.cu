// Launch of the resident GEMM. See resident_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm_params.hpp"

namespace hone::device::cuda {

void set_patch(const ConvProblem& problem, const ResidentPatch& patch, ResidentParams& params) {
  params.tiles_x = FastDivisor(patch.tiles_x);
  params.tiles_y = FastDivisor(patch.tiles_y);
  params.patch_width = FastDivisor(patch.width);
  for (params.tile_w_log2 = 0; 1 << params.tile_w_log2 < patch.tile_w;) ++params.tile_w_log2;
  params.patch_pixels = patch.height * patch.width;
  params.tap_skip = problem.dilation_w * params.patch_pitch - params.slab * 2;
  params.row_skip =
      (patch.width * problem.dilation_h - problem.kernel_w * problem.dilation_w) * params.patch_pitch;
  params.down_pitch = patch.width * problem.stride_h * params.patch_pitch;
  params.right_pitch = problem.stride_w * params.patch_pitch;
}

namespace {

const ResidentKernel* find_kernel(const ConvProblem& problem, const ResidentConfig& config) {
  const bool half = problem.element == Element::kHalf;
  const ResidentKernel* kernel = has_window(problem) ? (half ? kResidentHalfWindow : kResidentBFloat16Window)
                                                     : (half ? kResidentHalfPixels : kResidentBFloat16Pixels);
  for (; kernel->function != nullptr; ++kernel) {
    if (kernel->tile_m == config.tile_m && kernel->tile_n == config.tile_n && kernel->slices == config.slices)
      return kernel;
  }
  return nullptr;
}

ResidentParams make_params(const ConvProblem& problem, const ResidentConfig& config,
                           const ResidentMemory& memory, const ConvArgs& args) {
  const int slab = problem.channels / config.parts;
  ResidentParams params{};
  params.epilogue = make_epilogue(problem, args);
  params.x = args.x;
  params.w = args.w;
  params.channels = problem.channels;
  params.slab = slab;
  params.height = problem.height;
  params.width = problem.width;
  params.out_height = problem.out_height();
  params.out_width = problem.out_width();
  params.stride_h = problem.stride_h;
  params.stride_w = problem.stride_w;
  params.pad_top = problem.pad_top;
  params.pad_left = problem.pad_left;
  params.tiles_n = FastDivisor((problem.filters + config.tile_n - 1) / config.tile_n);
  params.parts = FastDivisor(config.parts);
  params.slab_pieces = FastDivisor(slab / 8);
  params.slab_steps = FastDivisor(slab / 16);
  params.kernel_w = FastDivisor(problem.kernel_w);
  params.out_pixels = FastDivisor(int64_t{problem.out_height()} * problem.out_width());
  params.out_row = FastDivisor(problem.out_width());
  params.dense = is_pointwise(problem);
  params.taps = problem.kernel_h * problem.kernel_w;
  params.depth_steps = static_cast<int>(problem.depth() / 16 / config.parts);
  params.weight_pitch = static_cast<int>(memory.weight_pitch);
  params.patch_pitch = static_cast<int>(memory.patch_pitch);
  params.patch_at = static_cast<int>(memory.patch_at);
  params.receive_at = static_cast<int>(memory.receive_at);
  params.next_waits = args.next_waits;
  if (has_window(problem)) set_patch(problem, resident_patch(problem, config.tile_m), params);
  return params;
}

}  // namespace

cudaError_t launch_resident(const ConvProblem& problem, const ResidentConfig& config, const ConvArgs& args,
                            const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (resident_refusal(problem, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  const ResidentKernel* const kernel = find_kernel(problem, config);
  if (kernel == nullptr) return cudaErrorInvalidValue;

  const ResidentMemory memory = resident_memory(problem, config);
  const ResidentParams params = make_params(problem, config, memory, args);
  GemmLaunch launch;
  launch.function = kernel->function;
  launch.blocks = resident_tiles_m(problem, config.tile_m) * params.tiles_n.divisor * config.parts;
  launch.threads = kernel->threads;
  launch.cluster = config.parts;
  launch.shared_bytes = memory.total;
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
