// See inputs.hpp.
#include "bench/worker/inputs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/units.hpp"
#include "system/interruption.hpp"
#include "system/memory.hpp"
#include "system/monitor.hpp"

namespace hone::bench {
namespace {

using tensor::DType;
using tensor::Tensor;

constexpr int64_t kLargeSetBytes = 8 << 20;
/// Number of elements generated at once: some hundredths of a second, so that an interruption is noticed
/// soon.
constexpr int64_t kChunkElements = 1 << 20;

/// Fills consecutive elements; `first` is the index of the first one.
template <class T>
void fill(const InputInfo& input, int64_t first, std::span<T> values, base::Random* random) {
  const InputValues& rule = input.values;
  const int64_t row = input.shape.empty() ? 1 : std::max<int64_t>(1, input.shape.back());
  for (T& value : values) {
    switch (rule.kind) {
      case InputValues::Kind::kOnes: value = static_cast<T>(1); break;
      case InputValues::Kind::kBelow:
        value = static_cast<T>(random->below(static_cast<size_t>(rule.bound)));
        break;
      case InputValues::Kind::kCounting: value = static_cast<T>(rule.first + first++ % row); break;
      case InputValues::Kind::kConstant: value = static_cast<T>(static_cast<float>(rule.constant)); break;
      case InputValues::Kind::kGiven: {
        const std::span<const T> given = rule.given->values<T>();
        value = given[static_cast<size_t>(first++) % given.size()];
        break;
      }
      case InputValues::Kind::kAny:
        if constexpr (std::is_same_v<T, bool>) {
          value = (random->next() & 1) != 0;
        } else if constexpr (std::is_integral_v<T>) {
          value = static_cast<T>(1 + random->below(9));
        } else {
          value = static_cast<T>(static_cast<float>(random->normal()));
        }
    }
  }
}

int64_t unit_bytes(const InputInfo& input) {
  const auto count = tensor::element_count(input.shape);
  return base::checked_mul<int64_t>(count, static_cast<int64_t>(tensor::dtype_size(input.dtype)));
}

/// Bytes between the starts of consecutive sets; 0 if all sets have the same values.
int64_t set_stride(const ModelInfo& model, const InputInfo& input, int64_t batch) {
  if (model.dynamic_batch && !input.batched) return 0;
  return base::checked_mul(unit_bytes(input), model.units(batch));
}

void require_written(const std::ofstream& file, const std::filesystem::path& path) {
  if (!file) fail_environment("{}: cannot write: {}", path.string(), std::strerror(errno));
}

/// A view of the mapped input file; the tensor keeps the mapping alive.
tensor::Tensor read_set(const InputFile& input, size_t set) {
  const auto file = std::make_shared<base::MappedFile>(input.file);
  const tensor::Tensor shape_only(input.dtype, input.shape);
  const auto bytes = file->bytes();
  const uint64_t offset = input.offsets[set];
  if (offset > bytes.size() || shape_only.byte_size() > bytes.size() - offset) {
    fail_bad_input("{}: set {} of input '{}' lies outside the file", input.file, set, input.name);
  }
  return tensor::Tensor(input.dtype, input.shape, bytes.data() + offset, file).clone();
}

}  // namespace

size_t count_sets(const ModelInfo& model, int64_t batch) {
  int64_t bytes = 0;
  for (const InputInfo& input : model.inputs) bytes += set_stride(model, input, batch);
  return bytes > kLargeSetBytes ? 2 : 4;
}

InputPool::InputPool(const ModelInfo& model, std::filesystem::path folder, const system::StopFlag* stop)
    : model_(model), folder_(std::move(folder)), stop_(stop == nullptr ? &system::interruption() : stop) {
  for (size_t i = 0; i < model.inputs.size(); ++i)
    parts_.push_back({folder_ / fmt::format("input_{}.bin", i), base::Random(model.hash + i)});
}

InputPool::InputPool(const ModelInfo& model, int64_t batch, std::filesystem::path folder)
    : InputPool(model, std::move(folder)) {
  reserve(batch);
}

void InputPool::reserve(int64_t batch) {
  const size_t sets = count_sets(model_, batch);
  require_room(batch, sets);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const InputInfo& input = model_.inputs[i];
    const bool shared = model_.dynamic_batch && !input.batched;
    grow(input, shared ? 1 : model_.units(batch) * static_cast<int64_t>(sets), &parts_[i]);
  }
}

