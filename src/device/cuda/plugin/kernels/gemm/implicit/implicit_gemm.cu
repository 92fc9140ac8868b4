// Launch of the implicit GEMM. See implicit_gemm.hpp.
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"

#include <initializer_list>

#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

using Tables = std::initializer_list<const GemmKernel*>;

const GemmKernel* find_in(Tables tables, const ConvConfig& config) {
  for (const GemmKernel* kernel : tables) {
    for (; kernel->function != nullptr; ++kernel) {
      if (kernel->tile_m == config.tile_m && kernel->tile_n == config.tile_n &&
          kernel->tile_k == config.tile_k) {
        return kernel;
      }
    }
  }
  return nullptr;
}

const GemmKernel* find_kernel(const ConvProblem& problem, const ConvConfig& config) {
  const bool pointwise = is_pointwise(problem);
  switch (problem.element) {
    case Element::kHalf:
      return pointwise ? find_in({kHalfPointwiseSmall, kHalfPointwiseLarge}, config)
                       : find_in({kHalfWindowSmall, kHalfWindowLarge}, config);
    case Element::kBFloat16:
      return pointwise ? find_in({kBFloat16PointwiseSmall, kBFloat16PointwiseLarge}, config)
                       : find_in({kBFloat16WindowSmall, kBFloat16WindowLarge}, config);
    case Element::kFloat: return find_in({pointwise ? kFloatPointwise : kFloatWindow}, config);
    case Element::kTf32: return find_in({pointwise ? kTf32Pointwise : kTf32Window}, config);
  }
  return nullptr;
}

void set_geometry(const ConvProblem& problem, GemmParams& params) {
  params.depth = static_cast<int>(problem.depth());
  params.out_width = FastDivisor(problem.out_width());
  params.channels = FastDivisor(problem.channels);
  params.kernel_w = FastDivisor(problem.kernel_w);
  params.pixel_pitch = problem.pitch();
  params.row_pitch = problem.width * params.pixel_pitch;
  params.image_pitch = problem.height * params.row_pitch;
  params.height = problem.height;
  params.width = problem.width;
  params.stride_h = problem.stride_h;
  params.stride_w = problem.stride_w;
  params.pad_top = problem.pad_top;
  params.pad_left = problem.pad_left;
  params.dilation_h = problem.dilation_h;
  params.dilation_w = problem.dilation_w;
}

void set_schedule(const ConvConfig& config, Element element, const ConvArgs& args, GemmParams& params) {
  params.depth_steps = (params.depth + config.tile_k - 1) / config.tile_k;
  params.tiles_n = FastDivisor((params.epilogue.filters + config.tile_n - 1) / config.tile_n);
  params.split = FastDivisor(config.split_k);
  params.stages = config.stages;
  params.staging_bytes = static_cast<int>(staging_bytes(config, element));
  params.split_k = config.split_k;
  params.next_waits = args.next_waits;
  params.cluster = config.split_k > 1 && config.reduction == Reduction::kCluster;
  params.counters = static_cast<unsigned*>(args.counters);
  params.partials = static_cast<float*>(args.workspace);
}

}  // namespace

cudaError_t launch_conv(const ConvProblem& problem, const ConvConfig& config, const ConvArgs& args,
                        const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (conv_refusal(problem, config, device) || !valid_steps(args)) return cudaErrorInvalidValue;
  if (conv_counter_bytes(problem, config) != 0 && (args.workspace == nullptr || args.counters == nullptr))
    return cudaErrorInvalidValue;
  const GemmKernel* const kernel = find_kernel(problem, config);
  if (kernel == nullptr) return cudaErrorInvalidValue;

  GemmParams params{};
  params.x = args.x;
  params.w = args.w;
  params.epilogue = make_epilogue(problem, args);
  set_geometry(problem, params);
  set_schedule(config, problem.element, args, params);

  const int64_t tiles_m = (params.epilogue.rows + config.tile_m - 1) / config.tile_m;
  GemmLaunch launch;
  launch.function = kernel->function;
  launch.blocks = tiles_m * params.tiles_n.divisor * config.split_k;
  launch.threads = kernel->threads;
  launch.cluster = params.cluster ? config.split_k : 1;
  launch.shared_bytes = shared_bytes(config, problem.element, params.epilogue.prefetched != nullptr);
  return launch_gemm(launch, &params, options);
}

}  // namespace hone::device::cuda
