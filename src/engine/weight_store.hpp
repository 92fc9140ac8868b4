// Constants in the arrangement that kernels want: packed once when an engine is built, mapped from its
// file afterwards.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tensor/round_weights.hpp"
#include "tensor/tensor.hpp"

namespace hone::engine {

/// A constant's name and the device's own word for an arrangement ("f32:OIhw8i8o").
using WeightKey = std::pair<std::string, std::string>;

/// Begins the word of a form that no other form can be made of ("!f32:..."): it does not stand for the plain
/// constant, which engine files then keep as well. A kernel may want another form for another shape or number
/// of threads, as oneDNN does of Winograd filters. Without such forms, engines of open shapes would lose
/// their fastest convolutions; the constant costs space only in the file, which is mapped.
inline constexpr char kFinalForm = '!';

/// Thrown for a packed form that is neither stored nor can be made from a stored one. The tactic that wants
/// it refuses; another may run the step.
class MissingForm : public Error {
 public:
  explicit MissingForm(const WeightKey& key)
      : Error(ErrorKind::kEnvironment,
              fmt::format("constant '{}' is stored in no form to make {} of; build the engine again",
                          key.first, key.second)) {}
};

/// Forms are added, and never change afterwards: kernels, engines and contexts share their bytes. Not safe
/// for concurrent use.
class WeightStore {
 public:
  /// The stored bytes (as uint8), or null.
  const tensor::Tensor* find(const WeightKey& key) const;
  /// Any stored form of the constant to repack from, so no final one; null when there is none.
  const std::pair<const WeightKey, const tensor::Tensor>* find_any(const std::string& constant) const;
  /// Adds the bytes, or returns what is there already.
  const tensor::Tensor& add(const WeightKey& key, tensor::Tensor bytes);
  /// The weights of a constant by tensor::round_weights(), worked out once for all forms made of them.
  const tensor::Tensor& rounded(const std::string& constant, const tensor::Tensor& weights, tensor::DType to,
                                tensor::FilterAxis axis);
  /// Forgets all but the named entries.
  void keep_only(const std::vector<WeightKey>& used);

  const std::map<WeightKey, const tensor::Tensor>& entries() const { return entries_; }
  int64_t total_bytes() const;

 private:
  std::map<WeightKey, const tensor::Tensor> entries_;
};

}  // namespace hone::engine
