// The subject of a measurement: a model, or an engine that is built already.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/worker/model_info.hpp"
#include "engine/engine.hpp"
#include "import/load.hpp"

namespace hone::bench {

/// The engine in a file; null for a file that is no engine. Usage error for one that binds its caches.
std::shared_ptr<const engine::Engine> load_engine_subject(const std::string& spec);

/// The model that a spec names. For an engine it is a graph that describes it, whose dimensions are as fixed
/// as the engine's are, and which cannot be run.
importer::Model load_subject(const std::string& spec, const importer::LoadModelOptions& options = {});

/// describe_model() of a subject: an engine's open dimensions are those that it was tuned for.
ModelInfo describe_subject(const importer::Model& model, const std::string& spec,
                           const std::map<std::string, tensor::Shape>& shapes);

}  // namespace hone::bench
