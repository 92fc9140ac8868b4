// See data.hpp.
#include "quantize/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/error.hpp"
#include "import/input_files.hpp"
#include "quantize/batch_program.hpp"
#include "tensor/convert.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

namespace fs = std::filesystem;
using tensor::Tensor;

constexpr std::string_view kProgramPrefix = "exec:";

std::string extension_of(const std::string& file) {
  std::string extension = fs::path(file).extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

bool is_array_file(const std::string& file) {
  const std::string extension = extension_of(file);
  return extension == ".npy" || extension == ".npz";
}

bool is_data_file(const std::string& file) {
  const std::string extension = extension_of(file);
  return is_array_file(file) || extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

void add_folder(const std::string& folder, std::vector<std::string>* files) {
  const size_t before = files->size();
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_data_file(entry.path().string()))
      files->push_back(entry.path().string());
  }
  if (files->size() == before)
    fail_bad_input("{}: the folder holds no .png, .jpg, .jpeg, .npz or .npy file", folder);
  std::sort(files->begin() + static_cast<std::ptrdiff_t>(before), files->end());
}

/// True if axis 0 of every input is the same dimension.
bool is_batched(const graph::Graph& graph) {
  const graph::Dim* first = nullptr;
  for (const graph::ValueId id : graph.inputs) {
    const graph::TensorType& type = graph.value(id).type;
    if (!type.ranked() || type.dims->empty()) return false;
    const graph::Dim& dim = type.dims->front();
    if (first == nullptr) first = &dim;
    const bool same =
        dim.known() ? first->known() && first->is(dim.value()) : dim.symbol() == first->symbol();
    if (!same) return false;
  }
  return true;
}

/// Returns entry `index` of axis 0 without copying.
Tensor entry_of(const Tensor& tensor, int64_t index) {
  tensor::Shape shape = tensor.shape();
  const size_t bytes = shape[0] == 0 ? 0 : tensor.byte_size() / static_cast<size_t>(shape[0]);
  shape[0] = 1;
  const auto owner = std::make_shared<const Tensor>(tensor);
  return {tensor.dtype(), shape, tensor.bytes() + static_cast<size_t>(index) * bytes, owner};
}

void refuse_nan(const Tensor& tensor, const std::string& name, const std::string& file) {
  if (!tensor::is_floating(tensor.dtype())) return;
  const Tensor floats =
      tensor.dtype() == tensor::DType::kFloat32 ? tensor : tensor.cast(tensor::DType::kFloat32);
  const auto values = floats.values<float>();
  const auto found =
      std::find_if(values.begin(), values.end(), [](float value) { return std::isnan(value); });
  if (found != values.end())
    fail_bad_input("{}: the values for input '{}' hold NaN at element {}", file, name,
                   found - values.begin());
}

}  // namespace

CalibrationData::CalibrationData(const graph::Graph& graph, DataOptions options)
    : graph_(graph), options_(std::move(options)), batched_(is_batched(graph)) {
  if (graph.inputs.empty()) fail_usage("the model has no inputs: there is nothing to calibrate it with");
  const graph::TensorType& type = graph.value(graph.inputs.front()).type;
  if (batched_ && type.dims->front().known())
    batch_ = static_cast<size_t>(std::max<int64_t>(type.dims->front().value(), 1));
  open_ = batched_ && !type.dims->front().known();
  if (open_) batch_ = static_cast<size_t>(std::max<int64_t>(options_.together, 1));
  for (const std::string& source : options_.sources) {
    if (source.starts_with(kProgramPrefix)) {
      commands_.push_back(source.substr(kProgramPrefix.size()));
    } else if (fs::is_directory(source)) {
      add_folder(source, &files_);
    } else if (fs::exists(source)) {
      files_.push_back(source);
    } else {
      fail_bad_input("{}: no such file or folder", source);
    }
  }
}

CalibrationData::~CalibrationData() = default;

std::optional<double> CalibrationData::progress() const {
  const double wanted = static_cast<double>(options_.limit);
  const double by_limit = options_.limit > 0 ? static_cast<double>(given_) / wanted : 0;
  if (!commands_.empty() || program_ != nullptr)
    return options_.limit > 0 ? std::optional(by_limit) : std::nullopt;
  // A sample that was read but not used yet does not count as done.
  const double read = static_cast<double>(next_file_ + next_given_);
  const double samples = static_cast<double>(given_) + static_cast<double>(waiting_.size());
  const double share = samples > 0 ? static_cast<double>(given_) / samples : 0;
  const double files = static_cast<double>(files_.size() + options_.given.size());
  const double by_files = files > 0 ? read * share / files : 1;
  return std::min(1.0, std::max(by_files, by_limit));
}

