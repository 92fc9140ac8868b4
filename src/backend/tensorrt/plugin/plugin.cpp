// libhone-tensorrt.so finds TensorRT and delegates to the plugin that was
// built for its major version. Enumerators have different values in each
// major, so one plugin is built for each, from the same source (library/).
#include <filesystem>
#include <set>

#include "backend/backend.hpp"
#include "backend/tensorrt/plugin/find_library.hpp"
#include "backend/tensorrt/plugin/library/entry.hpp"
#include "base/plugin.hpp"
#include "tensor/place.hpp"

namespace hone::backend::tensorrt {
namespace {

bool is_built(int major) {
  return std::filesystem::exists(fmt::format("{}/libhone-tensorrt-{}.so", base::library_folder(), major));
}

/// Environment error, in one sentence with the next step, if no library can be used.
std::unique_ptr<Backend> open_library() {
  std::set<int> not_built;
  std::string refusal;
  for (const FoundLibrary& found : find_libraries()) {
    if (!is_built(found.major)) {
      not_built.insert(found.major);
      continue;
    }
    try {
      const auto make = reinterpret_cast<MakeTensorrt>(
          base::load_plugin_symbol(fmt::format("tensorrt-{}", found.major), kMakeTensorrt));
      return std::unique_ptr<Backend>(make(found.file.c_str()));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kEnvironment) throw;
      if (refusal.empty()) refusal = error.what();
    }
  }
  if (!refusal.empty()) fail_environment("{}", refusal);
  if (!not_built.empty()) {
    fail_environment(
        "TensorRT {} is there, but hone was built without its headers: configure hone with "
        "-DTENSORRT_ROOT=FOLDER, "
        "whose include/ has NvInfer.h and NvOnnxParser.h",
        fmt::join(not_built, " and "));
  }
  fail_environment(
      "no TensorRT was found: install the Python package tensorrt, or name a libnvinfer.so.11, .10 or .8 by "
      "HONE_TENSORRT");
}

/// Answers everything that it can without loading a library.
class TensorrtBackend final : public Backend {
 public:
  std::string_view name() const override { return "tensorrt"; }
  std::string version(std::string_view device) const override { return library().version(device); }
  void require_device(std::string_view device) const override {
    if (tensor::parse_place(device).kind == tensor::PlaceKind::kCpu) {
      open_library();
      fail_environment("the backend tensorrt runs on a GPU: give --device cuda");
    }
    library().require_device(device);
  }
  bool reads(const std::filesystem::path& file) const override {
    return file.extension() == ".plan" || file.extension() == ".trt";
  }
  bool binds() const override { return true; }
  std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions& options) override {
    require_device(options.device);
    return library().refusals(model, options);
  }
  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    require_device(options.device);
    return library().load(model, options);
  }

 private:
  Backend& library() const {
    if (library_ == nullptr) library_ = open_library();
    return *library_;
  }

  mutable std::unique_ptr<Backend> library_;
};

}  // namespace
}  // namespace hone::backend::tensorrt

/// See backend/registry.cpp.
extern "C" __attribute__((visibility("default"))) hone::backend::Backend* hone_make_backend(
    const char* name) {
  if (std::string_view(name) != "tensorrt")
    hone::fail_internal("the tensorrt plugin has no backend {}", name);
  return new hone::backend::tensorrt::TensorrtBackend();
}
