// See true_classes.hpp.
#include "task/true_classes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "media/source.hpp"

namespace hone::task {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders = "folders";

std::vector<std::string> folders_in(const std::string& input) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(input)) {
    std::error_code unknown;
    if (entry.is_directory(unknown)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (names.empty())
    throw Error(ErrorKind::kBadInput,
                "it has no sub-folders, which were to name the classes; a file of labels does, too: "
                "--ground-truth FILE",
                input);
  return names;
}

std::optional<int64_t> number_in(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Returns the class of each name; empty if one of them has none.
template <class F>
std::map<std::string, int64_t> map_all(const std::vector<std::string>& folders, F class_of) {
  std::map<std::string, int64_t> result;
  for (const std::string& folder : folders) {
    const std::optional<int64_t> found = class_of(folder);
    if (!found) return {};
    result[folder] = *found;
  }
  return result;
}

}  // namespace

TrueClasses::TrueClasses(const std::string& source, const std::string& input) : input_(input) {
  std::error_code unknown;
  if (!fs::is_directory(input, unknown))
    fail_usage("--ground-truth is for a folder of images, and {} is none", input);
  if (source != kFolders) {
    labels_ = quantize::read_labels(source);
    files_ = media::list_images(input);
    return;
  }
  for (const std::string& folder : folders_in(input)) {
    for (std::string& file : media::list_images((fs::path(input) / folder).string())) {
      files_.push_back(std::move(file));
      folders_.push_back(folder);
    }
  }
}

void TrueClasses::settle(const std::vector<std::string>& names, int64_t classes) {
  if (folders_.empty()) {
    quantize::Samples all;
    all.sources = files_;
    const std::vector<int64_t> found = quantize::labels_of(labels_, {all}, classes, /*all=*/true);
    for (size_t i = 0; i < files_.size(); ++i) classes_[files_[i]] = found[i];
    return;
  }
  const auto by_folder = folder_classes(names, classes);
  for (size_t i = 0; i < files_.size(); ++i) classes_[files_[i]] = by_folder.at(folders_[i]);
}

std::map<std::string, int64_t> TrueClasses::folder_classes(const std::vector<std::string>& names,
                                                           int64_t classes) {
  const std::vector<std::string> folders = folders_in(input_);
  note_ = "the sub-folders have the names of classes";
  auto found = map_all(folders, [&](const std::string& folder) -> std::optional<int64_t> {
    const auto at = std::ranges::find(names, folder);
    if (at == names.end()) return std::nullopt;
    return at - names.begin();
  });
  if (!found.empty()) return found;
  note_ = "the sub-folders are the numbers of classes";
  found = map_all(folders, [&](const std::string& folder) {
    const auto number = number_in(folder);
    return number && *number >= 0 && *number < classes ? number : std::nullopt;
  });
  if (!found.empty()) return found;
  if (static_cast<int64_t>(folders.size()) != classes) {
    throw Error(ErrorKind::kBadInput,
                fmt::format("its sub-folders, {} from '{}' to '{}', are neither names nor numbers of the "
                            "network's {} classes; name the classes with --labels, or the class of each "
                            "image with --ground-truth FILE",
                            folders.size(), folders.front(), folders.back(), classes),
                input_);
  }
  note_ = "assumed: the sub-folders are the classes in the order of the alphabet";
  int64_t next = 0;
  for (const std::string& folder : folders) found[folder] = next++;
  return found;
}

}  // namespace hone::task