void InputPool::require_room(int64_t batch, size_t sets) const {
  int64_t held = 0;     // by all workers together
  int64_t missing = 0;  // in the files
  for (size_t i = 0; i < parts_.size(); ++i) {
    const InputInfo& input = model_.inputs[i];
    const int64_t bytes = base::checked_mul(set_stride(model_, input, batch), static_cast<int64_t>(sets));
    held = base::checked_add(held, bytes);
    missing += std::max<int64_t>(0, bytes - parts_[i].units * unit_bytes(input));
  }
  const auto require = [&](int64_t needed, int64_t room, const std::string& whose) {
    if (needed <= room) return;
    fail_environment("the inputs of batch {} take {}, more than {} ({})", batch,
                     base::bytes_text(static_cast<double>(held)), whose,
                     base::bytes_text(static_cast<double>(room)));
  };
  require(held, system::memory_limit(), "tensors may take by HONE_MEMORY_LIMIT_MB or its default");
  if (const int64_t memory = system::available_memory(); memory > 0)
    require(held, memory, "the memory that is free");
  std::error_code unknown;
  const std::filesystem::space_info disk = std::filesystem::space(folder_, unknown);
  if (!unknown) require(missing, static_cast<int64_t>(disk.available), folder_.string() + " has room for");
}

void InputPool::grow(const InputInfo& input, int64_t units, Part* part) const {
  if (units <= part->units) return;
  const int64_t before = part->units * unit_bytes(input);
  Part grown = *part;
  grown.units = units;
  try {
    append(input, part->units, units, &grown);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::resize_file(part->file, static_cast<uintmax_t>(before), ignored);
    throw;
  }
  *part = std::move(grown);
}

void InputPool::append(const InputInfo& input, int64_t first_unit, int64_t end_unit, Part* part) const {
  std::ofstream file(part->file, std::ios::binary | (first_unit > 0 ? std::ios::app : std::ios::trunc));
  require_written(file, part->file);
  const int64_t end = end_unit * tensor::element_count(input.shape);
  for (int64_t at = first_unit * tensor::element_count(input.shape); at < end;) {
    if (*stop_) throw system::Interrupted{};
    Tensor values(input.dtype, {std::min(end - at, kChunkElements)});
    tensor::visit_dtype(input.dtype,
                        [&]<class T>() { fill(input, at, values.mutable_values<T>(), &part->random); });
    file.write(reinterpret_cast<const char*>(values.bytes()),
               static_cast<std::streamsize>(values.byte_size()));
    require_written(file, part->file);
    at += values.shape().front();
  }
  file.flush();
  require_written(file, part->file);
}

std::vector<InputFile> InputPool::at_batch(int64_t batch, size_t sets) const {
  std::vector<InputFile> inputs;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const InputInfo& info = model_.inputs[i];
    InputFile input{info.name, info.dtype, info.shape, parts_[i].file.string(), {}};
    if (info.batched) input.shape[0] = batch;
    for (size_t set = 0; set < sets; ++set) {
      input.offsets.push_back(static_cast<uint64_t>(set_stride(model_, info, batch)) * set);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::vector<std::vector<tensor::Tensor>> read_input_sets(const std::vector<InputFile>& inputs) {
  std::vector<std::vector<tensor::Tensor>> sets;
  const size_t count = inputs.empty() ? 1 : inputs.front().offsets.size();
  for (size_t set = 0; set < count; ++set) {
    std::vector<tensor::Tensor>& tensors = sets.emplace_back();
    for (const InputFile& input : inputs) {
      if (input.offsets.size() != count) fail_bad_input("input '{}' has another number of sets", input.name);
      tensors.push_back(read_set(input, set));
    }
  }
  return sets;
}

}  // namespace hone::bench
