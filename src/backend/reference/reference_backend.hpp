// The backend that runs the reference kernels: slow, simple and correct.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_reference_backend();

/// Backend::refusals() for backends that run everything that the reference kernels can.
std::vector<Refusal> nodes_without_kernel(const graph::Graph& graph);

}  // namespace hone::backend
