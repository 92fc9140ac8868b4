// Launch of the implicit GEMM. See implicit_gemm.hpp.
#include "device/cuda/plugin/kernels/implicit_gemm.hpp"

#include <initializer_list>

#include "device/cuda/plugin/kernels/implicit_gemm_params.hpp"

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
  if (problem.element == Element::kHalf) {
    return is_pointwise(problem) ? find_in({kHalfPointwiseSmall, kHalfPointwiseLarge}, config)
                                 : find_in({kHalfWindowSmall, kHalfWindowLarge}, config);
  }
  return is_pointwise(problem) ? find_in({kBFloat16PointwiseSmall, kBFloat16PointwiseLarge}, config)
                               : find_in({kBFloat16WindowSmall, kBFloat16WindowLarge}, config);
}

bool is_binary(EpilogueOp op) {
  return op == EpilogueOp::kAdd || op == EpilogueOp::kMul || op == EpilogueOp::kSub;
}

bool valid_steps(const ConvArgs& args) {
  if (args.step_count < 0 || args.step_count > kMaxEpilogueSteps) return false;
  for (int i = 0; i < args.step_count; ++i) {
    if (is_binary(args.steps[i].op) != (args.steps[i].operand != nullptr)) return false;
  }
  return true;
}

void set_steps(const ConvArgs& args, GemmParams& params) {
  params.step_count = args.step_count;
  params.prefetched = nullptr;
  params.prefetched_step = -1;
  for (int i = 0; i < args.step_count; ++i) {
    const EpilogueStep& step = args.steps[i];
    params.steps[i] = step;
    if (params.prefetched == nullptr && is_binary(step.op) && step.shape == OperandShape::kFull) {
      params.prefetched = step.operand;
      params.prefetched_step = i;
    }
  }
  params.mode = EpilogueMode::kSteps;
  if (args.step_count == 0) params.mode = EpilogueMode::kPlain;
  if (args.step_count == 1 && args.steps[0].op == EpilogueOp::kRelu) params.mode = EpilogueMode::kRelu;
  if (args.step_count == 2 && args.steps[0].op == EpilogueOp::kAdd && params.prefetched_step == 0 &&
      args.steps[1].op == EpilogueOp::kRelu) {
    params.mode = EpilogueMode::kAddRelu;
  }
}

void set_geometry(const ConvProblem& problem, GemmParams& params) {
  params.rows = static_cast<int>(problem.rows());
  params.filters = problem.filters;
  params.depth = static_cast<int>(problem.depth());
  params.pixels = FastDivisor(int64_t{problem.out_height()} * problem.out_width());
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

void set_schedule(const ConvConfig& config, const ConvArgs& args, GemmParams& params) {
  params.depth_steps = (params.depth + config.tile_k - 1) / config.tile_k;
  params.tiles_n = FastDivisor((params.filters + config.tile_n - 1) / config.tile_n);
  params.split = FastDivisor(config.split_k);
  params.stages = config.stages;
  params.staging_bytes =
      static_cast<int>(staging_bytes(config.tile_m, config.tile_n, config.tile_k, config.stages));
  params.split_k = config.split_k;
  params.next_waits = args.next_waits;
  params.cluster = config.split_k > 1 && config.reduction == Reduction::kCluster;
  params.counters = static_cast<unsigned*>(args.workspace);
  params.partials =
      params.counters == nullptr ? nullptr : reinterpret_cast<float*>(params.counters + kMaxCounters);
}

cudaError_t device_limits(DeviceLimits& limits) {
  int device = 0;
  int major = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  cudaError_t error =
      cudaDeviceGetAttribute(&limits.shared_memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  limits.clusters = major >= 9;
  return error;
}

/// The same for every configuration: what a launch needs is not what an earlier, captured one needs, and a
/// multiprocessor must be idle to change its split between cache and shared memory, so that kernels which
/// prefer different splits could not overlap.
cudaError_t prepare(const void* function, const DeviceLimits& limits) {
  const cudaError_t error =
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, limits.shared_memory);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                              cudaSharedmemCarveoutMaxShared);
}

}  // namespace

cudaError_t launch_conv(const ConvProblem& problem, const ConvConfig& config, const ConvArgs& args, bool pdl,
                        cudaStream_t stream) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  if (!conv_refusal(problem, config, limits).empty() || !valid_steps(args)) return cudaErrorInvalidValue;
  if (conv_workspace_bytes(problem, config) != 0 && args.workspace == nullptr) return cudaErrorInvalidValue;
  const GemmKernel* const kernel = find_kernel(problem, config);
  if (kernel == nullptr) return cudaErrorInvalidValue;

  GemmParams params{};
  params.x = args.x;
  params.w = args.w;
  params.bias = args.bias;
  params.y = args.y;
  set_steps(args, params);
  set_geometry(problem, params);
  set_schedule(config, args, params);

  if (const cudaError_t error = prepare(kernel->function, limits); error != cudaSuccess) return error;
  const int64_t tiles_m = (params.rows + config.tile_m - 1) / config.tile_m;
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>(tiles_m * params.tiles_n.divisor * config.split_k));
  launch.blockDim = dim3(static_cast<unsigned>(kernel->threads));
  launch.dynamicSmemBytes = static_cast<size_t>(shared_bytes(config, params.prefetched != nullptr));
  launch.stream = stream;
  launch.attrs = attributes;
  if (params.cluster) {
    attributes[launch.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[launch.numAttrs].val.clusterDim.x = static_cast<unsigned>(config.split_k);
    attributes[launch.numAttrs].val.clusterDim.y = 1;
    attributes[launch.numAttrs].val.clusterDim.z = 1;
    ++launch.numAttrs;
  }
  if (pdl) {
    attributes[launch.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[launch.numAttrs].val.programmaticStreamSerializationAllowed = 1;
    ++launch.numAttrs;
  }
  void* arguments[] = {&params};
  return cudaLaunchKernelExC(&launch, kernel->function, arguments);
}

}  // namespace hone::device::cuda
