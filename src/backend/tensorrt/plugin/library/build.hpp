// Makes the plan for a model: with the ONNX parser and the builder, or from the cache.
#pragma once

#include "backend/tensorrt/plan_file.hpp"
#include "backend/tensorrt/plugin/library/driver.hpp"
#include "backend/tensorrt/plugin/library/library.hpp"
#include "backend/tensorrt/plugin/library/source.hpp"

namespace hone::backend::tensorrt {

struct BuiltPlan {
  Plan plan;
  /// True if it was built now and not found in the cache.
  bool fresh = false;
};

/// Bad input, naming the node, if the parser refuses the model; environment error, with the library's
/// message, if no engine can be built here.
BuiltPlan build_plan(Library& library, const Gpu& gpu, const std::string& model, const Source& source,
                     const LoadOptions& options, const Settings& settings);

/// "weak (fp16)" if the library chooses among the precisions;
/// "strong" if the graph defines every layer's type.
std::string typing_text(const LoadOptions& options, const Settings& settings);

}  // namespace hone::backend::tensorrt
