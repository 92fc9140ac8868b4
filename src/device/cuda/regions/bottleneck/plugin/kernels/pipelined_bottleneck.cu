// Tensor maps and launch of the pipelined bottleneck. See pipelined_bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/pipelined_bottleneck_kernel.cuh"

namespace hone::device::cuda {
namespace {

constexpr int64_t kChannels = Bottleneck::kChannels;
constexpr int64_t kWide = Bottleneck::kWide;

bool encode_maps(const BottleneckArgs& args, const Bottleneck& size, Element element,
                 PipelinedBottleneckParams& p) {
  const auto image = [&](CUtensorMap& map, const void* memory, int64_t channels, int64_t width,
                         int64_t rows) {
    return encode_boxes(map, element, memory, {channels, size.width, size.height, size.batch},
                        {64, width, rows, 1});
  };
  constexpr int64_t kPixels = PipelinedBottleneck::kTilePixels;
  return image(p.x, args.x, kChannels, p.patch_width, 3) &&
         image(p.shortcut, args.shortcut, size.projects ? kChannels : kWide, kPixels, 1) &&
         image(p.wide, args.wide, kWide, kPixels, 1) && image(p.narrow, args.narrow, size.next, kPixels, 1) &&
         (PipelinedBottleneck::next_in_registers(size.next) ||
          encode_boxes(p.next, element, args.next, {kWide, size.next}, {64, size.next})) &&
         (!size.projects ||
          encode_boxes(p.projection, element, args.projection, {kChannels, kWide}, {64, 64}));
}

template <class T, int kNext, bool kProjects>
void choose(GemmLaunch& launch) {
  launch.shared_bytes = PipelineMemory<kNext, kProjects>::kBytes;
  launch.function = kernel_address(&pipelined_bottleneck_kernel<T, kNext, kProjects>);
}

template <class T>
void choose(const Bottleneck& size, GemmLaunch& launch) {
  if (size.projects) return choose<T, 64, true>(launch);
  return size.next == 64 ? choose<T, 64, false>(launch) : choose<T, 128, false>(launch);
}

}  // namespace

cudaError_t pipelined_bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                                 const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (pipelined_bottleneck_refusal(size, device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  for (const void* pointer : {args.x, args.shortcut, args.window, args.expand, args.next, args.projection,
                              static_cast<const void*>(args.wide), static_cast<const void*>(args.narrow)}) {
    if (!is_aligned(pointer)) return cudaErrorInvalidValue;
  }
  const int64_t tiles = PipelinedBottleneck::tiles(size);
  if (tiles == 0) return cudaSuccess;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;

  PipelinedBottleneckParams p{};
  p.patch_width = static_cast<int>(std::min(size.width, PipelinedBottleneck::kTilePixels)) + 2;
  p.segments = FastDivisor(PipelinedBottleneck::segments(size));
  p.rows = FastDivisor(size.height);
  p.tiles = static_cast<int>(tiles);
  if (!encode_maps(args, size, type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16, p))
    return cudaErrorInvalidValue;
  p.window_filters = args.window;
  p.expand_filters = args.expand;
  p.next_filters = args.next;
  p.window_bias = args.window_bias;
  p.expand_bias = args.expand_bias;
  p.next_bias = args.next_bias;
  p.projection_bias = args.projection_bias;
  p.window_bounds = size.window_bounds;
  p.wide_bounds = size.wide_bounds;
  p.narrow_bounds = size.narrow_bounds;
  p.next_waits = options.next_waits;

  GemmLaunch launch;
  launch.threads = PipelineWarps::kThreads;
  if (type == FloatType::kHalf) {
    choose<__half>(size, launch);
  } else {
    choose<__nv_bfloat16>(size, launch);
  }
  // No more blocks than are needed to be done as soon: the next kernel's begin on the other multiprocessors.
  const int64_t turns = (tiles + device.multiprocessors - 1) / device.multiprocessors;
  launch.blocks = (tiles + turns - 1) / turns;
  return launch_gemm(launch, &p, options);
}

}  // namespace hone::device::cuda
