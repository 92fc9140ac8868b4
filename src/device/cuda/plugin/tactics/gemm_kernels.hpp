// The GEMM kernels of convolutions in the form that tactics use: a kernel's name, the configurations for a
// problem and its following operations, the memory that it needs in addition to its operands, and its launch.
#pragma once

#include "device/cuda/plugin/kernels/common/stream_epilogue.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/resident/resident_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warp/warp_gemm.hpp"
#include "device/cuda/plugin/kernels/gemm/warpgroup/warpgroup_gemm.hpp"

namespace hone::device::cuda {

/// Defaults for most kernels: neither a workspace nor counters.
template <class ConfigT>
struct GemmWithoutMemory {
  using Config = ConfigT;
  static int64_t workspace_bytes(const ConvProblem&, const Config&) { return 0; }
  static int64_t counter_bytes(const ConvProblem&, const Config&) { return 0; }
};

struct ImplicitGemm {
  using Config = ConvConfig;
  static constexpr std::string_view kName = "implicit_gemm";
  static std::vector<Config> configs(const ConvProblem& problem, const ConvArgs&,
                                     const DeviceProperties& device) {
    return conv_candidates(problem, device);
  }
  static Refusal refusal(const ConvProblem& problem, const ConvArgs&, const Config& config,
                         const DeviceProperties& device) {
    return conv_refusal(problem, config, device);
  }
  static int64_t workspace_bytes(const ConvProblem& problem, const Config& config) {
    return conv_workspace_bytes(problem, config);
  }
  static int64_t counter_bytes(const ConvProblem& problem, const Config& config) {
    return conv_counter_bytes(problem, config);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_conv(problem, config, args, options);
  }
};

struct ResidentGemm : GemmWithoutMemory<ResidentConfig> {
  static constexpr std::string_view kName = "resident_gemm";
  static std::vector<Config> configs(const ConvProblem& problem, const ConvArgs&,
                                     const DeviceProperties& device) {
    return resident_configs(problem, device);
  }
  static Refusal refusal(const ConvProblem& problem, const ConvArgs&, const Config& config,
                         const DeviceProperties& device) {
    return resident_refusal(problem, config, device);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_resident(problem, config, args, options);
  }
};

struct WarpgroupGemm : GemmWithoutMemory<WarpgroupConfig> {
  static constexpr std::string_view kName = "warpgroup_gemm";
  static std::vector<Config> configs(const ConvProblem& problem, const ConvArgs& steps,
                                     const DeviceProperties& device) {
    if (steps_refusal(problem, steps)) return {};
    return warpgroup_configs(problem, device);
  }
  static Refusal refusal(const ConvProblem& problem, const ConvArgs& steps, const Config& config,
                         const DeviceProperties& device) {
    if (Refusal why = steps_refusal(problem, steps)) return why;
    return warpgroup_refusal(problem, config, device);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_warpgroup(problem, config, args, options);
  }

 private:
  static Refusal steps_refusal(const ConvProblem& problem, const ConvArgs& steps) {
    if (!problem.float_result) return {};
    const auto epilogue = stream_epilogue(steps);
    if (epilogue && epilogue->kind == StreamKind::kBounds) return {};
    return "more than bounds goes before a result of floats";
  }
};

struct WarpGemm : GemmWithoutMemory<WarpGemmConfig> {
  static constexpr std::string_view kName = "warp_gemm";
  static std::vector<Config> configs(const ConvProblem& problem, const ConvArgs& steps,
                                     const DeviceProperties& device) {
    if (stream_epilogue_refusal(steps)) return {};
    return warp_gemm_configs(problem, device);
  }
  static Refusal refusal(const ConvProblem& problem, const ConvArgs& steps, const Config& config,
                         const DeviceProperties& device) {
    if (Refusal why = stream_epilogue_refusal(steps)) return why;
    return warp_gemm_refusal(problem, config, device);
  }
  static cudaError_t launch(const ConvProblem& problem, const Config& config, const ConvArgs& args,
                            const LaunchOptions& options) {
    return launch_warp_gemm(problem, config, args, options);
  }
};

}  // namespace hone::device::cuda
