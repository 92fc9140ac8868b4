// See early_tactics.hpp.
#include "device/cuda/plugin/tactics/early_tactics.hpp"

#include <algorithm>
#include <iterator>

namespace hone::device::cuda {

bool starts_early(std::string_view tactic) {
  constexpr std::string_view kNames[] = {"bottleneck",
                                         "byte_quantization",
                                         "depthwise",
                                         "gather",
                                         "gather_picks",
                                         "gather_strided",
                                         "group_normalization",
                                         "hone_attention",
                                         "implicit_gemm",
                                         "implicit_matrix",
                                         "layer_normalization",
                                         "matrix_vector",
                                         "pipelined_bottleneck",
                                         "resident_gemm",
                                         "rms_normalization",
                                         "rotary",
                                         "row_attention",
                                         "row_products",
                                         "scatter_picks",
                                         "squeeze_excite",
                                         "stem_gemm",
                                         "warp_gemm",
                                         "warp_matrix",
                                         "warpgroup_attention",
                                         "warpgroup_bytes",
                                         "warpgroup_gemm",
                                         "warpgroup_matrix",
                                         "warpgroup_pooled",
                                         "warpgroup_stationary",
                                         "warpgroup_sum"};
  const std::string_view name = tactic.substr(0, tactic.find_first_of("+:"));
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace hone::device::cuda
