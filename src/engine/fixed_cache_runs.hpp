// Runs of an engine whose caches have a fixed capacity (transform/fixed_caches.hpp): they stay where they
// are, and each run appends its tokens to them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/carried_state.hpp"
#include "engine/context.hpp"

namespace hone::engine {

/// Which inputs and outputs of an engine are caches of a fixed capacity. An engine says so in its metadata,
/// where a model of a fixed capacity was built.
struct FixedCaches {
  std::vector<Carry> caches;
  /// Dimension of a cache along which tokens lie, and how many it has.
  size_t axis = 0;
  int64_t capacity = 0;
  /// How many tokens are there, int64 [1].
  size_t length_input = 0;
  /// An input that has one element for every new token along this dimension.
  size_t tokens_input = 0;
  size_t tokens_axis = 0;
};

/// Gives the caches of a model, by texts as parse_carries() has them, this capacity and this type, which is
/// float32 or narrower, and says so in the metadata. Usage error for texts that fit nothing, bad input for a
/// model whose caches cannot have one.
std::shared_ptr<const graph::Graph> with_fixed_caches(const graph::Graph& graph,
                                                      std::span<const std::string> bind, int64_t capacity,
                                                      tensor::DType stored,
                                                      std::map<std::string, std::string>* metadata);

/// Reads the caches from the metadata of the engine; nothing if it has none. Bad input where they do not fit
/// its graph.
std::optional<FixedCaches> fixed_caches_of(const Engine& engine);

/// Used by one thread at a time.
class FixedCacheRuns {
 public:
  FixedCacheRuns(std::shared_ptr<LoadedEngine> loaded, FixedCaches caches);
  ~FixedCacheRuns();

  /// True if run() fills in the input itself: caches and their length.
  bool is_own_input(size_t input) const;
  bool is_cache_output(size_t output) const;

  /// The next tokens: inputs in graph order, of which those of its own count for nothing. Gives all outputs,
  /// on the host, caches without a value. Copies no cache. Bad input, and nothing done, when the caches have
  /// no room for the tokens, or when the batch is another one than before.
  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs);
  /// run() in three parts. execute() may be repeated: it appends the same tokens at the same places.
  void upload(std::span<const tensor::Tensor> inputs);
  void execute();
  std::vector<tensor::Tensor> download() const;
  /// The tokens of the last execution count as there.
  void advance() { length_ += fresh_; }

  /// The caches of tokens that were computed elsewhere, ready for fill(): of all inputs in graph order those
  /// of its own caches, each float32 as long as it is. Bad input for more tokens than the capacity, and for
  /// caches of different lengths.
  struct Filling {
    std::vector<tensor::Tensor> caches;
    int64_t batch = 0;
    int64_t length = 0;
  };
  Filling prepare(std::span<const tensor::Tensor> inputs) const;
  void fill(const Filling& filling);
  /// A cache, by its output, as it is after the last execution: float32 and as long as it is.
  tensor::Tensor cache(size_t output) const;

  /// The shapes of all inputs in graph order: those of the last upload, or what the engine was tuned for.
  std::vector<Shape> shapes() const;
  /// True if watch() returns a watch once inputs were uploaded.
  bool can_be_watched();
  /// Watches the following executions on the inputs uploaded last; null where it cannot.
  std::unique_ptr<DeviceWatch> watch();

  /// Forgets all tokens; the next run begins with caches of zeros.
  void reset();
  int64_t length() const { return length_; }
  /// Programs that are kept, one for each shape of the inputs.
  size_t bindings() const { return bound_.size(); }

 private:
  struct Bound;

  /// Stands for the batch of a sequence whose caches do not exist yet.
  static constexpr int64_t kNoBatch = -1;

  void make_caches(int64_t batch);
  void synchronize() const;
  Bound& bound_for(std::span<const tensor::Tensor> inputs);

  std::shared_ptr<LoadedEngine> loaded_;
  Context context_;
  FixedCaches caches_;
  std::unique_ptr<tensor::Queue> queue_;
  int64_t batch_ = kNoBatch;
  /// Indexed by cache; each is an input and an output.
  std::vector<tensor::TensorView> memory_;
  tensor::TensorView length_view_;
  std::vector<std::unique_ptr<Bound>> bound_;
  /// The bound runs of the last upload.
  Bound* current_ = nullptr;
  int64_t length_ = 0;
  int64_t fresh_ = 0;
};

}  // namespace hone::engine
