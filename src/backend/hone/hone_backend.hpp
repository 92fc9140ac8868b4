// The backend of this project: the optimizing engine.
#pragma once

#include <memory>
#include <optional>

#include "backend/backend.hpp"
#include "backend/hone/build_request.hpp"
#include "engine/context.hpp"
#include "tensor/place.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_hone_backend();

/// The request for the engine of a LoadOptions: tuned for exactly its input shapes, but able to run others.
BuildRequest request_of(const LoadOptions& options);

/// An executable for an existing engine at `place`, or on the first device of its kind. Errors are those of
/// device::device_of_fingerprint() if it was built for another device.
std::unique_ptr<Executable> make_engine_executable(std::shared_ptr<const engine::Engine> engine, int threads,
                                                   std::optional<tensor::Place> place = {});

}  // namespace hone::backend
