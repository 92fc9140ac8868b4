// Reference kernels of the fused family: the base operator's kernel, then the post-ops.
#include "reference/kernel_list.hpp"
#include "reference/kernels/map.hpp"
#include "reference/post_ops.hpp"

namespace hone::reference {
namespace {

void fused_conv(KernelContext& context) {
  find_kernel("Conv")(context);
  apply_post_ops(context, 3);
}

void fused_matmul(KernelContext& context) {
  find_kernel("MatMul")(context);
  if (context.has_input(2)) {
    tensor::broadcast_strides(context.input(2).shape(),
                              context.outputs[0].shape());  // throws if the bias is larger
    context.outputs[0] =
        broadcast_compute(context.outputs[0], context.input(2), [](auto a, auto b) { return add(a, b); });
  }
  apply_post_ops(context, 3);
}

void fused_gemm(KernelContext& context) {
  find_kernel("Gemm")(context);
  apply_post_ops(context, 3);
}

void fused_elementwise(KernelContext& context) {
  context.outputs[0] = context.input(0);
  apply_post_ops(context, 1);
}

constexpr KernelEntry kKernels[] = {
    {"FusedConv", fused_conv},
    {"FusedElementwise", fused_elementwise},
    {"FusedGemm", fused_gemm},
    {"FusedMatMul", fused_matmul},
};

}  // namespace

std::span<const KernelEntry> fused_kernels() { return kKernels; }

}  // namespace hone::reference
