// The kernel of Pad, a part of the shape family.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

void pad(KernelContext& context);

}  // namespace hone::reference
