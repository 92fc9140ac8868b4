// See inputs.hpp.
#include "bench/inputs.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/file.hpp"
#include "base/random.hpp"

namespace hone::bench {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr int64_t kLargeSetBytes = 8 << 20;

template <class T>
void fill(std::span<T> values, base::Random* random) {
  for (T& value : values) {
    if constexpr (std::is_same_v<T, bool>) {
      value = (random->next() & 1) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(1 + random->below(9));
    } else {
      value = static_cast<T>(static_cast<float>(random->normal()));
    }
  }
}

int64_t unit_bytes(const InputInfo& input) {
  const auto count = tensor::element_count(input.shape);
  return base::checked_mul<int64_t>(count, static_cast<int64_t>(tensor::dtype_size(input.dtype)));
}

/// Bytes between the start of one set and the next; 0 where every set has the same values.
int64_t set_stride(const ModelInfo& model, const InputInfo& input, int64_t batch) {
  if (model.dynamic_batch && !input.batched) return 0;
  return base::checked_mul(unit_bytes(input), model.units(batch));
}

}  // namespace

size_t count_sets(const ModelInfo& model, int64_t batch) {
  int64_t bytes = 0;
  for (const InputInfo& input : model.inputs) bytes += set_stride(model, input, batch);
  return bytes > kLargeSetBytes ? 2 : 4;
}

InputPool::InputPool(const ModelInfo& model, int64_t max_batch, const std::filesystem::path& folder)
    : model_(model) {
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const InputInfo& input = model.inputs[i];
    const bool shared = model.dynamic_batch && !input.batched;
    // Small batches use more sets of fewer samples, so the largest batch decides unless it is tiny.
    const int64_t units =
        shared ? 1 : base::checked_mul<int64_t>(std::max<int64_t>(model.units(max_batch), 2), 4);
    const int64_t per_unit = tensor::element_count(input.shape);
    Tensor values(input.dtype, {units, per_unit});
    base::Random random(model.hash + i);
    tensor::visit_dtype(input.dtype, [&]<class T>() { fill(values.mutable_values<T>(), &random); });
    const std::filesystem::path file = folder / fmt::format("input_{}.bin", i);
    base::write_file_atomic(file, {reinterpret_cast<const char*>(values.bytes()), values.byte_size()});
    files_.push_back(file);
  }
}

std::vector<InputFile> InputPool::at_batch(int64_t batch, size_t sets) const {
  std::vector<InputFile> inputs;
  for (size_t i = 0; i < files_.size(); ++i) {
    const InputInfo& info = model_.inputs[i];
    InputFile input{info.name, info.dtype, info.shape, files_[i].string(), {}};
    if (info.batched) input.shape[0] = batch;
    for (size_t set = 0; set < sets; ++set) {
      input.offsets.push_back(static_cast<uint64_t>(set_stride(model_, info, batch)) * set);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace hone::bench
