// Parameters from a safetensors file; see weights.hpp.
#include <algorithm>
#include <set>

#include "import/safetensors.hpp"
#include "import/zoo/weights.hpp"

namespace hone::importer {
namespace {

/// Counters in torchvision's state_dict that only training uses.
constexpr std::string_view kTrainingCounter = ".num_batches_tracked";

/// Returns the name of a normalization's parameter in files that were converted from TensorFlow.
std::string older_name(const std::string& name) {
  constexpr std::string_view kWeight = ".weight";
  constexpr std::string_view kBias = ".bias";
  if (name.ends_with(kWeight)) return name.substr(0, name.size() - kWeight.size()) + ".gamma";
  if (name.ends_with(kBias)) return name.substr(0, name.size() - kBias.size()) + ".beta";
  return name;
}

class FileWeights final : public WeightSource {
 public:
  FileWeights(const std::filesystem::path& file, FileNames names)
      : file_(file), names_(std::move(names)), tensors_(read_safetensors(file)) {
    const bool prefixed = std::any_of(tensors_.begin(), tensors_.end(), [&](const auto& item) {
      return !names_.prefix.empty() && item.first.starts_with(names_.prefix);
    });
    if (prefixed) prefix_ = names_.prefix;
  }

  tensor::Tensor make(const ParameterSpec& spec) override {
    auto found = tensors_.find(prefix_ + spec.name);
    if (found == tensors_.end()) found = tensors_.find(prefix_ + older_name(spec.name));
    if (found == tensors_.end()) fail(fmt::format("tensor '{}' is missing", prefix_ + spec.name));
    const tensor::Tensor& tensor = found->second;
    if (!is_read(tensor.dtype()) || tensor.shape() != spec.shape) {
      fail(fmt::format("tensor '{}' is {}[{}], expected float32[{}]", found->first,
                       tensor::dtype_name(tensor.dtype()), tensor::shape_text(tensor.shape()),
                       tensor::shape_text(spec.shape)));
    }
    used_.insert(found->first);
    if (tensor.dtype() == tensor::DType::kFloat32) return tensor;
    return tensor.cast(tensor::DType::kFloat32);
  }

  void finish() override {
    for (const auto& [name, tensor] : tensors_) {
      if (used_.contains(name) || is_ignored(name)) continue;
      fail(fmt::format("tensor '{}' is no parameter of this architecture", name));
    }
  }

 private:
  [[noreturn]] void fail(std::string sentence) const {
    throw Error(ErrorKind::kBadInput, std::move(sentence), file_.string());
  }

  static bool is_read(tensor::DType dtype) {
    return dtype == tensor::DType::kFloat32 || dtype == tensor::DType::kFloat16 ||
           dtype == tensor::DType::kBFloat16;
  }

  bool is_ignored(const std::string& name) const {
    if (name.ends_with(kTrainingCounter) || !name.starts_with(prefix_)) return true;
    return std::any_of(names_.ignored.begin(), names_.ignored.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
  }

  std::filesystem::path file_;
  FileNames names_;
  NamedTensors tensors_;
  std::string prefix_;
  std::set<std::string> used_;
};

}  // namespace

std::unique_ptr<WeightSource> file_weights(const std::filesystem::path& file, FileNames names) {
  return std::make_unique<FileWeights>(file, std::move(names));
}

}  // namespace hone::importer
