// See weight_store.hpp.
#include "engine/weight_store.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hone::engine {

const tensor::Tensor* WeightStore::find(const WeightKey& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

const std::pair<const WeightKey, const tensor::Tensor>* WeightStore::find_any(
    const std::string& constant) const {
  for (auto entry = entries_.lower_bound({constant, ""});
       entry != entries_.end() && entry->first.first == constant; ++entry) {
    if (!entry->first.second.starts_with(kFinalForm)) return &*entry;
  }
  return nullptr;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved, through a forwarding reference.
const tensor::Tensor& WeightStore::add(const WeightKey& key, tensor::Tensor bytes) {
  return entries_.try_emplace(key, std::move(bytes)).first->second;
}

const tensor::Tensor& WeightStore::rounded(const std::string& constant, const tensor::Tensor& weights,
                                           tensor::DType to, tensor::FilterAxis axis) {
  const WeightKey key{constant, fmt::format("rounded-{}-{}", tensor::dtype_name(to),
                                            axis == tensor::FilterAxis::kFirst ? "first" : "last")};
  if (const tensor::Tensor* found = find(key)) return *found;
  return add(key, tensor::round_weights(weights, to, axis));
}

void WeightStore::keep_only(const std::vector<WeightKey>& used) {
  std::erase_if(entries_, [&](const auto& entry) {
    return std::find(used.begin(), used.end(), entry.first) == used.end();
  });
}

int64_t WeightStore::total_bytes() const {
  int64_t total = 0;
  for (const auto& [key, bytes] : entries_) total += bytes.size();
  return total;
}

}  // namespace hone::engine
