// From a model to a plan: through the ONNX parser and the builder, or out of the cache.
#pragma once

#include "backend/tensorrt/plan_file.hpp"
#include "backend/tensorrt/plugin/library/driver.hpp"
#include "backend/tensorrt/plugin/library/library.hpp"
#include "backend/tensorrt/plugin/library/source.hpp"

namespace hone::backend::tensorrt {

struct BuiltPlan {
  Plan plan;
  /// True if it was built now, and not found in the cache.
  bool fresh = false;
};

/// Bad input, naming the node, where the parser refuses the model; environment error, with the library's
/// message, where no engine can be built here.
BuiltPlan build_plan(Library& library, const Gpu& gpu, const std::string& model, const Source& source,
                     const LoadOptions& options, const Settings& settings);

/// "weak (fp16)": the library chooses among the precisions; "strong": the graph says the type of every layer.
std::string typing_text(const LoadOptions& options, const Settings& settings);

}  // namespace hone::backend::tensorrt
