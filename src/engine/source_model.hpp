// The model that an engine is built from.
#pragma once

#include <string>

#include "import/load.hpp"

namespace hone::engine {

/// importer::load_model; bad input that says what takes an engine, where the file is one.
importer::Model load_source_model(const std::string& model, const importer::LoadModelOptions& options = {});

}  // namespace hone::engine
