// Operator table and reference kernels name the same operators, so every graph that is accepted runs.
#include <gtest/gtest.h>

#include "graph/operator.hpp"
#include "reference/kernel_list.hpp"

namespace hone::reference {
namespace {

TEST(KernelList, EveryOperatorHasAKernel) {
  for (const graph::OperatorDef& def : graph::operator_table()) {
    EXPECT_NE(find_kernel(def.name), nullptr) << def.name;
    EXPECT_TRUE(def.infer != nullptr) << def.name;
  }
}

TEST(KernelList, EveryKernelHasAnOperator) {
  for (const auto list :
       {elementwise_kernels(), reduction_kernels(), shape_kernels(), convolution_kernels(), matrix_kernels(),
        normalization_kernels(), quantization_kernels(), recurrent_kernels(), control_kernels(),
        detection_kernels(), signal_kernels(), loss_kernels(), fused_kernels()}) {
    for (const KernelEntry& entry : list) EXPECT_NE(graph::find_operator(entry.op), nullptr) << entry.op;
  }
}

}  // namespace
}  // namespace hone::reference
