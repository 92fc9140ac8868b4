// See run_inputs.hpp.
#include "cli/run_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tensor/npy.hpp"
#include "tensor/saturate.hpp"

namespace hone::cli {
namespace {

using importer::Image;
using importer::Layout;
using tensor::Tensor;

bool is_channel_count(const graph::Dim& dim) { return dim.is(1) || dim.is(3); }

/// Of one image, or of a batch of them.
bool is_image(const graph::TensorType& type) {
  return type.ranked() && (type.dims->size() == 3 || type.dims->size() == 4);
}

/// Where the input has its channels: NCHW unless only the last axis can be 1 or 3 of them.
Layout layout_of(const graph::TensorType& type) {
  if (!is_image(type)) return Layout::kNchw;
  const graph::Dim& first = (*type.dims)[type.dims->size() - 3];
  const bool last = is_channel_count(type.dims->back()) && !is_channel_count(first);
  return last ? Layout::kNhwc : Layout::kNchw;
}

int64_t channels_of(const graph::TensorType& type, Layout layout) {
  if (!is_image(type)) return 3;
  return (*type.dims)[type.dims->size() - (layout == Layout::kNchw ? 3 : 1)].is(1) ? 1 : 3;
}

/// Integers take the pixels as they are, 0 to 255, unless somebody says otherwise.
importer::Preprocessing for_type(importer::Preprocessing preprocessing, tensor::DType dtype) {
  if (tensor::is_integer(dtype) && preprocessing.scale == importer::Preprocessing().scale)
    preprocessing.scale = 1;
  return preprocessing;
}

/// A batch of images, float32, in the input's element type, and without the batch where the input has none.
Tensor in_form_of(const graph::TensorType& type, Tensor batch) {
  const bool one = type.ranked() && type.dims->size() == 3 && batch.shape()[0] == 1;
  if (one) batch = batch.reshaped({batch.shape().begin() + 1, batch.shape().end()});
  if (type.dtype == tensor::DType::kUndefined) return batch;
  if (tensor::is_integer(type.dtype)) {
    Tensor whole(tensor::DType::kFloat32, batch.shape());
    std::ranges::transform(batch.values<float>(), whole.mutable_values<float>().begin(),
                           [](float value) { return std::nearbyint(value); });
    return whole.cast(type.dtype);
  }
  return tensor::saturated(batch, type.dtype);
}

/// No .npy holds bfloat16: numbers of other floating types stand for it.
Tensor as_bfloat16(const Tensor& tensor) {
  if (!tensor::is_floating(tensor.dtype())) return tensor;
  return tensor::saturated(tensor.cast(tensor::DType::kFloat32), tensor::DType::kBFloat16);
}

class Collector {
 public:
  /// `sequence`: files beyond those of one run are of the next.
  Collector(const std::vector<InputSlot>& slots, bool sequence)
      : slots_(slots), sequence_(sequence), tensors_(slots.size()), given_(slots.size()) {}

  void add_npy(const std::string& file) {
    // Names and files may hold colons, too: the longest name that is an input's.
    for (size_t at = file.rfind(':'); at != std::string::npos && at > 0; at = file.rfind(':', at - 1)) {
      if (const auto named = index_of(file.substr(0, at)))
        return set(*named, tensor::read_npy(file.substr(at + 1)), file);
    }
    const size_t colon = file.find(':');
    if (colon != std::string::npos && !std::filesystem::exists(file) &&
        std::filesystem::exists(file.substr(colon + 1)))
      fail_usage("--input {}: the model has no input named '{}' ({})", file, file.substr(0, colon), names());
    set(next_empty(file), tensor::read_npy(file), file);
  }

  void add_npz(const std::string& file) {
    for (auto& [name, tensor] : tensor::read_npz(file)) {
      const auto index = index_of(name);
      if (!index) fail_bad_input("{}: the model has no input named '{}' ({})", file, name, names());
      set(*index, std::move(tensor), file);
    }
  }

  void add_images(const std::vector<std::string>& files, const importer::Preprocessing& preprocessing,
                  std::optional<Layout> forced) {
    const size_t index = next_empty(files.front());
    const graph::TensorType& type = slots_[index].type;
    const Layout layout = forced.value_or(layout_of(type));
    std::vector<Image> images;
    for (const std::string& file : files) {
      images.push_back(importer::read_image(file, channels_of(type, layout)));
    }
    const Tensor batch = importer::images_to_tensor(images, for_type(preprocessing, type.dtype), layout);
    set(index, in_form_of(type, batch), files.front());
  }

  /// The tensors of each run.
  std::vector<std::vector<Tensor>> take() {
    end_run();
    return std::move(runs_);
  }

