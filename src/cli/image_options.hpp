// Options that define how images become a model's input, for commands that read images.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/option_checks.hpp"
#include "import/image/preprocess.hpp"
#include "import/model.hpp"

namespace hone::cli {

struct ImageOptions {
  std::optional<int64_t> resize;
  std::optional<int64_t> crop;
  std::optional<float> scale;
  std::string mean;
  std::string std;
  std::string layout;
};

/// Returns the options that it added, so that a command can refuse them if it reads no image.
OptionList add_image_options(CLI::App& command, ImageOptions& options);

/// Combines the options with the model's metadata; an option that was given wins.
importer::Preprocessing preprocessing_for(const ImageOptions& options, const importer::Metadata& metadata);

std::optional<importer::Layout> layout_for(const ImageOptions& options);

/// Prints a note if images were resized and cropped by default, to a square with this side; 0 if they were
/// not. `choice` names the way to choose otherwise.
void note_fitted(int64_t side, const std::string& choice = "--resize and --crop choose");

/// Returns the metadata with the values about images replaced by those of the options.
importer::Metadata with_image_options(const ImageOptions& options, importer::Metadata metadata);

}  // namespace hone::cli
