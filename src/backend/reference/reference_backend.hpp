// The backend that runs the reference kernels: slow, plain, and right.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_reference_backend();

}  // namespace hone::backend