 private:
  std::optional<size_t> index_of(const std::string& name) const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].name == name) return i;
    }
    return std::nullopt;
  }

  void end_run() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!tensors_[i].defined() && !slots_[i].bound)
        fail_bad_input("input '{}' of type {} is given no file", slots_[i].name, slots_[i].type.text());
    }
    runs_.push_back(tensors_);
    std::fill(given_.begin(), given_.end(), false);
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].bound) tensors_[i] = Tensor();
    }
  }

  std::optional<size_t> free_slot() const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!given_[i] && !slots_[i].bound) return i;
    }
    return std::nullopt;
  }

  size_t next_empty(const std::string& file) {
    if (sequence_ && !free_slot()) end_run();
    const auto found = free_slot();
    if (!found) {
      fail_bad_input("{} is one file too many: other files give {} already", file,
                     slots_.size() == 1 ? fmt::format("the model's one input, '{}',", slots_.front().name)
                                        : fmt::format("all {} inputs of the model", slots_.size()));
    }
    return *found;
  }

  void set(size_t index, Tensor tensor, const std::string& file) {
    if (given_[index] && sequence_ && !slots_[index].bound) end_run();
    if (given_[index]) fail_bad_input("{}: input '{}' is given twice", file, slots_[index].name);
    if (slots_[index].bound && !runs_.empty())
      fail_bad_input("{}: input '{}' is bound: only the first run takes a file for it", file,
                     slots_[index].name);
    if (slots_[index].type.dtype == tensor::DType::kBFloat16) tensor = as_bfloat16(tensor);
    check_type(slots_[index], tensor, file);
    tensors_[index] = std::move(tensor);
    given_[index] = true;
  }

  static void check_type(const InputSlot& slot, const Tensor& tensor, const std::string& file) {
    const graph::TensorType& wanted = slot.type;
    bool fits = wanted.dtype == tensor::DType::kUndefined || wanted.dtype == tensor.dtype();
    if (wanted.ranked()) {
      fits = fits && wanted.dims->size() == tensor.shape().size();
      for (size_t i = 0; fits && i < wanted.dims->size(); ++i) {
        const graph::Dim& dim = (*wanted.dims)[i];
        fits = !dim.known() || dim.value() == tensor.shape()[i];
      }
    }
    if (fits) return;
    fail_bad_input("{}: {}[{}] does not fit input '{}' of type {}", file, tensor::dtype_name(tensor.dtype()),
                   tensor::shape_text(tensor.shape()), slot.name, wanted.text());
  }

  std::string names() const {
    std::vector<std::string> list;
    for (const InputSlot& slot : slots_) list.push_back(slot.name);
    return fmt::format("{}", fmt::join(list, ", "));
  }

  const std::vector<InputSlot>& slots_;
  bool sequence_;
  std::vector<std::vector<Tensor>> runs_;
  /// Of the run whose files are read now, and which of them it was given.
  std::vector<Tensor> tensors_;
  std::vector<bool> given_;
};

std::vector<RunInputs> read_runs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                                 const importer::Preprocessing& preprocessing, std::optional<Layout> layout,
                                 bool sequence) {
  Collector collector(slots, sequence);
  std::vector<std::string> images;
  for (const std::string& file : files) {
    const std::string extension = std::filesystem::path(file).extension().string();
    if (extension == ".npy") {
      collector.add_npy(file);
    } else if (extension == ".npz") {
      collector.add_npz(file);
    } else {
      images.push_back(file);
    }
  }
  if (!images.empty()) collector.add_images(images, preprocessing, layout);
  std::vector<RunInputs> runs;
  for (std::vector<Tensor>& tensors : collector.take()) runs.push_back({std::move(tensors), images});
  return runs;
}

}  // namespace

std::vector<std::string> names_in(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    for (size_t at = file.find(':'); at != std::string::npos; at = file.find(':', at + 1))
      names.push_back(file.substr(0, at));
    if (!file.ends_with(".npz") || !std::filesystem::exists(file)) continue;
    std::ranges::copy(tensor::npz_names(file), std::back_inserter(names));
  }
  return names;
}

RunInputs read_run_inputs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                          const importer::Preprocessing& preprocessing, std::optional<Layout> layout) {
  return std::move(read_runs(slots, files, preprocessing, layout, false).front());
}

std::vector<RunInputs> read_bound_inputs(const std::vector<InputSlot>& slots,
                                         const std::vector<std::string>& files,
                                         const importer::Preprocessing& preprocessing,
                                         std::optional<Layout> layout) {
  return read_runs(slots, files, preprocessing, layout, true);
}

}  // namespace hone::cli
