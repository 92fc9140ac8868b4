// Loads the model from which an engine is built.
#pragma once

#include <string>

#include "import/load.hpp"

namespace hone::engine {

/// Like importer::load_model. If the file is an engine, bad input that says which commands take engines.
importer::Model load_source_model(const std::string& model, const importer::LoadModelOptions& options = {});

}  // namespace hone::engine
