// Tensor maps and launch of the bottleneck. See bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck.hpp"

#include <algorithm>

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/bottleneck_kernel.cuh"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"

namespace hone::device::cuda {
namespace {

bool encode_maps(const BottleneckArgs& args, const Bottleneck& size, Element element, int rows,
                 BottleneckParams& p) {
  constexpr int64_t kChannels = Bottleneck::kChannels;
  constexpr int64_t kWide = Bottleneck::kWide;
  const auto image = [&](CUtensorMap& map, const void* memory, int64_t channels, int64_t width,
                         int64_t rows) {
    return encode_boxes(map, element, memory, {channels, size.width, size.height, size.batch},
                        {64, width, rows, 1});
  };
  return image(p.x, args.x, kChannels, p.patch_width, rows + 2) &&
         image(p.shortcut, args.shortcut, size.projects ? kChannels : kWide, 64, 1) &&
         image(p.wide, args.wide, kWide, 16, 1) && image(p.narrow, args.narrow, size.next, 16, 1) &&
         encode_boxes(p.window, element, args.window, {kChannels, 9, kChannels}, {64, 1, 64}) &&
         encode_boxes(p.expand, element, args.expand, {kChannels, kWide}, {64, 64}) &&
         encode_boxes(p.next, element, args.next, {kWide, size.next}, {64, size.next}) &&
         (!size.projects ||
          encode_boxes(p.projection, element, args.projection, {kChannels, kWide}, {64, 64}));
}

template <class T, int kNext, bool kProjects>
void choose(int rows, GemmLaunch& launch) {
  if (rows == 1) {
    launch.shared_bytes = BottleneckMemory<kNext, kProjects, 1>::kBytes;
    launch.function = kernel_address(&bottleneck_kernel<T, kNext, kProjects, 1>);
    launch.threads = BottleneckWarps<1>::kThreads;
  } else {
    launch.shared_bytes = BottleneckMemory<kNext, kProjects, 2>::kBytes;
    launch.function = kernel_address(&bottleneck_kernel<T, kNext, kProjects, 2>);
    launch.threads = BottleneckWarps<2>::kThreads;
  }
}

template <class T>
void choose(const Bottleneck& size, int rows, GemmLaunch& launch) {
  if (size.projects) return choose<T, 64, true>(rows, launch);
  return size.next == 64 ? choose<T, 64, false>(rows, launch) : choose<T, 128, false>(rows, launch);
}

}  // namespace

cudaError_t bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                       const LaunchOptions& options) {
  if (size.channels != Bottleneck::kChannels) return cluster_bottleneck(args, type, size, options);
  const DeviceProperties& device = *options.device;
  if (bottleneck_refusal(size, device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  for (const void* pointer : {args.x, args.shortcut, args.window, args.expand, args.next, args.projection,
                              static_cast<const void*>(args.wide), static_cast<const void*>(args.narrow)}) {
    if (!is_aligned(pointer)) return cudaErrorInvalidValue;
  }
  if (size.tiles() == 0) return cudaSuccess;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;

  BottleneckParams p{};
  p.patch_width = static_cast<int>(std::min(size.width, Bottleneck::kTilePixels)) + 2;
  // Two warpgroups share a block's filters; if there is a multiprocessor for each tile, a single warpgroup
  // finishes sooner.
  const int rows = size.tiles() > device.multiprocessors ? 2 : 1;
  const int64_t strips = (size.height + rows - 1) / rows;
  p.segments = FastDivisor(size.segments());
  p.strips = FastDivisor(strips);
  p.steps = static_cast<int>(size.batch * strips * size.segments());
  const Element element = type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16;
  if (!encode_maps(args, size, element, rows, p)) return cudaErrorInvalidValue;
  p.window_bias = args.window_bias;
  p.expand_bias = args.expand_bias;
  p.next_bias = args.next_bias;
  p.projection_bias = args.projection_bias;
  p.window_bounds = size.window_bounds;
  p.wide_bounds = size.wide_bounds;
  p.narrow_bounds = size.narrow_bounds;
  p.next_waits = options.next_waits;

  GemmLaunch launch;
  if (type == FloatType::kHalf) {
    choose<__half>(size, rows, launch);
  } else {
    choose<__nv_bfloat16>(size, rows, launch);
  }
  // Uses no more blocks than are needed for the same finishing time; blocks of the next kernel start on
  // the other multiprocessors.
  const int64_t turns = (p.steps + device.multiprocessors - 1) / device.multiprocessors;
  launch.blocks = (p.steps + turns - 1) / turns;
  return launch_gemm(launch, &p, options);
}

}  // namespace hone::device::cuda
