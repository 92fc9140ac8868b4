// See model_argument.hpp.
#include "cli/model_argument.hpp"

#include <filesystem>

#include "base/error.hpp"
#include "engine/engine_file.hpp"

namespace hone::cli {

importer::Model load_given_model(const std::string& model, const importer::LoadModelOptions& options) {
  if (std::filesystem::is_regular_file(model) && engine::is_engine_file(model))
    throw Error(ErrorKind::kBadInput,
                "this is an engine, built already: hone run and hone inspect take it, this command takes the "
                "model it was built from",
                model);
  return importer::load_model(model, options);
}

}  // namespace hone::cli
