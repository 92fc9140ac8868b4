// Reads images one after the other, and chooses the reader of an input.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/error.hpp"
#include "media/planar.hpp"
#include "media/source.hpp"
#include "media/video.hpp"

namespace hone::media {
namespace {

namespace fs = std::filesystem;

std::string lower_extension(const fs::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// True for images that libhone-image.so decodes.
bool is_plain_image(const fs::path& path) {
  const std::string extension = lower_extension(path);
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

/// True for images that only libhone-video.so decodes, as a video of one frame.
bool is_other_image(const fs::path& path) {
  const std::string extension = lower_extension(path);
  return extension == ".bmp" || extension == ".webp" || extension == ".tif" || extension == ".tiff" ||
         extension == ".ppm" || extension == ".pgm";
}

/// A GIF that is the input is read as a video; in a folder of images, only its first picture is used.
bool is_gif(const fs::path& path) { return lower_extension(path) == ".gif"; }

/// The parts of "frame_%03d.png": the text before and after the number, and the least width of the number.
struct Pattern {
  std::string before;
  std::string behind;
  size_t width = 0;
};

std::optional<Pattern> parse_pattern(const std::string& name) {
  const size_t percent = name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  size_t end = percent + 1;
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  if (end >= name.size() || name[end] != 'd' || end - percent > 4) return std::nullopt;
  Pattern pattern{name.substr(0, percent), name.substr(end + 1), 0};
  if (end > percent + 1) pattern.width = static_cast<size_t>(std::stoul(name.substr(percent + 1)));
  if (pattern.behind.find('%') != std::string::npos) return std::nullopt;
  return pattern;
}

bool fits(const Pattern& pattern, const std::string& name) {
  if (name.size() <= pattern.before.size() + pattern.behind.size()) return false;
  if (!name.starts_with(pattern.before) || !name.ends_with(pattern.behind)) return false;
  const std::string number =
      name.substr(pattern.before.size(), name.size() - pattern.before.size() - pattern.behind.size());
  const bool digits =
      std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  // A number that is longer than the width has no leading zeros: %03d writes 1000 as it is.
  return digits && (number.size() == pattern.width ||
                    (number.size() > pattern.width && (number[0] != '0' || number.size() == 1)));
}

template <class Wanted>
std::vector<std::string> files_in(const fs::path& folder, const Wanted& wanted) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code unknown;
    if (entry.is_regular_file(unknown) && wanted(entry.path())) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end(), natural_less);
  return files;
}

class ImageSource : public FrameSource {
 public:
  ImageSource(std::vector<std::string> files, const SourceOptions& options)
      : files_(std::move(files)), options_(options) {
    info_.format = files_.size() == 1 ? "an image" : fmt::format("{} images", files_.size());
    info_.frames_claimed = static_cast<int64_t>(files_.size());
    info_.is_file = true;
    info_.time_base = {1, 25};
    info_.frame_rate = {25, 1};
  }

  const SourceInfo& info() const override { return info_; }
  std::string name() const override { return name_; }
  Losses losses() const override { return losses_; }

  bool next(Frame* frame) override {
    while (at_ < files_.size()) {
      name_ = files_[at_];
      const auto number = static_cast<int64_t>(at_++);
      if (!read(frame)) continue;
      frame->ticks = number;
      frame->seconds = static_cast<double>(number) / 25;
      return true;
    }
    return false;
  }

 private:
  /// A damaged image in a folder is counted; a damaged single image is bad input.
  bool read(Frame* frame) {
    try {
      if (is_plain_image(name_)) {
        *frame = frame_of(importer::read_image(name_, 3));
        return true;
      }
      if (is_gif(name_) && !has_gif_) {
        has_gif_ = true;
        losses_.sentences.emplace_back("only the first picture of each GIF file is used");
      }
      const std::unique_ptr<FrameSource> source = open_video(name_, options_);
      if (!source->next(frame)) throw Error(ErrorKind::kBadInput, "it could not be decoded", name_);
      losses_.corrupt += source->losses().corrupt;
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadInput || files_.size() == 1) throw;
      if (losses_.damaged++ == 0) losses_.sentences.emplace_back(error.what());
      return false;
    }
  }

  std::vector<std::string> files_;
  SourceOptions options_;
  SourceInfo info_;
  Losses losses_;
  size_t at_ = 0;
  bool has_gif_ = false;
  std::string name_;
};

/// Returns a camera's path for its number, and "-" for other names of standard input.
std::string resolved(const std::string& input) {
  if (input == "pipe:" || input == "pipe:0") return std::string(kStandardInput);
  const bool is_number =
      !input.empty() && std::ranges::all_of(input, [](char c) { return c >= '0' && c <= '9'; });
  std::error_code unknown;
  return is_number && !fs::exists(input, unknown) ? fmt::format("{}{}", kCameras, input) : input;
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  size_t i = 0;
  size_t k = 0;
  while (i < a.size() && k < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[k])) {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i, ++k;
      continue;
    }
    const auto number = [&](const std::string& text, size_t* at) {
      const size_t first = std::min(text.find_first_not_of('0', *at), text.size());
      *at = first;
      while (*at < text.size() && is_digit(text[*at])) ++*at;
      return text.substr(first, *at - first);
    };
    const std::string x = number(a, &i);
    const std::string y = number(b, &k);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (a.size() - i != b.size() - k) return a.size() - i < b.size() - k;
  return a < b;
}

std::vector<std::string> list_images(const std::string& input) {
  const fs::path path(input);
  if (fs::is_directory(path)) {
    auto files = files_in(path, [](const fs::path& file) {
      return is_plain_image(file) || is_other_image(file) || is_gif(file);
    });
    if (files.empty()) throw Error(ErrorKind::kBadInput, "the folder has no images", input);
    return files;
  }
  const auto pattern = parse_pattern(path.filename().string());
  if (!pattern) throw Error(ErrorKind::kBadInput, "this is no folder and no pattern with one %d", input);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder))
    throw Error(ErrorKind::kBadInput, "there is no such folder", folder.string());
  auto files =
      files_in(folder, [&](const fs::path& file) { return fits(*pattern, file.filename().string()); });
  if (files.empty()) throw Error(ErrorKind::kBadInput, "no file fits the pattern", input);
  return files;
}

std::unique_ptr<FrameSource> open_images(std::vector<std::string> files, const SourceOptions& options) {
  return std::make_unique<ImageSource>(std::move(files), options);
}

std::unique_ptr<FrameSource> open_source(const std::string& name, const SourceOptions& options) {
  const std::string input = resolved(name);
  if (input == kStandardInput) return open_video(input, options);
  const fs::path path(input);
  std::error_code unknown;
  const bool exists = fs::exists(path, unknown);
  if (fs::is_directory(path, unknown)) return open_images(list_images(input), options);
  const bool is_url = input.find("://") != std::string::npos;
  if (!exists && !is_url) {
    if (parse_pattern(path.filename().string()))
      return std::make_unique<ImageSource>(list_images(input), options);
    throw Error(ErrorKind::kBadInput,
                input.starts_with(kCameras) ? "there is no such camera" : "there is no such file or folder",
                input);
  }
  if (exists && (is_plain_image(path) || is_other_image(path)))
    return std::make_unique<ImageSource>(std::vector{input}, options);
  return open_video(input, options);
}

}  // namespace hone::media
