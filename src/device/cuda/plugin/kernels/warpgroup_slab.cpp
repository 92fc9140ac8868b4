// Configurations and launch of the convolution from slabs. See warpgroup_slab.hpp.
#include "device/cuda/plugin/kernels/warpgroup_slab.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "device/cuda/plugin/kernels/tensor_maps.hpp"
#include "device/cuda/plugin/kernels/warpgroup_gemm_launch.hpp"
#include "device/cuda/plugin/kernels/warpgroup_slab_params.hpp"

namespace hone::device::cuda {
namespace {

constexpr int kSlabParts[] = {2, 4, 8};
/// Chunks of 64 channels have three slabs each; another one is brought meanwhile where more follow.
constexpr int kMostSlabs = kSlabWindow + 1;

int chunks_of(const ConvProblem& problem) { return (problem.channels + kStageDepth - 1) / kStageDepth; }

int slabs_at_once(const ConvProblem& problem, const SlabConfig& config) {
  return chunks_of(problem) > config.parts ? kMostSlabs : kSlabWindow;
}

SlabMemory memory_of(const ConvProblem& problem, const SlabConfig& config) {
  return slab_memory(config.tile_n, config.parts, slabs_at_once(problem, config), SlabShape(problem).bytes);
}

/// Boxes of the rows under a tile, 64 channels of them. What lies outside of an image is zero.
bool map_image(const ConvProblem& p, const void* x, CUtensorMap& map) {
  const SlabShape shape(p);
  const auto channels = static_cast<cuuint64_t>(p.channels);
  const auto width = static_cast<cuuint64_t>(p.width);
  const auto height = static_cast<cuuint64_t>(p.height);
  const cuuint64_t extents[] = {channels, width, height, static_cast<cuuint64_t>(p.batch)};
  const cuuint64_t pitches[] = {channels * 2, width * channels * 2, height * width * channels * 2};
  const cuuint32_t row = 1U << shape.pitch_log2;
  const cuuint32_t box[] = {kStageDepth, row, static_cast<cuuint32_t>(shape.bytes) / kStageRowBytes / row, 1};
  const cuuint32_t strides[] = {1, 1, 1, 1};
  return map_encoders().tiled(&map, map_type(p.element), 4, const_cast<void*>(x), extents, pitches, box,
                              strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                              CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

const void* kernel_of(Element element, const SlabConfig& config, bool bounds) {
  const SlabTable& table = element == Element::kHalf ? kHalfSlab : kBFloat16Slab;
  const auto* const found = std::find(kSlabTiles.begin(), kSlabTiles.end(), config.tile_n);
  return (bounds ? table.bounds : table.steps)[static_cast<size_t>(found - kSlabTiles.begin())];
}

}  // namespace

std::string SlabConfig::text() const {
  return std::to_string(kSlabPositions) + "x" + std::to_string(tile_n) + "_c" + std::to_string(parts);
}

std::optional<SlabConfig> SlabConfig::parse(const std::string& text) {
  SlabConfig config;
  int positions = 0;
  const int fields = std::sscanf(text.c_str(), "%2dx%3d_c%1d", &positions, &config.tile_n, &config.parts);
  // Comparing with the text of what was read refuses everything that has a second spelling.
  if (fields != 3 || config.text() != text) return std::nullopt;
  return config;
}

std::string slab_refusal(const ConvProblem& problem, const SlabConfig& config, const DeviceLimits& device) {
  if (std::string why = conv_refusal(problem); !why.empty()) return why;
  if (!device.warpgroups) return "it is for compute capability 9.0";
  if (element_bytes(problem.element) != 2) return "it multiplies elements of two bytes";
  if (problem.pitch() != problem.channels) return "pixels overlap";
  if (problem.kernel_h != kSlabWindow || problem.kernel_w != kSlabWindow || problem.stride_h != 1 ||
      problem.stride_w != 1 || problem.dilation_h != 1 || problem.dilation_w != 1)
    return "its windows are not of 3 x 3, one apart";
  if (SlabShape(problem).tiles_y == 0)
    return "its rows have more than " + std::to_string(kSlabPositions) + " pixels";
  if (std::find(kSlabTiles.begin(), kSlabTiles.end(), config.tile_n) == kSlabTiles.end())
    return "no kernel has the tile of " + config.text();
  if (std::find(std::begin(kSlabParts), std::end(kSlabParts), config.parts) == std::end(kSlabParts))
    return "a cluster has 2, 4 or 8 blocks";
  if (config.parts > chunks_of(problem)) return "the cluster has more blocks than the image 64 channels";
  if (memory_of(problem, config).bytes > device.shared_memory)
    return "it needs more shared memory than a block can get";
  return {};
}

std::vector<SlabConfig> slab_configs(const ConvProblem& problem, const DeviceLimits& device) {
  std::vector<SlabConfig> configs;
  for (const int parts : kSlabParts) {
    for (const int tile_n : kSlabTiles) {
      const SlabConfig config{tile_n, parts};
      if (slab_refusal(problem, config, device).empty()) configs.push_back(config);
    }
  }
  return configs;
}

cudaError_t launch_slab(const ConvProblem& problem, const SlabConfig& config, const ConvArgs& args, bool pdl,
                        cudaStream_t stream) {
  DeviceLimits limits;
  if (const cudaError_t error = device_limits(limits); error != cudaSuccess) return error;
  if (!slab_refusal(problem, config, limits).empty() || !valid_steps(args)) return cudaErrorInvalidValue;
  if (map_encoders().tiled == nullptr) return cudaErrorNotSupported;

  const SlabShape shape(problem);
  const SlabMemory memory = memory_of(problem, config);
  SlabParams params{};
  if (!map_image(problem, args.x, params.image) ||
      !map_filters(problem, config.tile_n, args.w, params.filters))
    return cudaErrorInvalidValue;
  const std::optional<StreamEpilogue> bounds = stream_epilogue(args);
  const bool plain = bounds && bounds->kind != StreamKind::kSwish;
  if (plain) params.stream = *bounds;
  params.epilogue = make_epilogue(problem, args);
  params.tiles_n = FastDivisor((problem.filters + config.tile_n - 1) / config.tile_n);
  params.split = FastDivisor(config.parts);
  params.split_k = config.parts;
  params.depth_steps = chunks_of(problem);
  params.tiles_y = FastDivisor(shape.tiles_y);
  params.pitch_log2 = shape.pitch_log2;
  params.out_height = problem.out_height();
  params.out_width = problem.out_width();
  params.pad_top = problem.pad_top;
  params.pad_left = problem.pad_left;
  params.slabs = slabs_at_once(problem, config);
  params.slab_bytes = shape.bytes;
  params.next_waits = args.next_waits;

  GemmLaunch launch;
  launch.pdl = pdl;
  launch.function = kernel_of(problem.element, config, plain);
  launch.blocks = int64_t{problem.batch} * shape.tiles_y * params.tiles_n.divisor * config.parts;
  launch.threads = kSlabThreads;
  launch.cluster = config.parts;
  launch.shared_bytes = memory.bytes;
  return launch_gemm(launch, limits, &params, stream);
}

}  // namespace hone::device::cuda
