// See video.hpp.
#include "media/video.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "base/plugin.hpp"

namespace hone::media {

std::unique_ptr<FrameSource> open_video(const std::string& input, const SourceOptions& options) {
  static const auto kOpen = reinterpret_cast<OpenVideo>(base::load_plugin_symbol("video", "hone_open_video"));
  return std::unique_ptr<FrameSource>(kOpen(input, options));
}

std::unique_ptr<FrameSink> create_video(const std::string& file, const WriteOptions& options) {
  static const auto kCreate =
      reinterpret_cast<CreateVideo>(base::load_plugin_symbol("video", "hone_create_video"));
  return std::unique_ptr<FrameSink>(kCreate(file, options));
}

bool names_video(const std::string& file) {
  constexpr std::array kExtensions{".mp4", ".m4v", ".mov", ".mkv", ".avi", ".webm", ".ts", ".mpg", ".ogv"};
  std::string extension = std::filesystem::path(file).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

}  // namespace hone::media
