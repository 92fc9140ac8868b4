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
  /// With `sequence`, files beyond those of one run belong to the next run.
  Collector(const std::vector<InputSlot>& slots, bool sequence)
      : slots_(slots), sequence_(sequence), tensors_(slots.size()), given_(slots.size()) {}

  void add_npy(const std::string& file) {
    // Names and files may contain colons, so the longest prefix that names an input is taken.
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
    importer::ImageBatch batch = importer::image_input(files, slots_[index].type, preprocessing, forced);
    fitted_ = batch.fitted;
    set(index, batch.tensor, files.front());
  }
  int64_t fitted() const { return fitted_; }

  /// Returns the tensors of each run.
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
      if (!tensors_[i].defined() && !slots_[i].bound && !slots_[i].optional)
        fail_bad_input("input '{0}' of type {1} is given no file: add --input {0}:FILE.npy", slots_[i].name,
                       slots_[i].type.text());
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

  void set(size_t index, const Tensor& tensor, const std::string& file) {
    if (given_[index] && sequence_ && !slots_[index].bound) end_run();
    if (given_[index]) fail_bad_input("{}: input '{}' is given twice", file, slots_[index].name);
    if (slots_[index].bound && !runs_.empty())
      fail_bad_input("{}: input '{}' is bound: only the first run takes a file for it", file,
                     slots_[index].name);
    tensors_[index] = importer::array_input(tensor, slots_[index].name, slots_[index].type, file);
    given_[index] = true;
  }

  std::string names() const {
    std::vector<std::string> list;
    for (const InputSlot& slot : slots_) list.push_back(slot.name);
    return fmt::format("{}", fmt::join(list, ", "));
  }

  const std::vector<InputSlot>& slots_;
  bool sequence_;
  int64_t fitted_ = 0;
  std::vector<std::vector<Tensor>> runs_;
  /// Inputs of the run whose files are being read, and whether a file gave each of them.
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
  for (std::vector<Tensor>& tensors : collector.take())
    runs.push_back({std::move(tensors), images, collector.fitted()});
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
