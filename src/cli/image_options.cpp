// See image_options.hpp.
#include "cli/image_options.hpp"

#include <fmt/core.h>

#include "import/input_files.hpp"

namespace hone::cli {
namespace {

constexpr double kMostScale = 1e9;

}  // namespace

OptionList add_image_options(CLI::App& command, ImageOptions& options) {
  const std::string images = "Images";
  return {
      command
          .add_option("--resize", options.resize, "Resize the shorter side to this length; 0: keep the size")
          ->check(CLI::Range(0, 16384))
          ->group(images),
      command.add_option("--crop", options.crop, "Crop a centred square with this side; 0: keep everything")
          ->check(CLI::Range(0, 16384))
          ->group(images),
      command.add_option("--scale", options.scale, "Factor for pixel values 0..255 (default 1/255)")
          ->check(finite_range(-kMostScale, kMostScale))
          ->group(images),
      command
          .add_option(
              "--mean", options.mean,
              "Mean to subtract after scaling: one number, or one for each channel, as 0.485,0.456,0.406")
          ->group(images),
      command
          .add_option("--std", options.std,
                      "Standard deviation to divide by after that: one number, or one for each channel, as "
                      "0.229,0.224,0.225")
          ->group(images),
      command
          .add_option("--layout", options.layout,
                      "Axis order of an image input, where the model does not say")
          ->check(CLI::IsMember({"nchw", "nhwc"}))
          ->group(images)};
}

importer::Preprocessing preprocessing_for(const ImageOptions& options, const importer::Metadata& metadata) {
  importer::Preprocessing result = importer::preprocessing_from(metadata);
  result.resize = options.resize.value_or(result.resize);
  result.crop = options.crop.value_or(result.crop);
  result.as_is = options.resize || options.crop;
  result.scale = options.scale.value_or(result.scale);
  if (!options.mean.empty()) result.mean = importer::parse_floats(options.mean, "--mean");
  if (!options.std.empty()) result.std = importer::parse_divisors(options.std, "--std");
  if (options.crop) result.fault.crop = ErrorKind::kUsage;
  if (!options.mean.empty()) result.fault.mean = ErrorKind::kUsage;
  if (!options.std.empty()) result.fault.std = ErrorKind::kUsage;
  return result;
}

std::optional<importer::Layout> layout_for(const ImageOptions& options) {
  if (options.layout.empty()) return std::nullopt;
  return options.layout == "nhwc" ? importer::Layout::kNhwc : importer::Layout::kNchw;
}

void note_fitted(int64_t side, const std::string& choice) {
  if (side > 0) fmt::print(stderr, "note: {}; {}\n", importer::fitted_text(side), choice);
}

importer::Metadata with_image_options(const ImageOptions& options, importer::Metadata metadata) {
  if (options.resize) metadata["image.resize"] = std::to_string(*options.resize);
  if (options.crop) metadata["image.crop"] = std::to_string(*options.crop);
  if (options.scale) metadata["image.scale"] = fmt::format("{}", *options.scale);
  if (!options.mean.empty()) metadata["image.mean"] = options.mean;
  if (!options.std.empty()) metadata["image.std"] = options.std;
  return metadata;
}

}  // namespace hone::cli
