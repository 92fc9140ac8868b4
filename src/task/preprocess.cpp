// See preprocess.hpp.
#include "task/preprocess.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace hone::task {
namespace {

constexpr std::array<float, 3> kImageNetMean{0.485f, 0.456f, 0.406f};
constexpr std::array<float, 3> kImageNetStd{0.229f, 0.224f, 0.225f};

std::array<float, 3> for_channels(const std::vector<float>& values, const char* what, ErrorKind fault) {
  if (values.size() == 1) return {values[0], values[0], values[0]};
  if (values.size() == 3) return {values[0], values[1], values[2]};
  throw Error(fault, fmt::format("{} has {} numbers, not one and not three", what, values.size()));
}

/// Converts red, green and blue to grey (ITU-R BT.601).
void to_gray(media::PlanarImage* image) {
  auto& [red, green, blue] = image->planes;
  for (size_t i = 0; i < red.size(); ++i)
    red[i] = static_cast<uint8_t>((299 * red[i] + 587 * green[i] + 114 * blue[i] + 500) / 1000);
}

}  // namespace

Refusal input_refusal(const ImageInput& input) {
  if (input.channels == 3) return {};
  return "the network's input is grey";
}

engine::FrameTarget target_of(const ImageInput& input) {
  engine::FrameTarget target;
  target.dtype = input.dtype;
  target.width = static_cast<int32_t>(input.width);
  target.height = static_cast<int32_t>(input.height);
  target.channels_last = input.channels_last;
  return target;
}

Preprocessor::Preprocessor(const ImageInput& input, const InputForm& form, const importer::Metadata& metadata,
                           const PreprocessOptions& options)
    : input_(input), form_(form) {
  if (form.imagenet) mean_ = kImageNetMean, std_ = kImageNetStd;
  const importer::Preprocessing told = importer::preprocessing_from(metadata);
  if (metadata.contains("image.scale")) form_.scale = told.scale;
  if (metadata.contains("image.mean")) mean_ = for_channels(told.mean, "image.mean", ErrorKind::kBadInput);
  if (metadata.contains("image.std")) std_ = for_channels(told.std, "image.std", ErrorKind::kBadInput);
  form_.fit = options.fit.value_or(form_.fit);
  form_.bgr = options.bgr.value_or(form_.bgr);
  form_.scale = options.scale.value_or(form_.scale);
  form_.padding = options.padding.value_or(form_.padding);
  if (!options.mean.empty()) mean_ = for_channels(options.mean, "--mean", ErrorKind::kUsage);
  if (!options.std.empty()) std_ = for_channels(options.std, "--std", ErrorKind::kUsage);
  // A network with a byte input normalizes inside.
  if (input.dtype == tensor::DType::kUInt8) form_.scale = 1, mean_ = {0, 0, 0}, std_ = {1, 1, 1};
  for (size_t c = 0; c < 3; ++c)
    for (size_t level = 0; level < table_[c].size(); ++level)
      table_[c][level] = normalized(static_cast<float>(level), c);
}

float Preprocessor::normalized(float level, size_t channel) const {
  return (level * form_.scale - mean_[channel]) / std_[channel];
}

ChannelRule Preprocessor::rule_of(size_t channel) const {
  const size_t colour = form_.bgr && input_.channels == 3 ? 2 - channel : channel;
  return {colour, table_[channel], normalized(form_.padding, channel)};
}

engine::FrameTarget Preprocessor::target() const {
  engine::FrameTarget target = target_of(input_);
  for (size_t c = 0; c < 3; ++c) {
    const ChannelRule rule = rule_of(c);
    target.colour[c] = static_cast<int32_t>(rule.colour);
    std::ranges::copy(rule.levels, target.levels[c].begin());
    target.margin[c] = rule.margin;
  }
  return target;
}

FrameForm Preprocessor::form_of(const media::Frame& frame, const Geometry& g) const {
  if (form_.antialias && (g.width != frame.width || g.height != frame.height))
    return antialiased_form(frame, {g.width, 0, g.width}, {g.height, 0, g.height}, g.left, g.top);
  return bilinear_form(frame, g, form_.grid);
}

void Preprocessor::write_row(const uint8_t* levels, int64_t y, const Geometry& g, size_t channel,
                             float* image) const {
  const int64_t pixel = input_.channels_last ? input_.channels : 1;
  const int64_t plane = input_.channels_last ? 1 : input_.width * input_.height;
  float* to = image + static_cast<int64_t>(channel) * plane + ((g.top + y) * input_.width + g.left) * pixel;
  const auto& table = table_[channel];
  for (int64_t x = 0; x < g.width; ++x) to[x * pixel] = table[levels[x]];
}

void Preprocessor::write_margins(const Geometry& g, float* image) const {
  if (g.width == input_.width && g.height == input_.height) return;
  const int64_t pixels = input_.width * input_.height;
  for (int64_t c = 0; c < input_.channels; ++c) {
    const float margin = rule_of(static_cast<size_t>(c)).margin;
    for (int64_t i = 0; i < pixels; ++i)
      image[input_.channels_last ? i * input_.channels + c : c * pixels + i] = margin;
  }
}

void Preprocessor::fill(const media::Frame& frame, const Geometry& g, float* image) const {
  write_margins(g, image);
  const bool resizes = g.width != frame.width || g.height != frame.height;
  if (input_.channels == 3 && !(form_.antialias && resizes)) {
    media::resize_to_rgb(frame, g.width, g.height, form_.grid,
                         [&](int64_t y, const std::array<uint8_t*, 3>& row) {
                           for (size_t c = 0; c < 3; ++c) write_row(row[rule_of(c).colour], y, g, c, image);
                         });
    return;
  }
  media::PlanarImage colours = media::to_rgb(frame);
  if (input_.channels == 1) to_gray(&colours);
  if (form_.antialias && resizes)
    colours = media::planar(importer::resize_image(media::interleaved(colours), g.width, g.height));
  std::vector<uint8_t> levels(static_cast<size_t>(g.width * g.height));
  for (size_t c = 0; c < static_cast<size_t>(input_.channels); ++c) {
    const uint8_t* plane = colours.planes[rule_of(c).colour].data();
    media::resize_plane(plane, colours.width, colours.height, levels.data(), g.width, g.height, g.width,
                        form_.grid);
    for (int64_t y = 0; y < g.height; ++y) write_row(levels.data() + y * g.width, y, g, c, image);
  }
}

std::string Preprocessor::text() const {
  std::string text =
      fmt::format("{} to {} x {}, {}, times {:.4g}", fit_name(form_.fit), input_.width, input_.height,
                  input_.channels == 1 ? "grey"
                  : form_.bgr          ? "BGR"
                                       : "RGB",
                  form_.scale);
  const bool shifts = mean_ != std::array<float, 3>{} || std_ != std::array<float, 3>{1, 1, 1};
  if (shifts)
    text += fmt::format(", less {:.4g} {:.4g} {:.4g}, by {:.4g} {:.4g} {:.4g}", mean_[0], mean_[1], mean_[2],
                        std_[0], std_[1], std_[2]);
  return text;
}

}  // namespace hone::task
