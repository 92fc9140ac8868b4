// Inputs of a sweep: several distinct sets of random values, seeded only by the model, so that every backend,
// precision and batch sees the same samples. Sample i is the same whatever the batch.
#pragma once

#include <filesystem>
#include <vector>

#include "base/random.hpp"
#include "bench/worker/model_info.hpp"
#include "bench/worker/protocol.hpp"
#include "system/process.hpp"

namespace hone::bench {

/// Sets that a run rotates through: several, so that no cache holds the one answer; few when they are large.
size_t count_sets(const ModelInfo& model, int64_t batch);

class InputPool {
 public:
  /// Writes one file per input into `folder`, which grows with the reserved batches. Values are as InputInfo
  /// says: where anything goes, floating-point ones are standard normal and integers in [1, 9], never all
  /// zero. Without a stop flag, what interrupts the whole command (interruption.hpp) ends the writing.
  InputPool(const ModelInfo& model, std::filesystem::path folder, const system::StopFlag* stop = nullptr);
  /// Makes a pool with one batch reserved.
  InputPool(const ModelInfo& model, int64_t batch, std::filesystem::path folder);

  /// Makes samples enough for every set at this batch. Environment error, before anything is written where
  /// that can be told, when memory or the disk does not hold them; what was reserved before stays.
  void reserve(int64_t batch);

  /// The inputs of one run at a batch that was reserved: set k holds samples k * batch to
  /// (k + 1) * batch - 1.
  std::vector<InputFile> at_batch(int64_t batch, size_t sets) const;

 private:
  /// One input's file so far.
  struct Part {
    std::filesystem::path file;
    base::Random random;  ///< gives the values after those that are written
    int64_t units = 0;
  };
  void require_room(int64_t batch, size_t sets) const;
  void grow(const InputInfo& input, int64_t units, Part* part) const;
  /// Writes units from the first to before the end. With the first of all, a file that another pool left in
  /// the folder is overwritten.
  void append(const InputInfo& input, int64_t first_unit, int64_t end_unit, Part* part) const;

  const ModelInfo& model_;
  std::filesystem::path folder_;
  const system::StopFlag* stop_;
  std::vector<Part> parts_;
};

/// The values of every set. Bad input when a file does not hold them.
std::vector<std::vector<tensor::Tensor>> read_input_sets(const std::vector<InputFile>& inputs);

}  // namespace hone::bench
