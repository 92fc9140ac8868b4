// A tiny model and fake workers for the tests of the benchmark.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench/sweep/peers.hpp"
#include "bench/sweep/sweep.hpp"
#include "bench/worker/model_info.hpp"

namespace hone::bench {

/// y = Relu(x) on float32[batch x 6], or on a fixed batch.
inline importer::Model make_model(const std::string& name, int64_t fixed_batch = 0) {
  const auto graph = std::make_shared<graph::Graph>();
  const graph::Dim batch = fixed_batch > 0 ? graph::Dim(fixed_batch) : graph::Dim::symbol("batch");
  const graph::TensorType type{tensor::DType::kFloat32, graph::Dims{batch, graph::Dim(6)}};
  const graph::ValueId x = graph->add_value("x", type);
  const graph::ValueId y = graph->add_value("y", type);
  graph::Node node;
  node.name = "relu";
  node.op = "Relu";
  node.inputs = {x};
  node.outputs = {y};
  graph->add_node(std::move(node));
  graph->inputs = {x};
  graph->outputs = {y};
  return {name, {}, graph};
}

inline std::string fake_worker(const std::string& arguments) {
  return std::string("python3 ") + HONE_SOURCE_DIR + "/tests/bench/fake_worker.py " + arguments;
}

/// Peers whose built-in backends are a fake worker that behaves well.
inline Peers make_peers() { return Peers({"/bin/sh", "-c", "exec " + fake_worker("good")}); }

/// A sweep of a few tenths of a second over the tiny model.
inline SweepOptions quick_options(std::vector<std::string> backends) {
  SweepOptions options;
  options.load_model = [](const std::string& spec) { return make_model(spec); };
  options.models = {"tiny"};
  options.backends = std::move(backends);
  options.precisions = {"fp32"};
  options.batches = {1};
  options.compare_to = options.backends.front();
  options.measure.warmup_seconds = 0.01;
  options.measure.duration_seconds = 0.1;
  options.measure.rounds = 4;
  options.measure.timeout_seconds = 60;
  return options;
}

/// Points the cache at an empty folder for the life of the object.
class TemporaryCache {
 public:
  TemporaryCache() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-cache-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    ::setenv("HONE_CACHE_DIR", folder_.c_str(), 1);
  }
  ~TemporaryCache() {
    ::unsetenv("HONE_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace hone::bench
