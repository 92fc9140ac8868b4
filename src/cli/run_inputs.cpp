// See run_inputs.hpp.
#include "cli/run_inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "tensor/npy.hpp"

namespace hone::cli {
namespace {

using importer::Image;
using importer::Layout;
using tensor::Tensor;

bool is_channel_count(const graph::Dim& dim) { return dim.is(1) || dim.is(3); }

/// Where the input has its channels: NCHW unless only the last axis can be 1 or 3 of them.
Layout layout_of(const graph::TensorType& type) {
  if (!type.ranked() || type.dims->size() != 4) return Layout::kNchw;
  const bool last = is_channel_count((*type.dims)[3]) && !is_channel_count((*type.dims)[1]);
  return last ? Layout::kNhwc : Layout::kNchw;
}

int64_t channels_of(const graph::TensorType& type, Layout layout) {
  if (!type.ranked() || type.dims->size() != 4) return 3;
  return (*type.dims)[layout == Layout::kNchw ? 1 : 3].is(1) ? 1 : 3;
}

class Collector {
 public:
  explicit Collector(const std::vector<InputSlot>& slots) : slots_(slots), tensors_(slots.size()) {}

  void add_npy(const std::string& file) {
    const size_t colon = file.find(':');
    const auto named = colon == std::string::npos ? std::nullopt : index_of(file.substr(0, colon));
    if (named) return set(*named, tensor::read_npy(file.substr(colon + 1)), file);
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
    set(index, importer::images_to_tensor(images, preprocessing, layout), files.front());
  }

  std::vector<Tensor> take() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!tensors_[i].defined()) {
        fail_bad_input("input '{}' of type {} is given no file", slots_[i].name, slots_[i].type.text());
      }
    }
    return std::move(tensors_);
  }

 private:
  std::optional<size_t> index_of(const std::string& name) const {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].name == name) return i;
    }
    return std::nullopt;
  }

  size_t next_empty(const std::string& file) const {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [](const Tensor& tensor) { return !tensor.defined(); });
    if (found == tensors_.end()) {
      fail_bad_input("{} is one file too many: other files give {} already", file,
                     slots_.size() == 1 ? fmt::format("the model's one input, '{}',", slots_.front().name)
                                        : fmt::format("all {} inputs of the model", slots_.size()));
    }
    return static_cast<size_t>(found - tensors_.begin());
  }

  void set(size_t index, Tensor tensor, const std::string& file) {
    if (tensors_[index].defined()) {
      fail_bad_input("{}: input '{}' is given twice", file, slots_[index].name);
    }
    check_type(slots_[index], tensor, file);
    tensors_[index] = std::move(tensor);
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
  std::vector<Tensor> tensors_;
};

}  // namespace

RunInputs read_run_inputs(const std::vector<InputSlot>& slots, const std::vector<std::string>& files,
                          const importer::Preprocessing& preprocessing, std::optional<Layout> layout) {
  Collector collector(slots);
  RunInputs result;
  for (const std::string& file : files) {
    const std::string extension = std::filesystem::path(file).extension().string();
    if (extension == ".npy") {
      collector.add_npy(file);
    } else if (extension == ".npz") {
      collector.add_npz(file);
    } else {
      result.images.push_back(file);
    }
  }
  if (!result.images.empty()) collector.add_images(result.images, preprocessing, layout);
  result.tensors = collector.take();
  return result;
}

}  // namespace hone::cli
