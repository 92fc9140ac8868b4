// hone as a library: builds an engine from a model, runs it on the caller's buffers, and stores it in a file.
//
//   hone::Engine engine = hone::Engine::build("model.onnx");
//   std::vector<float> image(1 * 3 * 224 * 224);
//   auto outputs = engine.run({{std::span<const float>(image), {1, 3, 224, 224}}});
//   std::span<const float> scores = outputs[0].elements<float>();
//
// Every failure is a hone::Error: its kind states the cause, and what() is one sentence.
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

/// The shapes of one input that an engine must accept, and the shape for which it is tuned.
struct ShapeRange {
  Dims min;
  Dims opt;
  Dims max;
};

/// Times of tactics that an earlier build measured on the same kind of machine, and that need not be measured
/// again.
struct TimingCache {
  /// False: everything is timed again, and nothing is stored (`hone build --noTimingCache`).
  bool used = true;
  /// Empty: a file in the user's cache folder, which is ignored if it cannot be read or written.
  std::filesystem::path file;
  /// Nothing is timed: environment error for times that the cache lacks (`hone build
  /// --errorOnTimingCacheMiss`), so that equal builds give equal engines.
  bool only = false;
};

/// The progress of a build.
struct BuildProgress {
  double done_seconds = 0;
  double left_seconds = 0;  ///< an estimate; infinite if it is unknown
  std::string doing;        ///< "timing tactics, round 2 of 5"
};

enum class LogLevel : uint8_t {
  kNote,     ///< what a pass changed, and the resulting engine
  kWarning,  ///< why the engine may be slower or less accurate than possible
};

struct BuildOptions {
  /// "cpu", "cuda" or "cuda:0" (the first GPU that CUDA shows to the process), or "cuda:1". The current
  /// device of the threads that use the engine is neither used nor changed.
  std::string device = "cpu";
  /// "AVX2", "AVX-512", "AVX-512-VNNI", "AVX-512-BF16" or "AMX": the engine runs on every CPU with these
  /// instructions. The limit also applies to everything that this process later builds and runs on the CPU.
  /// Environment error if this CPU lacks the instructions, or if the process has already used newer ones.
  /// Empty: for CPUs like this one.
  std::string portable;
  /// "fp32" or "bf16"; on cuda also "tf32" and "fp16". A list such as "fp16+fp32" names the engine's own
  /// precision and others that single steps may use if that is faster. Inputs and outputs keep the model's
  /// own types.
  std::string precision = "fp32";
  /// Ranges of shapes, by input name. Missing dims of a range are derived: opt is max, else min, and the
  /// bounds are everything that the model allows. An input without a range accepts everything that the model
  /// allows; it is tuned for open dimensions of 1 or, if another input has a dimension with the same name, of
  /// that size.
  std::map<std::string, ShapeRange> shapes;
  /// Outputs that are caches of the next run, INPUT=OUTPUT as for Engine::make_sequence(). They get a fixed
  /// capacity, which is the largest shape of one of them, and stay at their addresses: a run appends to them
  /// without copying, and one program serves all lengths. Bad input for a model whose caches cannot have a
  /// fixed capacity.
  std::vector<std::string> bind;
  /// Number of threads for tuning and running; 0: all processors.
  int threads = 0;
  /// 0: nothing is timed … 4: many samples of every tactic, 5: also every engine and knob of cuDNN (`hone
  /// build --builderOptimizationLevel`).
  int optimization_level = 3;
  /// Limit on the seconds of a build, which the timing of tactics observes (`hone build --builderBudget`); 0:
  /// no limit. Absent: 12, on cuda 20, and no limit at levels 4 and 5. A search that is cut short may make
  /// the engine slower, but never changes its results.
  std::optional<double> budget_seconds;
  /// Names of passes to skip (`hone passes` lists them).
  std::vector<std::string> disabled_passes;
  /// The cache of tactic times.
  TimingCache timing_cache;
  /// A .safetensors file with the parameters of a built-in architecture; empty: they are random, from `seed`.
  std::filesystem::path weights;
  uint64_t seed = 0;
  /// Called from time to time during the build, on the thread that calls Engine::build(). If it throws an
  /// exception, the build ends and Engine::build() throws it. Empty: not called.
  std::function<void(const BuildProgress&)> progress;
  /// Called with single sentences when the engine is built, on the same thread. Empty: not called.
  std::function<void(LogLevel, const std::string&)> log;
};

/// An engine that is ready to run. Only one thread at a time may call run(); a concurrent call is a usage
/// error. Contexts may be used in any number of threads.
class Engine {
 public:
  /// `model` is an .onnx file or the name of a built-in architecture ("resnet50"). Bad input for an invalid
  /// model file, usage error for options that do not fit the model, environment error for a device that is
  /// not available.
  static Engine build(const std::string& model, const BuildOptions& options = {});
  /// Loads an engine file that `save` or `hone build` wrote. Bad input if it is damaged. Environment error if
  /// it was built on another model of CPU or GPU, with other versions of the libraries that it uses or, on
  /// cuda, with a driver of another CUDA version (docs/BACKENDS.md, "Engine files"). With `threads` 0, it
  /// uses the number for which it was tuned. `device` is as in BuildOptions; empty: the first device of its
  /// kind.
  static Engine load(const std::filesystem::path& file, int threads = 0, const std::string& device = {});

  /// Loads the bytes of such a file, which are copied; errors do not name a file.
  static Engine load_bytes(std::span<const std::byte> bytes, int threads = 0, const std::string& device = {});

  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  /// Publishes the file only when it is complete; environment error if that fails.
  void save(const std::filesystem::path& file) const;

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  /// Takes one tensor for each of inputs() in order, and returns one for each of outputs(). The first run
  /// with new shapes prepares the engine for them. Bad input for types and shapes that the engine does not
  /// accept; usage error for a buffer whose size does not match its dims.
  std::vector<Tensor> run(const std::vector<TensorView>& inputs);
  /// Like run(), with inputs and outputs by name. Usage error for an unknown name, and for an input without a
  /// tensor.
  std::map<std::string, Tensor> run_by_name(const std::map<std::string, TensorView>& inputs);

  /// Makes a context, which runs the engine in one thread on bound memory. Any thread may make any number of
  /// contexts, which may outlive the engine.
  Context make_context() const;
  /// Makes a sequence of runs in one thread in which outputs become inputs of the next run. Each text is
  /// INPUT=OUTPUT, where * matches any characters, and on the right the same ones as on the left:
  /// "past_key_values.*=present.*" binds all caches of a decoder. An engine that was built with `bind` needs
  /// no texts. Usage error for texts that match no input or output, for a pair with incompatible types, and
  /// for texts that differ from those of the build.
  Sequence make_sequence(const std::vector<std::string>& bind = {}) const;
  /// The place where contexts run and where their bound memory must be.
  Place place() const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace hone
