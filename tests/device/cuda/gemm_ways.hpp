// Every way that the kernels under test have to run a convolution, behind one face.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "device/cuda/gpu.hpp"
#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"
#include "device/cuda/regions/stem/plugin/kernels/stem_gemm.hpp"

namespace hone::device::cuda::check {

struct Way {
  std::string name;  ///< "implicit 64x64x64_s4", "resident 32x32_k8"
  int64_t workspace = 0;
  int64_t counters = 0;
  std::function<cudaError_t(const ConvArgs&, const LaunchOptions&)> launch;
};

inline Way way_of(const ConvProblem& problem, const ConvConfig& config) {
  return {"implicit " + config.text(), conv_workspace_bytes(problem, config),
          conv_counter_bytes(problem, config), [=](const ConvArgs& args, const LaunchOptions& options) {
            return launch_conv(problem, config, args, options);
          }};
}
inline Way way_of(const ConvProblem& problem, const ResidentConfig& config) {
  return {"resident " + config.text(), 0, 0, [=](const ConvArgs& args, const LaunchOptions& options) {
            return launch_resident(problem, config, args, options);
          }};
}
inline Way way_of(const ConvProblem& problem, const WarpgroupConfig& config) {
  return {"warpgroup " + config.text(), 0, 0, [=](const ConvArgs& args, const LaunchOptions& options) {
            return launch_warpgroup(problem, config, args, options);
          }};
}
inline Way way_of(const ConvProblem& problem, const WarpGemmConfig& config) {
  return {"warp " + config.text(), 0, 0, [=](const ConvArgs& args, const LaunchOptions& options) {
            return launch_warp_gemm(problem, config, args, options);
          }};
}

/// Its `x` is the image itself.
inline Way way_of(const StemLayout& layout, const StemConfig& config) {
  return {"stem " + config.text(), 0, 0, [=](const ConvArgs& args, const LaunchOptions& options) {
            return launch_stem(layout, config, args, options);
          }};
}

/// The first `limit` of each kernel that has the steps of `args`, best guesses first.
inline std::vector<Way> gemm_ways(const ConvProblem& problem, const ConvArgs& args,
                                  const DeviceProperties& device, size_t limit) {
  std::vector<Way> ways;
  for (const ConvConfig& config : conv_configs(problem, device, limit))
    ways.push_back(way_of(problem, config));
  for (const ResidentConfig& config : resident_configs(problem, device, limit))
    ways.push_back(way_of(problem, config));
  for (const WarpgroupConfig& config : warpgroup_configs(problem, device, limit))
    ways.push_back(way_of(problem, config));
  if (stream_epilogue(args)) {
    for (const WarpGemmConfig& config : warp_gemm_configs(problem, device))
      ways.push_back(way_of(problem, config));
  }
  return ways;
}

}  // namespace hone::device::cuda::check
