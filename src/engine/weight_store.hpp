// Constants in the arrangements that kernels need: packed once when an engine is built, and mapped from its
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

/// A constant's name, and the device's own name of an arrangement ("f32:OIhw8i8o").
using WeightKey = std::pair<std::string, std::string>;

/// First character of the name of a form from which no other form can be made ("!f32:..."). It does not
/// replace the plain constant, so engine files also keep that. A kernel may need another form for another
/// shape or number of threads, as oneDNN does for Winograd filters. Without such forms, engines with open
/// shapes would lose their fastest convolutions; the plain constant only takes space in the file, which is
/// mapped.
inline constexpr char kFinalForm = '!';

/// Thrown if a packed form is neither stored nor can be made from a stored one. The tactic that needs it
/// refuses; another tactic may run the step.
class MissingForm : public Error {
 public:
  explicit MissingForm(const WeightKey& key)
      : Error(ErrorKind::kEnvironment,
              fmt::format("constant '{}' is stored in no form to make {} of; build the engine again",
                          key.first, key.second)) {}
};

/// Forms are added, and never change afterwards, because kernels, engines and contexts share their bytes. Not
/// safe for concurrent use.
class WeightStore {
 public:
  /// The stored bytes (as uint8), or null.
  const tensor::Tensor* find(const WeightKey& key) const;
  /// Any stored form of the constant that can be repacked, so not a final one; null if there is none.
  const std::pair<const WeightKey, const tensor::Tensor>* find_any(const std::string& constant) const;
  /// Adds the bytes, or returns those already stored.
  const tensor::Tensor& add(const WeightKey& key, tensor::Tensor bytes);
  /// The weights of a constant rounded by tensor::round_weights(); computed once for all forms made from
  /// them.
  const tensor::Tensor& rounded(const std::string& constant, const tensor::Tensor& weights, tensor::DType to,
                                tensor::FilterAxis axis);
  /// Removes all entries except the named ones.
  void keep_only(const std::vector<WeightKey>& used);

  const std::map<WeightKey, const tensor::Tensor>& entries() const { return entries_; }
  int64_t total_bytes() const;

 private:
  std::map<WeightKey, const tensor::Tensor> entries_;
};

}  // namespace hone::engine
