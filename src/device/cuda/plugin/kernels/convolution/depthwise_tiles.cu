// Tensor map and launch of depthwise_tiles(). See depthwise.hpp.
#include <type_traits>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/convolution/depthwise_tiles_kernel.cuh"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"

namespace hone::device::cuda {
namespace {

using Plan = DepthwiseTilePlan;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, __half>;

template <class T, StreamKind kKind, int kTaps, int kStride>
const void* tiles_kernel(int run) {
  constexpr int kOther = kStride == 1 ? 7 : 2;
  return run == 4 ? kernel_address(&depthwise_tiles_kernel<T, kTaps, kStride, 4, kKind>)
                  : kernel_address(&depthwise_tiles_kernel<T, kTaps, kStride, kOther, kKind>);
}

template <class T, StreamKind kKind>
const void* tiles_kernel(const ConvolutionSize& size, int run) {
  const bool steps = size.stride[1] == 2;
  if (size.kernel[1] == 7) return wide_depthwise_tiles_kernel(kIsHalf<T>, kKind, run);
  if (size.kernel[1] == 3)
    return steps ? tiles_kernel<T, kKind, 3, 2>(run) : tiles_kernel<T, kKind, 3, 1>(run);
  return steps ? tiles_kernel<T, kKind, 5, 2>(run) : tiles_kernel<T, kKind, 5, 1>(run);
}

template <class T>
const void* tiles_kernel(const ConvolutionSize& size, int run, StreamKind kind) {
  if (kind == StreamKind::kSwish) return tiles_kernel<T, StreamKind::kSwish>(size, run);
  return kind == StreamKind::kHardSwish ? tiles_kernel<T, StreamKind::kHardSwish>(size, run)
                                        : tiles_kernel<T, StreamKind::kBounds>(size, run);
}

}  // namespace

Refusal depthwise_tiles_refusal(const ConvolutionSize& size, FloatType type,
                                const std::optional<StreamEpilogue>& epilogue, int run,
                                const DeviceProperties& device) {
  if (size.in_channels != size.group || size.out_channels != size.group) return "it is not depthwise";
  if (size.kernel[0] != 1 || size.input[0] != 1 || size.output[0] != 1) return "it is not of images";
  if (!has_tile_windows(size))
    return "its windows are not of 3 x 3 or 5 x 5 with strides of 1 or 2, nor of 7 x 7 with one of 1";
  if (type == FloatType::kFloat) return "only fp16 and bf16";
  if (size.in_channels % 8 != 0) return "its channels are no multiple of 8";
  if (!epilogue || !is_mobile(epilogue->kind)) return "more follows it than bounds, a swish or a hard swish";
  const std::array<int, 2> runs = depthwise_tile_runs(size);
  if (run != runs[0] && run != runs[1])
    return "a thread takes " + std::to_string(runs[0]) + " or " + std::to_string(runs[1]) + " rows";
  if (!device.warpgroups) return "it is for compute capability 9.0";
  if (Plan(size, run, device.multiprocessors).shared_bytes() > device.shared_memory)
    return "its tiles are larger than the shared memory of a block";
  return {};
}

cudaError_t depthwise_tiles(const ConvolutionArguments& arguments, FloatType type,
                            const ConvolutionSize& size, const StreamEpilogue& epilogue, int run,
                            const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (depthwise_tiles_refusal(size, type, epilogue, run, device)) return cudaErrorInvalidValue;
  if (!is_aligned(arguments.input) || !is_aligned(arguments.weights) || !is_aligned(arguments.output) ||
      !is_aligned(arguments.bias))
    return cudaErrorMisalignedAddress;
  if (size.batch * size.output[1] * size.output[2] == 0) return cudaSuccess;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;
  const Plan plan(size, run, device.multiprocessors);
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  DepthwiseTiles params{
      {}, static_cast<const float*>(arguments.weights), arguments.bias, arguments.output, epilogue, plan};
  params.box_bytes = plan.box_bytes();
  params.channels = narrow(size.in_channels);
  params.batch = narrow(size.batch);
  params.out_rows = narrow(size.output[1]);
  params.out_columns = narrow(size.output[2]);
  params.pad_y = narrow(size.pad_begin[1]);
  params.pad_x = narrow(size.pad_begin[2]);
  params.tiles_across = FastDivisor(plan.tiles_across(size));
  params.tiles_down = FastDivisor(plan.tiles_down(size));
  params.chunks = FastDivisor(Plan::chunks(size));
  params.next_waits = options.next_waits;
  const int64_t tiles = plan.tiles(size);
  if (tiles >= int64_t{1} << 31) return cudaErrorInvalidValue;
  params.tiles = narrow(tiles);
  const bool is_half = type == FloatType::kHalf;
  if (!encode_boxes(params.input, is_half ? Element::kHalf : Element::kBFloat16, arguments.input,
                    {size.in_channels, size.input[2], size.input[1], size.batch},
                    {Plan::kChannels, plan.box_columns, plan.box_rows, plan.images},
                    CU_TENSOR_MAP_SWIZZLE_NONE))
    return cudaErrorInvalidValue;
  GemmLaunch launch;
  launch.function = is_half ? tiles_kernel<__half>(size, run, params.epilogue.kind)
                            : tiles_kernel<__nv_bfloat16>(size, run, params.epilogue.kind);
  launch.threads = Plan::kThreads;
  launch.shared_bytes = plan.shared_bytes();
  return launch_resident_tiles(launch, tiles, params.chunks.divisor, &params, options);
}

}  // namespace hone::device::cuda
