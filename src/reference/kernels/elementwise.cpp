// Reference kernels of the elementwise family; its parts are unary.cpp, activation.cpp, arithmetic.cpp and
// comparison.cpp.
#include "reference/kernels/parts.hpp"

namespace hone::reference {

std::span<const KernelEntry> elementwise_kernels() {
  static const auto kAll =
      join_parts({unary_kernels(), activation_kernels(), arithmetic_kernels(), comparison_kernels()});
  return kAll;
}

}  // namespace hone::reference
