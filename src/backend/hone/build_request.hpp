// The one door to an engine: what somebody asks for is checked and completed here, then built. The command
// line, the public API and the backend hone all come through it.
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

/// The sources and the target of tactic times.
struct CachePolicy {
  /// False: everything is timed anew, and nothing is kept.
  bool used = true;
  /// Empty: one in the user's cache folder, which is passed over where it cannot be read or written.
  std::filesystem::path file;
  /// Nothing is timed: environment error for entries that the cache lacks.
  bool only = false;
};

/// A user's request for an engine.
struct BuildRequest {
  /// A file or the name of a built-in architecture.
  std::string model;
  importer::LoadModelOptions parameters;
  /// A name that device::find_device knows.
  std::string device = "cpu";
  /// A level of instructions, as device::portable_device has it; empty: all that this CPU has.
  std::string portable = {};
  /// kInt8, here or among the others: the model is quantized first, and what stays in floating point has the
  /// precisions that are left, fp32 where none is.
  tensor::Precision precision = tensor::Precision::kFp32;
  /// Others that single steps may be in, where that is faster.
  std::vector<tensor::Precision> other_precisions = {};
  /// The request for kInt8.
  Int8Request int8 = {};
  /// Shapes keyed by input name; shapes that are empty follow from the others, inputs that are not named from
  /// the model.
  std::map<std::string, engine::ShapeProfile> shapes;
  /// Outputs that are caches of the next run, as engine::parse_carries() has it: they get a fixed capacity,
  /// the size that the largest shape of one of them says.
  std::vector<std::string> bind = {};
  engine::OpenDims open_dims = engine::OpenDims::kAnySize;
  /// The number of threads to tune for; 0: all that this process may use.
  int threads = 0;
  /// As engine::BuildOptions has it.
  int optimization_level = 3;
  std::vector<std::string> disabled_passes;
  CachePolicy cache;
  /// That building may take, calibration apart; 0: as long as it takes, absent: the device's own limit for
  /// the level.
  std::optional<double> budget_seconds;
  std::function<void(const base::Progress&)> progress;
};

/// A request whose parts are known to be there and to fit each other: the device found, the model imported,
/// every input with its range, the threads and the timing cache known.
struct ResolvedBuild {
  /// The model's name as the user gave it; empty where it came from memory.
  std::string source;
  const engine::Device& device;
  std::shared_ptr<const graph::Graph> graph;
  engine::BuildOptions options;
  /// The source of the scales of a build in int8.
  std::optional<Int8Source> int8 = {};
};

/// Usage error for options that are out of range or do not fit the model, bad input for a model or a cache
/// that is none, environment error for a device or a precision that is not to be had.
ResolvedBuild resolve(const BuildRequest& request);
/// Resolves a request for a model that is in memory, instead of the one that the request names.
ResolvedBuild resolve(const BuildRequest& request, const importer::Model& model);

/// Bad input when the graph cannot run. A build in int8, on a device whose steps overlap, returns the engine
/// without int8 if that is faster as a whole: conversions between steps cost time, too. Both and the
/// comparison share one budget; engine.cut_short says what there was no time for.
std::shared_ptr<engine::Engine> build(const ResolvedBuild& build);

/// Names with a plus between them, "fp16+fp32", each once; the first is the engine's own. Usage error
/// otherwise.
std::vector<tensor::Precision> parse_precisions(std::string_view names);

/// Usage error for a number of threads that no engine takes; 0 stands for another one.
void check_threads(int threads);

}  // namespace hone::backend
