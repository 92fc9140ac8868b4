// The TensorRT libraries of this plugin's major version, opened at run time, and their messages.
#pragma once

#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hone::backend::tensorrt {

/// The flags with which createNetworkV2() makes a network for a graph with this typing.
uint32_t network_flags(bool strong);

/// Keeps the library's errors until they are requested; called from the library's threads.
class Logger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override;
  /// Returns the errors since the last call, in order, and forgets them.
  std::string take_errors();

 private:
  std::mutex mutex_;
  std::vector<std::string> errors_;
};

class Library {
 public:
  /// Environment error if libnvinfer, its plugins or its
  /// parser cannot be loaded, or has another major version.
  explicit Library(const std::string& libnvinfer);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// "8.6.1".
  std::string version() const;
  const std::string& folder() const { return folder_; }
  /// Environment error, with the library's message, if the builder cannot be made.
  std::unique_ptr<nvinfer1::IBuilder> make_builder();
  std::unique_ptr<nvinfer1::IRuntime> make_runtime();
  std::unique_ptr<nvonnxparser::IParser> make_parser(nvinfer1::INetworkDefinition& network);
  Logger& logger() { return logger_; }
  /// The name of the file that the builder needs for this GPU but that is missing; empty if none is.
  std::string missing_builder_resource(int sm_major, int sm_minor) const;

 private:
  void load_parser();

  Logger logger_;
  void* nvinfer_ = nullptr;
  void* parser_ = nullptr;
  int number_ = 0;
  std::string folder_;
  void* (*make_builder_)(void*, int32_t) = nullptr;
  void* (*make_runtime_)(void*, int32_t) = nullptr;
  void* (*make_parser_)(void*, void*, int) = nullptr;
};

}  // namespace hone::backend::tensorrt
