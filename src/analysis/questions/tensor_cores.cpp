// See tensor_cores.hpp.
#include "analysis/questions/tensor_cores.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/names.hpp"

namespace hone::analysis {
namespace {

/// Parts of names, in lower case. The first group is PyProf's list of 2020, which TensorBoard's plugin also
/// uses, without "conv1x1", because ordinary kernels contain it too. The other groups are newer.
constexpr std::array<std::string_view, 39> kTensorParts = {
    "h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel", "conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm", "xmma_gemm", "xmma_sparse_gemm", "c1688",
    // cuBLAS since 12, cuDNN 8 and 9, CUTLASS 2 and 3
    "nvjet", "gmma", "i16832", "tensorop", "wmma", "tensor16x8x", "tensor8x8x", "imma", "mma_sync", "tcgen05",
    "mma_sm100",
    // what cuDNN compiles for a graph of operations, always for tensor cores
    "generated_fort_native",
    // attention
    "flashattn", "flash_fwd", "flash_bwd", "fmha_cutlassf_f16", "fmha_cutlassf_bf16", "fmha_v2",
    "native_sdpa",
    // Triton's matrix products, quantized matrix products
    "triton_mm", "triton_tem", "marlin"};

constexpr std::array<std::string_view, 4> kOrdinaryParts = {"simt", "_ffma", "_fma_", "implicit_gemm<float"};

/// hone's own kernels that multiply with mma.sync or wgmma.
constexpr std::array<std::string_view, 11> kOwn = {"hone::device::cuda::implicit_gemm",
                                                   "hone::device::cuda::resident_gemm",
                                                   "hone::device::cuda::warp_gemm",
                                                   "hone::device::cuda::warpgroup_gemm",
                                                   "hone::device::cuda::warpgroup_stem",
                                                   "hone::device::cuda::warpgroup_pooled_stem",
                                                   "hone::device::cuda::warpgroup_stationary",
                                                   "hone::device::cuda::stem_gemm",
                                                   "hone::device::cuda::bottleneck_kernel",
                                                   "hone::device::cuda::cluster_bottleneck_kernel",
                                                   "hone::device::cuda::pipelined_bottleneck_kernel"};

// clang-format off
constexpr std::array<std::string_view, 41> kEligible = {
    "_convolution", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolution", "convolution_backward", "cudnn_convolution", "cudnn_convolution_backward",
    "cudnn_convolution_backward_input", "cudnn_convolution_backward_weight", "cudnn_convolution_transpose",
    "cudnn_convolution_transpose_backward", "cudnn_convolution_transpose_backward_input",
    "cudnn_convolution_transpose_backward_weight",
    "addmm", "addmm_", "addmv", "addr", "matmul", "mm", "mv", "linear", "addbmm", "baddbmm", "bmm", "chain_matmul",
    "linalg_multi_dot", "einsum", "_scaled_mm",
    "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell",
    "scaled_dot_product_attention", "_scaled_dot_product_efficient_attention"};
// clang-format on

template <size_t n>
bool contains_any(std::string_view text, const std::array<std::string_view, n>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

}  // namespace

TensorCores::TensorCores(const trace::Trace& trace) : trace_(trace), by_name_(trace.strings.size(), -1) {}

TensorCores::Answer TensorCores::of(const trace::DeviceEvent& kernel) {
  if (kernel.detail >= 0) {
    const trace::TensorUse use = trace_.launches[static_cast<size_t>(kernel.detail)].tensor_use;
    if (use != trace::TensorUse::kUnknown) return {use == trace::TensorUse::kYes, false};
  }
  int8_t& told = by_name_[kernel.name];
  if (told < 0) told = uses_tensor_cores_by_name(trace_.text(kernel.name)) ? 1 : 0;
  return {told == 1, true};
}

bool uses_tensor_cores_by_name(std::string_view kernel) {
  const std::string name = lower_case(kernel);
  if (contains_any(name, kOrdinaryParts)) return false;
  return contains_any(name, kTensorParts) || contains_any(name, kOwn);
}

bool is_tensor_core_eligible(std::string_view operator_name) {
  constexpr std::string_view kPrefix = "aten::";
  if (!operator_name.starts_with(kPrefix)) return false;
  operator_name.remove_prefix(kPrefix.size());
  return std::find(kEligible.begin(), kEligible.end(), operator_name) != kEligible.end();
}

}  // namespace hone::analysis
