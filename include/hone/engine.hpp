// hone as a library: a model becomes an engine, which runs on your buffers and can be kept in a file.
//
//   hone::Engine engine = hone::Engine::build("model.onnx");
//   std::vector<float> image(1 * 3 * 224 * 224);
//   auto outputs = engine.run({{std::span<const float>(image), {1, 3, 224, 224}}});
//   std::span<const float> scores = outputs[0].elements<float>();
//
// Every failure is a hone::Error: its kind says whose fault it is, what() is one sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/context.hpp"
#include "hone/sequence.hpp"
#include "hone/tensor.hpp"

namespace hone {

/// Shapes of one input that an engine shall accept, and the one it is tuned for.
struct ShapeRange {
  Dims min;
  Dims opt;
  Dims max;
};

/// Times of tactics that an earlier build measured on such a machine need not be measured again.
struct TimingCache {
  /// False: everything is timed anew, and nothing is kept (`hone build --noTimingCache`).
  bool used = true;
  /// Empty: one in the user's cache folder, which is passed over where it cannot be read or written.
  std::filesystem::path file;
  /// Nothing is timed: environment error for entries that the cache lacks (`hone build
  /// --errorOnTimingCacheMiss`), so that equal builds give equal engines.
  bool only = false;
};

/// How far a build is.
struct BuildProgress {
  double done_seconds = 0;
  double left_seconds = 0;  ///< an estimate; infinite where nothing is known
  std::string doing;        ///< "timing tactics, round 2 of 5"
};

enum class LogLevel : uint8_t {
  kNote,     ///< what a pass changed, how the engine came out
  kWarning,  ///< why the engine may be slower or less accurate than it could be
};

struct BuildOptions {
  /// "cpu", "cuda" or "cuda:0", which is the first GPU that CUDA shows to the process, or "cuda:1". The
  /// current device of the threads that use the engine neither matters nor changes.
  std::string device = "cpu";
  /// "AVX2", "AVX-512", "AVX-512-VNNI", "AVX-512-BF16" or "AMX": the engine runs on every CPU with these
  /// instructions, and so does what this process builds and runs on the CPU from then on. Environment error
  /// where this CPU lacks them, and where the process has used higher ones already. Empty: for CPUs like this
  /// one.
  std::string portable;
  /// "fp32" or "bf16"; on cuda also "tf32" and "fp16". Several, as "fp16+fp32": the engine's own, and others
  /// that single steps may be in where that is faster. Inputs and outputs keep the model's own types.
  std::string precision = "fp32";
  /// Ranges of shapes, keyed by input name. Empty dims of a range follow from the others: opt is max, else
  /// min, and bounds are all that the model allows. An input without a range gets all that the model allows
  /// and is tuned for open dimensions of 1 or, where another input names the same dimension, of that size.
  std::map<std::string, ShapeRange> shapes;
  /// Outputs that are caches of the next run, INPUT=OUTPUT as for Engine::make_sequence(). They get a fixed
  /// capacity, which the largest shape of one of them says, and stay where they are: a run appends to them
  /// and copies none, and one program serves every length. Bad input for a model whose caches cannot.
  std::vector<std::string> bind;
  /// Threads to tune for and to run with; 0: all processors.
  int threads = 0;
  /// 0: nothing is timed … 4: many samples of every tactic, 5: of every engine and knob of cuDNN
  /// (`hone build --builderOptimizationLevel`).
  int optimization_level = 3;
  /// Seconds that building may take, which timing tactics keeps to (`hone build --builderBudget`); 0: as long
  /// as it takes. Absent: 12, on cuda 20, and as long as it takes at levels 4 and 5. A search that is
  /// cut short may cost the engine speed, never its results.
  std::optional<double> budget_seconds;
  /// Passes to leave out, by name (`hone passes` lists them).
  std::vector<std::string> disabled_passes;
  /// The place where tactic times are kept.
  TimingCache timing_cache;
  /// Parameters of a built-in architecture, a .safetensors file; empty: they come from `seed`.
  std::filesystem::path weights;
  uint64_t seed = 0;
  /// Called now and then during the build, on the thread that calls Engine::build(). An exception that it
  /// throws ends the build and leaves Engine::build(). Empty: not called.
  std::function<void(const BuildProgress&)> progress;
  /// Called with single sentences when the engine is built, on the same thread. Empty: not called.
  std::function<void(LogLevel, const std::string&)> log;
};

/// An engine that is ready to run. run() is for one thread at a time, and a usage error for a second one that
/// calls it meanwhile; contexts are for any number of threads.
class Engine {
 public:
  /// `model` is an .onnx file or the name of a built-in architecture ("resnet50"). Bad input for a file that
  /// is no sound model, usage error for options that do not fit it, environment error for a device that is
  /// not to be had.
  static Engine build(const std::string& model, const BuildOptions& options = {});
  /// An engine file that `save` or `hone build` wrote. Bad input when it is damaged, environment error when
  /// it was built on another model of CPU or GPU, or with other versions of the libraries that it runs on or,
  /// on cuda, with a driver of another CUDA version (docs/BACKENDS.md, "Engine files"). `threads` as it was
  /// tuned for when 0; `device` as in BuildOptions, the first one of its kind when empty.
  static Engine load(const std::filesystem::path& file, int threads = 0, const std::string& device = {});

  /// The bytes of such a file, which are copied; errors name no file.
  static Engine load_bytes(std::span<const std::byte> bytes, int threads = 0, const std::string& device = {});

  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Writes the file whole or not at all; environment error when that fails.
  void save(const std::filesystem::path& file) const;

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  /// One tensor for each of inputs(), in that order; gives one for each of outputs(). The first run with new
  /// shapes prepares the engine for them. Bad input for types and shapes that the engine does not accept,
  /// usage error for a buffer that does not hold what its dims say.
  std::vector<Tensor> run(const std::vector<TensorView>& inputs);
  /// Runs like run(), with inputs and outputs by name. Usage error for a name that is no input, and for an
  /// input without a tensor.
  std::map<std::string, Tensor> run_by_name(const std::map<std::string, TensorView>& inputs);

  /// Makes a context, which runs the engine in one thread on bound memory. There may be any number of them,
  /// made by any thread, and they may outlive the engine.
  Context make_context() const;
  /// Runs in one thread in which outputs feed inputs of the next run. Each text is INPUT=OUTPUT, where a *
  /// stands for any characters, on the right for the same as on the left: "past_key_values.*=present.*" binds
  /// all caches of a decoder. An engine that was built with `bind` needs none. Usage error for texts that fit
  /// no input or output, or two that no value can be, and for others than those of the build.
  Sequence make_sequence(const std::vector<std::string>& bind = {}) const;
  /// Where contexts run, and have what they bind.
  Place place() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hone
