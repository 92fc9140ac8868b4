// The backend of this project: the optimizing engine on the CPU.
#pragma once

#include <memory>
#include <optional>

#include "backend/backend.hpp"
#include "backend/hone/build_request.hpp"
#include "engine/context.hpp"
#include "tensor/place.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_hone_backend();

/// The engine that a LoadOptions stands for: tuned for exactly its input shapes, and other shapes still run.
BuildRequest request_of(const LoadOptions& options);

/// An executable over an engine that exists already, at `place`, else on the first device of its kind. Errors
/// of device::device_of_fingerprint() when it was built for another one.
std::unique_ptr<Executable> make_engine_executable(std::shared_ptr<const engine::Engine> engine, int threads,
                                                   std::optional<tensor::Place> place = {});

}  // namespace hone::backend
