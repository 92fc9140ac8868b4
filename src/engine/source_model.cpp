// Distinguishes engines from models before they are imported.
#include "engine/source_model.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "engine/engine_file.hpp"

namespace hone::engine {

importer::Model load_source_model(const std::string& model, const importer::LoadModelOptions& options) {
  if (std::filesystem::is_regular_file(model) && is_engine_file(model))
    throw Error(ErrorKind::kBadInput,
                "this is an engine, built already: hone run and hone inspect take it, as does Engine::load; "
                "give the model that it was built from",
                model);
  return importer::load_model(model, options);
}

}  // namespace hone::engine
