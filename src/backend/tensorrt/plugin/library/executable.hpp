// A plan that is loaded, as a benchmark runs it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tensorrt/plan_file.hpp"
#include "backend/tensorrt/plugin/library/session.hpp"

namespace hone::backend::tensorrt {

/// How the plan came about.
struct PlanOrigin {
  PlanRecord record;
  bool fresh = false;
  /// Bytes that were free on the GPU before anything was loaded.
  int64_t free_before = 0;
  std::vector<std::string> notes = {};
  /// The model's nodes that each node given to TensorRT stands for, by its name, if hone created it.
  std::map<std::string, std::vector<std::string>> sources = {};
};

/// Environment error where the library does not take the plan: another version, another GPU, damage.
std::shared_ptr<const LoadedPlan> load_plan(std::shared_ptr<Library> library, std::shared_ptr<const Gpu> gpu,
                                            const std::string& bytes);

/// Another plan, for inputs of these shapes.
struct Replacement {
  std::shared_ptr<const LoadedPlan> plan;
  PlanOrigin origin;
};
using Rebuild = std::function<Replacement(const std::map<std::string, tensor::Shape>& shapes)>;

/// `graph` may be null, of a plan from a file; then `rebuild` is empty. Where `shapes` has every input, by
/// name, memory for such a run is taken at once.
std::unique_ptr<Executable> make_executable(std::shared_ptr<const LoadedPlan> plan, PlanOrigin origin,
                                            std::shared_ptr<const graph::Graph> graph, Rebuild rebuild,
                                            const std::map<std::string, tensor::Shape>& shapes = {});

}  // namespace hone::backend::tensorrt
