// The backend that runs the reference kernels: slow, plain, and right.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_reference_backend();

/// Backend::refusals of whoever runs everything that the reference kernels can.
std::vector<Refusal> nodes_without_kernel(const graph::Graph& graph);

}  // namespace hone::backend
