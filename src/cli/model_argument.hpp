// The model that a command is given by name or path.
#pragma once

#include <string>

#include "import/load.hpp"

namespace hone::cli {

/// importer::load_model, for commands that take no engines: bad input that says which do, where the file is
/// one.
importer::Model load_given_model(const std::string& model, const importer::LoadModelOptions& options = {});

}  // namespace hone::cli
