// Tensor maps and launch of the bottleneck in a cluster. See cluster_bottleneck.hpp.
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck.hpp"

#include "device/cuda/plugin/kernels/common/element.cuh"
#include "device/cuda/plugin/kernels/common/kernel_address.hpp"
#include "device/cuda/plugin/kernels/common/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/gemm/gemm_launch.hpp"
#include "device/cuda/regions/bottleneck/plugin/kernels/cluster_bottleneck_kernel.cuh"

namespace hone::device::cuda {
namespace {

bool encode_maps(const BottleneckArgs& args, const Bottleneck& size, Element element,
                 ClusterBottleneckParams& p) {
  const int64_t channels = size.channels;
  const auto image = [&](CUtensorMap& map, const void* memory, int64_t depth, int64_t rows) {
    return encode_boxes(map, element, memory, {depth, size.width, size.height, size.batch},
                        {64, size.width + 2, rows, 1});
  };
  return image(p.x, args.x, channels, p.rows + 2) && image(p.shortcut, args.shortcut, size.wide(), p.rows) &&
         image(p.wide, args.wide, size.wide(), p.rows);
}

template <class T, int kChannels, bool kNarrows>
GemmLaunch launch_of() {
  using Memory = ClusterBottleneckMemory<kChannels, kNarrows>;
  GemmLaunch launch;
  launch.cluster = Memory::kCluster;
  launch.shared_bytes = Memory::kBytes;
  launch.function = kernel_address(&cluster_bottleneck_kernel<T, kChannels, kNarrows>);
  launch.threads = ClusterBottleneckBlock<T, kChannels, kNarrows>::kThreads;
  return launch;
}

template <class T>
GemmLaunch chosen(int64_t channels, bool narrows) {
  if (channels == 128) return narrows ? launch_of<T, 128, true>() : launch_of<T, 128, false>();
  return narrows ? launch_of<T, 256, true>() : launch_of<T, 256, false>();
}

}  // namespace

cudaError_t cluster_bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                               const LaunchOptions& options) {
  const DeviceProperties& device = *options.device;
  if (bottleneck_refusal(size, device) || type == FloatType::kFloat) return cudaErrorInvalidValue;
  for (const void* pointer : {args.x, args.shortcut, args.window, args.expand, args.next,
                              static_cast<const void*>(args.wide), static_cast<const void*>(args.narrow)}) {
    if (!is_aligned(pointer)) return cudaErrorInvalidValue;
  }
  const int64_t tiles = ClusterBottleneck::tiles(size);
  if (tiles == 0) return cudaSuccess;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;

  ClusterBottleneckParams p{};
  p.rows = static_cast<int>(ClusterBottleneck::rows(size.width));
  p.width = static_cast<int>(size.width);
  p.height = static_cast<int>(size.height);
  p.strips = FastDivisor(tiles / size.batch);
  p.pitch = FastDivisor(size.width + 2);
  const Element element = type == FloatType::kHalf ? Element::kHalf : Element::kBFloat16;
  if (!encode_maps(args, size, element, p)) return cudaErrorInvalidValue;
  p.window = args.window;
  p.expand = args.expand;
  p.next = args.next;
  p.window_bias = args.window_bias;
  p.expand_bias = args.expand_bias;
  p.next_bias = args.next_bias;
  p.narrow = args.narrow;
  p.window_bounds = size.window_bounds;
  p.wide_bounds = size.wide_bounds;
  p.narrow_bounds = size.narrow_bounds;
  p.next_waits = options.next_waits;

  const bool narrows = size.next != 0;
  GemmLaunch launch = type == FloatType::kHalf ? chosen<__half>(size.channels, narrows)
                                               : chosen<__nv_bfloat16>(size.channels, narrows);
  launch.blocks = tiles * launch.cluster;
  if (!options.behind_cluster && launch.blocks <= kMostAloneBlocks) launch.shared_bytes = kClusterAloneBytes;
  return launch_gemm(launch, &p, options);
}

}  // namespace hone::device::cuda
