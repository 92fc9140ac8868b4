// See model_names.hpp.
#include "bench/results/model_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace hone::bench {
namespace {

/// Replaces characters that a shell, a terminal or a file system would interpret.
std::string safe_name(std::string name) {
  const bool only_dots = name.find_first_not_of('.') == std::string::npos;
  for (char& c : name) {
    const bool safe = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    if (!safe && (c != '.' || only_dots)) c = '_';
  }
  return name;
}

/// A model's name with the folders of its path that are needed.
struct LongName {
  std::vector<std::string> folders;  ///< the outermost first
  std::string file;
  std::string stem;
  size_t shown = 0;  ///< number of folders
  std::string text = {};

  explicit LongName(const std::string& model) : stem(file_stem(model)) {
    const std::filesystem::path path = std::filesystem::path(model).lexically_normal();
    file = safe_name(path.filename().string());
    for (const std::filesystem::path& part : path.relative_path().parent_path())
      folders.push_back(safe_name(part.string()));
    text = stem;
  }
  void show(const std::string& name) {
    text = name;
    for (size_t i = 1; i <= shown; ++i) text.insert(0, folders[folders.size() - i] + "/");
  }
  void lengthen() {
    shown = std::min(shown + 1, folders.size());
    show(stem);
  }
};

/// Returns the names whose text is not unique.
std::vector<LongName*> alike(std::vector<LongName>& names) {
  std::map<std::string, std::vector<LongName*>> groups;
  for (LongName& name : names) groups[name.text].push_back(&name);
  std::vector<LongName*> result;
  for (const auto& [text, group] : groups) {
    if (group.size() > 1) result.insert(result.end(), group.begin(), group.end());
  }
  return result;
}

}  // namespace

std::string file_stem(const std::string& model) {
  std::string stem = std::filesystem::path(model).stem().string();
  if (stem.find_first_not_of('.') == std::string::npos) return "model";
  return safe_name(std::move(stem));
}

std::vector<std::string> distinct_names(const std::vector<std::string>& models) {
  std::vector<LongName> names(models.begin(), models.end());
  size_t deepest = 0;
  for (const LongName& name : names) deepest = std::max(deepest, name.folders.size());
  for (size_t i = 0; i < deepest; ++i) {
    for (LongName* name : alike(names)) name->lengthen();
  }
  for (LongName* name : alike(names)) name->show(name->file);
  int number = 1;
  for (LongName* name : alike(names)) name->text += fmt::format("-{}", number++);
  std::vector<std::string> result;
  for (const LongName& name : names) result.push_back(name.text);
  return result;
}

std::map<std::string, std::string> short_names(const std::vector<std::string>& models) {
  std::vector<std::string> different;
  for (const std::string& model : models) {
    if (std::find(different.begin(), different.end(), model) == different.end()) different.push_back(model);
  }
  const std::vector<std::string> names = distinct_names(different);
  std::map<std::string, std::string> result;
  for (size_t i = 0; i < names.size(); ++i) result[different[i]] = names[i];
  return result;
}

bool same_model(const std::string& a, const std::string& b) {
  const std::filesystem::path first(a), second(b);
  std::error_code missing;
  return first.lexically_normal() == second.lexically_normal() ||
         std::filesystem::equivalent(first, second, missing);
}

}  // namespace hone::bench
