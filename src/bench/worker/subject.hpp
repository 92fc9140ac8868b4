// The subject of a measurement: a model, or an engine that is already built.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/worker/model_info.hpp"
#include "engine/engine.hpp"
#include "import/load.hpp"

namespace hone::bench {

/// Loads the engine in a file; null if the file is not an engine. Usage error for an engine that binds its
/// caches.
std::shared_ptr<const engine::Engine> load_engine_subject(const std::string& spec);

/// Loads the model that a spec names. For an engine, the result is a graph that describes it, with the same
/// fixed dimensions; it cannot be run.
importer::Model load_subject(const std::string& spec, const importer::LoadModelOptions& options = {});

/// Like describe_model(). The open dimensions of an engine get the sizes for which it was tuned.
ModelInfo describe_subject(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, tensor::Shape>& shapes);

}  // namespace hone::bench
