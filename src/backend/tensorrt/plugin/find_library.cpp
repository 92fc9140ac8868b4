// See find_library.hpp.
#include "backend/tensorrt/plugin/find_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "HONE_TENSORRT";

std::string library_name(int major) { return fmt::format("libnvinfer.so.{}", major); }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The major of "libnvinfer.so.10" or "libnvinfer.so.10.15.1"; nullopt for other names.
std::optional<int> major_of(const fs::path& file) {
  const std::string name = file.filename().string();
  for (const int major : kMajors) {
    const std::string wanted = library_name(major);
    if (name == wanted || name.starts_with(wanted + ".")) return major;
  }
  return std::nullopt;
}

void add_from_folder(const fs::path& folder, std::vector<FoundLibrary>& found) {
  for (const int major : kMajors) {
    std::error_code ignored;
    if (fs::exists(folder / library_name(major), ignored))
      found.push_back({major, folder / library_name(major)});
  }
}

std::vector<FoundLibrary> named_by_user(const fs::path& path) {
  std::vector<FoundLibrary> found;
  if (fs::is_directory(path)) {
    add_from_folder(path, found);
    add_from_folder(path / "lib", found);
    if (found.empty()) fail_usage("{}: {} holds no libnvinfer.so.11, .10 or .8", kVariable, path.string());
    return found;
  }
  if (!fs::exists(path)) fail_usage("{}: {} does not exist", kVariable, path.string());
  const std::optional<int> major =
      major_of(fs::canonical(path)).has_value() ? major_of(fs::canonical(path)) : major_of(path);
  if (!major) fail_usage("{}: {} is no libnvinfer.so.11, .10 or .8", kVariable, path.string());
  return {{*major, fs::absolute(path)}};
}

/// Folders of Python's packages: those of the virtual
/// environment, the user, each python3 in PATH, and the system.
std::vector<fs::path> package_folders() {
  std::vector<fs::path> roots;
  if (const std::string active = variable("VIRTUAL_ENV"); !active.empty()) roots.emplace_back(active);
  if (const std::string home = variable("HOME"); !home.empty()) roots.emplace_back(home + "/.local");
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    std::error_code ignored;
    if (fs::exists(fs::path(folder) / "python3", ignored)) roots.push_back(fs::path(folder).parent_path());
  }
  roots.insert(roots.end(), {"/usr/local", "/usr"});
  std::vector<fs::path> folders;
  for (const fs::path& root : roots) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root / "lib", ignored)) {
      if (!entry.path().filename().string().starts_with("python3")) continue;
      for (const char* name : {"site-packages", "dist-packages"}) folders.push_back(entry.path() / name);
    }
  }
  return folders;
}

void add_of_loader(std::vector<FoundLibrary>& found) {
  for (const int major : kMajors) {
    void* handle = ::dlopen(library_name(major).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    found.push_back({major, library_name(major)});
    ::dlclose(handle);
  }
}

void add_of_python(std::vector<FoundLibrary>& found) {
  for (const fs::path& folder : package_folders()) {
    for (const char* package : {"tensorrt_libs", "tensorrt", "nvidia/tensorrt/lib"})
      add_from_folder(folder / package, found);
  }
}

}  // namespace

std::vector<FoundLibrary> find_libraries() {
  if (const std::string named = variable(kVariable); !named.empty()) return named_by_user(named);
  std::vector<FoundLibrary> found;
  add_of_loader(found);
  add_of_python(found);
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundLibrary& a, const FoundLibrary& b) { return a.major > b.major; });
  return found;
}

}  // namespace hone::backend::tensorrt