std::optional<Samples> CalibrationData::next() {
  if (options_.limit > 0 && given_ >= options_.limit) return std::nullopt;
  while (waiting_.size() < batch_ && read_more()) {
  }
  if (open_ && !waiting_.empty()) {
    size_t count = count_alike();
    if (options_.limit > 0) count = std::min(count, static_cast<size_t>(options_.limit - given_));
    given_ += static_cast<int64_t>(count);
    return joined(count);
  }
  if (waiting_.size() < batch_) {
    left_over_ = static_cast<int64_t>(waiting_.size());
    if (given_ > 0) return std::nullopt;
    if (left_over_ > 0)
      fail_bad_input("the calibration data hold {} samples, and the model's batch is {}", left_over_, batch_);
    fail_bad_input("the calibration data hold no samples");
  }
  Samples result = joined(batch_);
  given_ += result.count;
  return result;
}

bool CalibrationData::read_more() {
  if (next_given_ < options_.given.size()) {
    add(options_.given[next_given_++], "a sample in memory");
    return true;
  }
  if (next_file_ < files_.size()) return read_file(files_[next_file_++]);
  if (program_ == nullptr) {
    if (commands_.empty()) return false;
    program_ = std::make_unique<BatchProgram>(commands_.front());
    commands_.erase(commands_.begin());
  }
  if (const auto file = program_->next()) return read_file(*file);
  program_.reset();
  return !commands_.empty();
}

bool CalibrationData::read_file(const std::string& file) {
  const graph::Value& first = graph_.value(graph_.inputs.front());
  const std::string extension = extension_of(file);
  if (extension == ".npz") {
    add_arrays(file, tensor::read_npz(file));
    return true;
  }
  if (graph_.inputs.size() != 1) {
    fail_bad_input("{}: it is for one input, and the model has {} (.npz files hold arrays for all)", file,
                   graph_.inputs.size());
  }
  if (extension == ".npy") {
    add_arrays(file, {{first.name, tensor::read_npy(file)}});
    return true;
  }
  has_images_ = true;
  try {
    const std::string files[] = {file};
    const importer::ImageBatch image =
        importer::image_input(files, first.type, options_.preprocessing, options_.layout);
    if (image.fitted > 0 && options_.on_fitted) options_.on_fitted(image.fitted);
    add({importer::array_input(image.tensor, first.name, first.type, file, batched_)}, file);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput || std::string_view(error.what()).starts_with(file)) throw;
    throw error.within(file);
  }
  return true;
}

void CalibrationData::add_arrays(const std::string& file,
                                 const std::vector<std::pair<std::string, Tensor>>& arrays) {
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph_.inputs) {
    const graph::Value& value = graph_.value(id);
    const auto found =
        std::ranges::find_if(arrays, [&](const auto& named) { return named.first == value.name; });
    if (found == arrays.end()) fail_bad_input("{}: it holds no array for input '{}'", file, value.name);
    inputs.push_back(importer::array_input(found->second, value.name, value.type, file, batched_));
    refuse_nan(inputs.back(), value.name, file);
  }
  add(std::move(inputs), file);
}

void CalibrationData::add(std::vector<Tensor> inputs, const std::string& file) {
  if (!batched_) {
    waiting_.push_back({std::move(inputs), file});
    return;
  }
  const int64_t count = inputs.front().shape()[0];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape()[0] == count) continue;
    fail_bad_input("{}: it holds {} samples for input '{}' and {} for input '{}'", file, count,
                   graph_.value(graph_.inputs.front()).name, inputs[i].shape()[0],
                   graph_.value(graph_.inputs[i]).name);
  }
  if (count == 0) fail_bad_input("{}: it holds no samples", file);
  for (int64_t k = 0; k < count; ++k) {
    Sample sample{{}, count == 1 ? file : fmt::format("{}[{}]", file, k)};
    for (const Tensor& input : inputs) sample.inputs.push_back(count == 1 ? input : entry_of(input, k));
    waiting_.push_back(std::move(sample));
  }
}

size_t CalibrationData::count_alike() const {
  size_t count = 1;
  const auto is_alike = [&](const Sample& sample) {
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      if (sample.inputs[i].shape() != waiting_.front().inputs[i].shape()) return false;
    }
    return true;
  };
  while (count < batch_ && count < waiting_.size() && is_alike(waiting_[count])) ++count;
  return count;
}

Samples CalibrationData::joined(size_t count) {
  Samples result;
  result.count = static_cast<int64_t>(count);
  for (size_t k = 0; k < count; ++k) result.sources.push_back(waiting_[k].source);
  if (count == 1) {
    result.inputs = std::move(waiting_.front().inputs);
    waiting_.pop_front();
    return result;
  }
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Tensor& first = waiting_.front().inputs[i];
    tensor::Shape shape = first.shape();
    shape[0] = static_cast<int64_t>(count);
    Tensor batch(first.dtype(), shape);
    for (size_t k = 0; k < count; ++k) {
      const Tensor& entry = waiting_[k].inputs[i];
      if (entry.shape() != first.shape())
        fail_bad_input("{}: [{}] cannot stand in one batch with [{}]", waiting_[k].source,
                       tensor::shape_text(entry.shape()), tensor::shape_text(first.shape()));
      std::memcpy(batch.mutable_bytes() + k * first.byte_size(), entry.bytes(), entry.byte_size());
    }
    result.inputs.push_back(std::move(batch));
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  return result;
}

}  // namespace hone::quantize
