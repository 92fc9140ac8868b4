// See library.hpp.
#include "backend/tensorrt/plugin/library/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

/// Enough errors to explain a failure.
constexpr size_t kMostErrors = 8;
constexpr size_t kMostErrorText = 600;

struct Version {
  int major;
  int minor;
  int patch;
};

/// Before version 10, the major was counted in thousands.
Version parts_of(int number) {
  const int major = number >= 10000 ? number / 10000 : number / 1000;
  return {major, number / 100 % (number >= 10000 ? 100 : 10), number % 100};
}

template <class F>
void find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) fail_environment("this TensorRT has no {}: install it again", name);
}

void* open(const std::string& file, int flags) {
  void* handle = ::dlopen(file.c_str(), flags);
  if (handle == nullptr) {
    const std::string reason = ::dlerror();
    fail_environment(
        "TensorRT cannot be loaded: {} (add the folder to LD_LIBRARY_PATH or install what is missing)",
        reason);
  }
  return handle;
}

}  // namespace

uint32_t network_flags(bool strong) {
#if NV_TENSORRT_MAJOR < 10
  (void)strong;
  return 1u << static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kEXPLICIT_BATCH);
#elif NV_TENSORRT_MAJOR < 11
  return strong ? 1u << static_cast<uint32_t>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED) : 0;
#else
  (void)strong;
  return 0;
#endif
}

void Logger::log(Severity severity, const char* message) noexcept {
  if (severity > Severity::kERROR) return;
  try {
    const std::lock_guard lock(mutex_);
    if (errors_.size() < kMostErrors) errors_.emplace_back(message);
  } catch (const std::exception&) {
    // The report of the failure then lacks a detail.
  }
}

std::string Logger::take_errors() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const std::string& error : errors_) {
    if (!text.empty()) text += "; ";
    text += error;
  }
  errors_.clear();
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (text.size() > kMostErrorText) text = text.substr(0, kMostErrorText) + "…";
  return text.empty() ? "it did not say why" : text;
}

Library::Library(const std::string& libnvinfer) {
  nvinfer_ = open(libnvinfer, RTLD_LAZY | RTLD_LOCAL);
  int (*number)() = nullptr;
  find(nvinfer_, "getInferLibVersion", number);
  number_ = number();
  const int major = parts_of(number_).major;
  if (major != NV_TENSORRT_MAJOR)
    fail_environment("{} is TensorRT {}, and this plugin is for {}", libnvinfer, version(),
                     NV_TENSORRT_MAJOR);
  find(nvinfer_, "createInferBuilder_INTERNAL", make_builder_);
  find(nvinfer_, "createInferRuntime_INTERNAL", make_runtime_);
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(number), &info) != 0 && info.dli_fname != nullptr)
    folder_ = std::filesystem::absolute(info.dli_fname).parent_path().string();
  load_parser();
}

void Library::load_parser() {
  const auto beside = [&](const std::string& name) {
    const std::string file = folder_ + "/" + name;
    return std::filesystem::exists(file) ? file : name;
  };
  // Older parsers need the plugin library, which the loader finds by name once it is loaded. That library
  // needs functions of cuBLAS and cuDNN only when it calls them.
  const std::string plugins = beside(fmt::format("libnvinfer_plugin.so.{}", NV_TENSORRT_MAJOR));
  void* loaded = ::dlopen(plugins.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  const std::string reason = loaded == nullptr ? ::dlerror() : "";
  const std::string parser = beside(fmt::format("libnvonnxparser.so.{}", NV_TENSORRT_MAJOR));
  parser_ = ::dlopen(parser.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (parser_ == nullptr) {
    const std::string own = ::dlerror();
    fail_environment(
        "TensorRT's ONNX parser cannot be loaded: {} (add the folder to LD_LIBRARY_PATH or install what is "
        "missing)",
        reason.empty() ? own : reason);
  }
  find(parser_, "createNvOnnxParser_INTERNAL", make_parser_);
  // After registration, that library also provides the parser's plugins for some operators.
  using Register = bool (*)(void*, const char*);
  if (const auto add_plugins =
          loaded == nullptr ? nullptr : reinterpret_cast<Register>(::dlsym(loaded, "initLibNvInferPlugins")))
    add_plugins(&logger_, "");
}

std::string Library::version() const {
  const Version parts = parts_of(number_);
  return fmt::format("{}.{}.{}", parts.major, parts.minor, parts.patch);
}

std::unique_ptr<nvinfer1::IBuilder> Library::make_builder() {
  // Passes the library's own version, because the functions that hone calls are the same in a whole major.
  auto* builder = static_cast<nvinfer1::IBuilder*>(make_builder_(&logger_, number_));
  if (builder == nullptr) fail_environment("TensorRT cannot build here: {}", logger_.take_errors());
  return std::unique_ptr<nvinfer1::IBuilder>(builder);
}

std::unique_ptr<nvinfer1::IRuntime> Library::make_runtime() {
  auto* runtime = static_cast<nvinfer1::IRuntime*>(make_runtime_(&logger_, number_));
  if (runtime == nullptr) fail_environment("TensorRT cannot run here: {}", logger_.take_errors());
  return std::unique_ptr<nvinfer1::IRuntime>(runtime);
}

std::unique_ptr<nvonnxparser::IParser> Library::make_parser(nvinfer1::INetworkDefinition& network) {
  auto* parser =
      static_cast<nvonnxparser::IParser*>(make_parser_(&network, &logger_, NV_ONNX_PARSER_VERSION));
  if (parser == nullptr) fail_environment("TensorRT's parser does not start: {}", logger_.take_errors());
#if NV_TENSORRT_MAJOR < 10
  // Otherwise the operator is a plugin, which does not support all types.
  parser->setFlag(nvonnxparser::OnnxParserFlag::kNATIVE_INSTANCENORM);
#endif
  return std::unique_ptr<nvonnxparser::IParser>(parser);
}

std::string Library::missing_builder_resource(int sm_major, int sm_minor) const {
  const std::string suffix = ".so." + version();
  std::vector<std::string> names = {"libnvinfer_builder_resource" + suffix};
#if NV_TENSORRT_MAJOR >= 10
  names.insert(names.begin(),
               fmt::format("libnvinfer_builder_resource_sm{}{}{}", sm_major, sm_minor, suffix));
#else
  (void)sm_major;
  (void)sm_minor;
#endif
  for (const std::string& name : names) {
    if (std::filesystem::exists(folder_ + "/" + name)) return {};
    if (void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL); handle != nullptr) {
      ::dlclose(handle);
      return {};
    }
  }
  return names.front();
}

}  // namespace hone::backend::tensorrt
