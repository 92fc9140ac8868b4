// The only way to an engine: a user's request is checked and completed here, then built. The command line,
// the public API and the backend hone all use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/hone/int8_model.hpp"
#include "engine/builder.hpp"
#include "engine/complete_profiles.hpp"
#include "import/load.hpp"

namespace hone::backend {

/// The timing cache of a build.
struct CachePolicy {
  /// If false, everything is timed anew, and nothing is kept.
  bool used = true;
  /// Empty for one in the user's cache folder, which is skipped if it cannot be read or written.
  std::filesystem::path file;
  /// If true, nothing is timed; environment error for entries that the cache lacks.
  bool only = false;
};

/// A user's request for an engine.
struct BuildRequest {
  /// A file or the name of a built-in architecture.
  std::string model;
  importer::LoadModelOptions parameters;
  /// A name that device::find_device() accepts.
  std::string device = "cpu";
  /// A level of instructions for device::portable_device(); empty for all instructions of this CPU.
  std::string portable = {};
  /// If kInt8 is given here or below, the model is quantized first. Nodes that stay in floating point have
  /// the remaining precisions, or fp32 if none remains.
  tensor::Precision precision = tensor::Precision::kFp32;
  /// Precisions that single steps may use if that is faster.
  std::vector<tensor::Precision> other_precisions = {};
  /// Details of a request for kInt8.
  Int8Request int8 = {};
  /// Shapes keyed by input name. Empty shapes follow from the
  /// others; inputs that are not named follow from the model.
  std::map<std::string, engine::ShapeProfile> shapes;
  /// Outputs that are caches for the next run, in the form of engine::parse_carries(). They get a fixed
  /// capacity, which is taken from the largest shape of one of them.
  std::vector<std::string> bind = {};
  engine::OpenDims open_dims = engine::OpenDims::kAnySize;
  /// The number of threads to tune for; 0 for all that this process may use.
  int threads = 0;
  /// See engine::BuildOptions.
  int optimization_level = 3;
  std::vector<std::string> disabled_passes;
  CachePolicy cache;
  /// Seconds that building may take, without calibration. 0 means no limit; if absent, the device's own limit
  /// for the level applies.
  std::optional<double> budget_seconds;
  std::function<void(const base::Progress&)> progress;
};

/// A request whose parts exist and fit each other: the device and the model are found, every input has its
/// range, and the threads and the timing cache are known.
struct ResolvedBuild {
  /// The model's name as the user gave it; empty if the model came from memory.
  std::string source;
  const engine::Device& device;
  std::shared_ptr<const graph::Graph> graph;
  engine::BuildOptions options;
  /// The source of the scales of a build in int8.
  std::optional<Int8Source> int8 = {};
};

/// Usage error for options that are out of range or do not fit the model; bad input for an invalid model or
/// cache; environment error for a device or a precision that is not available.
ResolvedBuild resolve(const BuildRequest& request);
/// Resolves a request for a model in memory, instead of the one that the request names.
ResolvedBuild resolve(const BuildRequest& request, const importer::Model& model);

/// Bad input if the graph cannot run. A build in int8, on a device whose steps overlap, returns the engine
/// without int8 if that is faster as a whole, since conversions between steps also cost time. Both engines
/// and the comparison share one budget; engine.cut_short names the parts that had no time.
std::shared_ptr<engine::Engine> build(const ResolvedBuild& build);

/// Parses names separated by plus signs, "fp16+fp32", each at most once; the first is the engine's own. Usage
/// error for other texts.
std::vector<tensor::Precision> parse_precisions(std::string_view names);

/// Usage error for a number of threads that no engine supports; 0 stands for the default.
void check_threads(int threads);

}  // namespace hone::backend
