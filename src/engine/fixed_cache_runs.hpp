// Runs an engine whose caches have a fixed capacity (transform/fixed_caches.hpp): caches stay at their
// addresses, and each run appends its tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/carried_state.hpp"
#include "engine/context.hpp"

namespace hone::engine {

/// The inputs and outputs of an engine that are caches of a fixed capacity. The builder stores them in the
/// metadata of the engine.
struct FixedCaches {
  std::vector<Carry> caches;
  /// The dimension of a cache along which tokens are stored, and its size.
  size_t axis = 0;
  int64_t capacity = 0;
  /// The input with the number of valid tokens, int64 [1].
  size_t length_input = 0;
  /// An input with one element for every new token along `tokens_axis`.
  size_t tokens_input = 0;
  size_t tokens_axis = 0;
};

/// Changes the caches of a model, selected by texts for parse_carries(), to this capacity and to this element
/// type (float32 or narrower), and records them in the metadata. Usage error for texts that match nothing;
/// bad input for a model whose caches cannot have a fixed capacity.
std::shared_ptr<const graph::Graph> with_fixed_caches(const graph::Graph& graph,
                                                      std::span<const std::string> bind, int64_t capacity,
                                                      tensor::DType stored,
                                                      std::map<std::string, std::string>* metadata);

/// Reads the caches from the metadata of the engine; nothing if it has none. Bad input if they do not fit its
/// graph.
std::optional<FixedCaches> fixed_caches_of(const Engine& engine);

/// Used by one thread at a time.
class FixedCacheRuns {
 public:
  FixedCacheRuns(std::shared_ptr<LoadedEngine> loaded, FixedCaches caches);
  ~FixedCacheRuns();

  /// True if run() fills in the input itself, which it does for caches and their length.
  bool is_own_input(size_t input) const;
  bool is_cache_output(size_t output) const;

  /// Processes the next tokens. `inputs` is in graph order; its entries for own inputs are ignored. Returns
  /// all outputs in host memory; caches are undefined. It copies no cache. Bad input, without any effect, if
  /// the caches have no room for the tokens, or if the batch differs from the previous one.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);
  /// The three parts of run(). execute() may be repeated: it then appends the same tokens at the same
  /// positions.
  void upload(std::span<const tensor::Tensor> inputs);
  void execute();
  std::vector<tensor::Tensor> download() const;
  /// From now on, the tokens of the last execution are valid.
  void advance() { length_ += fresh_; }

  /// Caches of tokens that were computed elsewhere, prepared for fill(). The argument has all inputs in graph
  /// order, of which own caches are used, each in float32 with its current length. Bad input for more tokens
  /// than the capacity, and for caches with different lengths.
  struct Filling {
    std::vector<tensor::Tensor> caches;
    int64_t batch = 0;
    int64_t length = 0;
  };
  Filling prepare(std::span<const tensor::Tensor> inputs) const;
  void fill(const Filling& filling);
  /// Returns a cache, selected by its output, after the last execution: float32, with its current length.
  tensor::Tensor cache(size_t output) const;

  /// The shapes of all inputs in graph order: those of the last upload, or those for which the engine was
  /// tuned.
  std::vector<Shape> shapes() const;
  /// True if watch() returns a watch after inputs were uploaded.
  bool can_be_watched();
  /// Watches the following executions on the inputs uploaded last; null if that is not possible.
  std::unique_ptr<DeviceWatch> watch();

  /// Forgets all tokens; the next run begins with caches of zeros.
  void reset();
  int64_t length() const { return length_; }
  /// Number of programs that are kept, one for each shape of the inputs.
  size_t bindings() const { return bound_.size(); }

 private:
  struct Bound;

  /// Represents the batch of a sequence whose caches do not exist yet.
  static constexpr int64_t kNoBatch = -1;

  void make_caches(int64_t batch);
  void synchronize() const;
  Bound& bound_for(std::span<const tensor::Tensor> inputs);

  std::shared_ptr<LoadedEngine> loaded_;
  Context context_;
  FixedCaches caches_;
  std::unique_ptr<tensor::Queue> queue_;
  int64_t batch_ = kNoBatch;
  /// Indexed by cache; each is both an input and an output.
  std::vector<tensor::TensorView> memory_;
  tensor::TensorView length_view_;
  std::vector<std::unique_ptr<Bound>> bound_;
  /// The bound runs of the last upload.
  Bound* current_ = nullptr;
  int64_t length_ = 0;
  int64_t fresh_ = 0;
};

}  // namespace hone::engine
