// A loaded plan as an executable.
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

/// The origin of a plan.
struct PlanOrigin {
  PlanRecord record;
  bool fresh = false;
  /// Bytes that were free on the GPU before anything was loaded.
  int64_t free_before = 0;
  std::vector<std::string> notes = {};
  /// For each node given to TensorRT, by name, the model's nodes from which hone made it.
  std::map<std::string, std::vector<std::string>> sources = {};
};

/// Environment error if the library refuses the plan: another version, another GPU, or damage.
std::shared_ptr<const LoadedPlan> load_plan(std::shared_ptr<Library> library, std::shared_ptr<const Gpu> gpu,
                                            const std::string& bytes);

/// A replacement for a plan, for inputs of other shapes.
struct Replacement {
  std::shared_ptr<const LoadedPlan> plan;
  PlanOrigin origin;
};
using Rebuild = std::function<Replacement(const std::map<std::string, tensor::Shape>& shapes)>;

/// `graph` is null for a plan from a file; `rebuild` is then empty. If `shapes` has every input, by name,
/// memory for such a run is allocated at once.
std::unique_ptr<Executable> make_executable(std::shared_ptr<const LoadedPlan> plan, PlanOrigin origin,
                                            std::shared_ptr<const graph::Graph> graph, Rebuild rebuild,
                                            const std::map<std::string, tensor::Shape>& shapes = {});

}  // namespace hone::backend::tensorrt
