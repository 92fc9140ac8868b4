// See run_inputs.hpp.
#include "cli/run_inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "import/input_files.hpp"
#include "tensor/npy.hpp"

namespace hone::cli {
namespace {

using importer::Layout;
using tensor::Tensor;

class Collector {
 public:
  explicit Collector(const std::vector<InputSlot>& slots) : slots_(slots), tensors_(slots.size()) {}

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
    for (const auto& [name, tensor] : tensor::read_npz(file)) {
      const auto index = index_of(name);
      if (!index) fail_bad_input("{}: the model has no input named '{}' ({})", file, name, names());
      set(*index, tensor, file);
    }
  }

  void add_images(const std::vector<std::string>& files, const importer::Preprocessing& preprocessing,
                  std::optional<Layout> forced) {
    const size_t index = next_empty(files.front());
    set(index, importer::image_input(files, slots_[index].type, preprocessing, forced), files.front());
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

  void set(size_t index, const Tensor& tensor, const std::string& file) {
    if (tensors_[index].defined()) {
      fail_bad_input("{}: input '{}' is given twice", file, slots_[index].name);
    }
    tensors_[index] = importer::array_input(tensor, slots_[index].name, slots_[index].type, file);
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
