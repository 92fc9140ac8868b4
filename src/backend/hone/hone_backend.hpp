// The backend of this project: the optimizing engine on the CPU.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"

namespace hone::backend {

std::unique_ptr<Backend> make_hone_backend();

/// Build options that a LoadOptions stands for: the engine is tuned for exactly its input shapes, and other
/// shapes still run.
engine::BuildOptions build_options(const importer::Model& model, const LoadOptions& options);

/// An executable over an engine that exists already. Environment error when it was built for another device.
std::unique_ptr<Executable> make_engine_executable(std::shared_ptr<const engine::Engine> engine, int threads);

}  // namespace hone::backend
