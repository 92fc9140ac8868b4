// Tensor maps and launch of the bottleneck in a cluster. See cluster_bottleneck.hpp.
#include "device/cuda/plugin/kernels/cluster_bottleneck.hpp"

#include "device/cuda/plugin/kernels/cluster_bottleneck_kernel.cuh"
#include "device/cuda/plugin/kernels/element.cuh"
#include "device/cuda/plugin/kernels/gemm_launch.hpp"
#include "device/cuda/plugin/kernels/kernel_address.hpp"
#include "device/cuda/plugin/kernels/tensor_maps.hpp"

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

template <class T, int kChannels>
void choose(GemmLaunch& launch) {
  launch.cluster = ClusterBottleneckMemory<kChannels>::kCluster;
  launch.shared_bytes = ClusterBottleneckMemory<kChannels>::kBytes;
  launch.function = kernel_address(&cluster_bottleneck_kernel<T, kChannels>);
  launch.threads = ClusterBottleneckBlock<T, kChannels>::kThreads;
}

GemmLaunch chosen(FloatType type, int64_t channels) {
  GemmLaunch launch;
  if (type == FloatType::kHalf) {
    channels == 128 ? choose<__half, 128>(launch) : choose<__half, 256>(launch);
  } else {
    channels == 128 ? choose<__nv_bfloat16, 128>(launch) : choose<__nv_bfloat16, 256>(launch);
  }
  return launch;
}

}  // namespace

cudaError_t cluster_bottleneck(const BottleneckArgs& args, FloatType type, const Bottleneck& size,
                               const LaunchOptions& options) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  if (!bottleneck_refusal(size, limits).empty() || type == FloatType::kFloat) return cudaErrorInvalidValue;
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

  GemmLaunch launch = chosen(type, size.channels);
  launch.pdl = options.pdl;
  launch.blocks = tiles * launch.cluster;
  return launch_gemm(launch, limits, &p, options.stream);
}

cudaError_t cluster_bottlenecks_at_once(int64_t channels, int64_t& clusters) {
  clusters = 0;
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  if (!limits.warpgroups) return cudaSuccess;
  return resident_clusters(chosen(FloatType::kHalf, channels), limits, clusters);
}

}  // namespace hone::device::cuda
