// The worker's side of the protocol: loads one model on one backend and times its runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/registry.hpp"
#include "base/json.hpp"
#include "bench/worker/model_info.hpp"
#include "bench/worker/protocol.hpp"

namespace hone::engine {
class Device;
}

namespace hone::bench {

class WorkerServer {
 public:
  /// Reads the next request; returns false at the end of the input.
  using Read = std::function<bool(std::string* line)>;
  using Write = std::function<void(const std::string& line)>;

  using MakeBackend = std::function<std::unique_ptr<backend::Backend>(const std::string& name)>;

  explicit WorkerServer(
      ModelLoader load_model,
      MakeBackend make_backend = [](const std::string& name) { return backend::make_backend(name); })
      : load_model_(std::move(load_model)), make_backend_(std::move(make_backend)) {}

  /// Answers requests until 'quit' or the end of the input. Failures become answers; nothing is thrown.
  void serve(const Read& read, const Write& write);

 private:
  Json answer(const std::string& type, const Json& request, const Write& write);
  Json hello(const Json& request);
  /// Reports progress to `write` from time to time.
  Json load(const Json& request, const Write& write);
  Json run(const Json& request);
  Json phases(const Json& request);
  Json pipeline(const Json& request);
  Json trace(const Json& request);
  Json layers(const Json& request);
  Json accuracy(const Json& request);
  Json memory() const;
  backend::Executable& executable() const;
  const std::vector<tensor::Tensor>& next_inputs();

  ModelLoader load_model_;
  MakeBackend make_backend_;
  std::unique_ptr<backend::Backend> backend_;
  std::unique_ptr<backend::Executable> executable_;
  std::vector<std::vector<tensor::Tensor>> sets_;
  size_t next_set_ = 0;
  bool transfers_ = true;
  /// The device whose caches are emptied before each timed run; null if caches are left unchanged.
  const engine::Device* cold_ = nullptr;
  int streams_ = 1;
  std::unique_ptr<backend::Pipeline> pipeline_;
};

}  // namespace hone::bench
