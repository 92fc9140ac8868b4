// Reference kernels of the shape family; its parts are shape_layout.cpp, shape_region.cpp, shape_gather.cpp,
// shape_scatter.cpp, shape_selection.cpp and shape_generator.cpp.
#include "reference/kernels/parts.hpp"

namespace hone::reference {

std::span<const KernelEntry> shape_kernels() {
  static const auto kAll = join_parts({layout_kernels(), region_kernels(), gather_kernels(),
                                       scatter_kernels(), selection_kernels(), generator_kernels()});
  return kAll;
}

}  // namespace hone::reference
