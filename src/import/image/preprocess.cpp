// See preprocess.hpp.
#include "import/image/preprocess.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.hpp"

namespace hone::importer {
namespace {

constexpr int64_t kMaxSide = 16384;

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<float>> parse_list(std::string_view text) {
  const auto skip_blanks = [&text] {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  };
  std::vector<float> values;
  skip_blanks();
  while (true) {
    const size_t end = std::min(text.find_first_of(", "), text.size());
    const auto value = parse_number<float>(text.substr(0, end));
    if (!value || !std::isfinite(*value)) return std::nullopt;
    values.push_back(*value);
    text.remove_prefix(end);
    skip_blanks();
    if (text.empty()) return values;
    if (text.front() == ',') text.remove_prefix(1);
    skip_blanks();
  }
}

bool can_divide(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isnormal(value); });
}

/// Reads entries of the metadata, each of which may be absent.
class MetadataReader {
 public:
  explicit MetadataReader(const std::map<std::string, std::string>& metadata) : metadata_(metadata) {}

  void side(const std::string& key, int64_t& target) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) return;
    const auto value = parse_number<int64_t>(found->second);
    if (!value || *value < 0 || *value > kMaxSide) fail(key, found->second);
    target = *value;
  }
  void list(const std::string& key, std::vector<float>& target) const {
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) return;
    const auto values = parse_list(found->second);
    if (!values) fail(key, found->second);
    target = *values;
  }
  void divisors(const std::string& key, std::vector<float>& target) const {
    list(key, target);
    if (!can_divide(target)) fail(key, metadata_.at(key));
  }

 private:
  [[noreturn]] static void fail(const std::string& key, const std::string& value) {
    fail_bad_input(
        "the model's metadata entry '{}' is '{}', which is not what "
        "it should be",
        key, value);
  }

  const std::map<std::string, std::string>& metadata_;
};

Image resize_and_crop(const Image& image, const Preprocessing& preprocessing) {
  const ImageCut cut = cut_of(preprocessing, image.width, image.height);
  Image result = resize_image(image, cut.width, cut.height);
  if (cut.part_width == cut.width && cut.part_height == cut.height) return result;
  Image cropped{cut.part_width, cut.part_height, image.channels, {}};
  for (int64_t y = cut.top; y < cut.top + cut.part_height; ++y) {
    const auto row = result.pixels.begin() + (y * result.width + cut.left) * image.channels;
    cropped.pixels.insert(cropped.pixels.end(), row, row + cut.part_width * image.channels);
  }
  return cropped;
}

float per_channel(const std::vector<float>& values, int64_t channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void require_channels(const std::vector<float>& values, int64_t channels, const char* what, ErrorKind fault) {
  if (values.size() == 1 || static_cast<int64_t>(values.size()) == channels) return;
  throw Error(fault, fmt::format("{} has {} numbers for an image of {} channel{}", what, values.size(),
                                 channels, channels == 1 ? "" : "s"));
}

void normalize_into(std::span<float> out, const Image& image, const Preprocessing& preprocessing,
                    Layout layout) {
  const int64_t pixels = image.width * image.height;
  const bool planes = layout == Layout::kNchw;
  for (int64_t c = 0; c < image.channels; ++c) {
    const std::array<float, 256> values = level_values(preprocessing, c, image.channels);
    for (int64_t i = 0; i < pixels; ++i) {
      const int64_t source = i * image.channels + c;
      out[static_cast<size_t>(planes ? c * pixels + i : source)] =
          values[image.pixels[static_cast<size_t>(source)]];
    }
  }
}

}  // namespace

Preprocessing preprocessing_from(const std::map<std::string, std::string>& metadata) {
  const MetadataReader reader(metadata);
  Preprocessing result;
  reader.side("image.resize", result.resize);
  reader.side("image.crop", result.crop);
  std::vector<float> scale{result.scale};
  reader.list("image.scale", scale);
  result.scale = scale.front();
  reader.list("image.mean", result.mean);
  reader.divisors("image.std", result.std);
  return result;
}

ImageCut cut_of(const Preprocessing& preprocessing, int64_t width, int64_t height) {
  ImageCut cut{.width = width, .height = height};
  if (preprocessing.resize > 0) {
    const int64_t shorter = std::min(width, height);
    const auto scaled = [&](int64_t side) {
      return std::min(kMaxSide, preprocessing.resize * side / shorter);
    };
    cut.width = scaled(width);
    cut.height = scaled(height);
  }
  cut.part_width = cut.width;
  cut.part_height = cut.height;
  const int64_t crop = preprocessing.crop;
  if (crop == 0) return cut;
  if (crop > cut.width || crop > cut.height) {
    throw Error(preprocessing.fault.crop,
                fmt::format("an image of {} x {} pixels is smaller than the crop of {}", cut.width,
                            cut.height, crop));
  }
  // A half pixel is rounded to the even side, as in torchvision.
  const auto start = [&](int64_t side) {
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(side - crop) / 2));
  };
  cut.left = start(cut.width);
  cut.top = start(cut.height);
  cut.part_width = crop;
  cut.part_height = crop;
  return cut;
}

std::array<float, 256> level_values(const Preprocessing& preprocessing, int64_t channel, int64_t channels) {
  require_channels(preprocessing.mean, channels, "mean", preprocessing.fault.mean);
  require_channels(preprocessing.std, channels, "std", preprocessing.fault.std);
  const float mean = per_channel(preprocessing.mean, channel);
  const float deviation = per_channel(preprocessing.std, channel);
  std::array<float, 256> values{};
  for (size_t level = 0; level < values.size(); ++level)
    values[level] = (static_cast<float>(level) * preprocessing.scale - mean) / deviation;
  return values;
}

std::vector<float> parse_floats(const std::string& text, const std::string& what) {
  auto values = parse_list(text);
  if (!values)
    fail_usage("{0} is '{1}', expected numbers with commas between them, as in {0} 0.5,0.4,0.3", what, text);
  return std::move(*values);
}

std::vector<float> parse_divisors(const std::string& text, const std::string& what) {
  auto values = parse_floats(text, what);
  if (!can_divide(values)) fail_usage("{} is '{}', which nothing can be divided by", what, text);
  return values;
}

tensor::Tensor images_to_tensor(std::span<const Image> images, const Preprocessing& preprocessing,
                                Layout layout) {
  std::vector<Image> ready;
  for (const Image& image : images) {
    require_channels(preprocessing.mean, image.channels, "mean", preprocessing.fault.mean);
    require_channels(preprocessing.std, image.channels, "std", preprocessing.fault.std);
    ready.push_back(resize_and_crop(image, preprocessing));
    if (ready.back().width != ready[0].width || ready.back().height != ready[0].height) {
      fail_bad_input(
          "images of {} x {} and {} x {} pixels cannot stand in one "
          "batch (use --resize and --crop)",
          ready[0].width, ready[0].height, ready.back().width, ready.back().height);
    }
  }
  const auto count = static_cast<int64_t>(ready.size());
  const Image& first = ready.at(0);
  const tensor::Shape nchw{count, first.channels, first.height, first.width};
  const tensor::Shape nhwc{count, first.height, first.width, first.channels};
  tensor::Tensor result(tensor::DType::kFloat32, layout == Layout::kNchw ? nchw : nhwc);
  const size_t size = first.pixels.size();
  for (size_t i = 0; i < ready.size(); ++i) {
    normalize_into(result.mutable_values<float>().subspan(i * size, size), ready[i], preprocessing, layout);
  }
  return result;
}

}  // namespace hone::importer
