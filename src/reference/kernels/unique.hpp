// The kernel of Unique, a part of the shape family.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

void unique(KernelContext& context);

}  // namespace hone::reference
