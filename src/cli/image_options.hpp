// Options that say how images become a model's input, for commands that read them.
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

/// Returns them, so that a command can refuse them where no image is read.
OptionList add_image_options(CLI::App& command, ImageOptions& options);

/// Values of the options, and the model's metadata where an option was not given.
importer::Preprocessing preprocessing_for(const ImageOptions& options, const importer::Metadata& metadata);

std::optional<importer::Layout> layout_for(const ImageOptions& options);

/// The metadata, in which values of the options replace its own about images.
importer::Metadata with_image_options(const ImageOptions& options, importer::Metadata metadata);

}  // namespace hone::cli
