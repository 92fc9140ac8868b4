// Parameters from a safetensors file; see weights.hpp.
#include <set>

#include "import/safetensors.hpp"
#include "import/zoo/weights.hpp"

namespace hone::importer {
namespace {

/// Counters that torchvision's state_dict holds for training only.
constexpr std::string_view kTrainingCounter = ".num_batches_tracked";

class FileWeights final : public WeightSource {
 public:
  explicit FileWeights(const std::filesystem::path& file) : file_(file), tensors_(read_safetensors(file)) {}

  tensor::Tensor make(const ParameterSpec& spec) override {
    const auto found = tensors_.find(spec.name);
    if (found == tensors_.end()) fail(fmt::format("tensor '{}' is missing", spec.name));
    const tensor::Tensor& tensor = found->second;
    if (tensor.dtype() != tensor::DType::kFloat32 || tensor.shape() != spec.shape) {
      fail(fmt::format("tensor '{}' is {}[{}], expected float32[{}]", spec.name,
                       tensor::dtype_name(tensor.dtype()), tensor::shape_text(tensor.shape()),
                       tensor::shape_text(spec.shape)));
    }
    used_.insert(spec.name);
    return tensor;
  }

  void finish() override {
    for (const auto& [name, tensor] : tensors_) {
      if (name.ends_with(kTrainingCounter) || used_.contains(name)) continue;
      fail(fmt::format("tensor '{}' is no parameter of this architecture", name));
    }
  }

 private:
  [[noreturn]] void fail(std::string sentence) const {
    throw Error(ErrorKind::kBadInput, std::move(sentence), file_.string());
  }

  std::filesystem::path file_;
  NamedTensors tensors_;
  std::set<std::string> used_;
};

}  // namespace

std::unique_ptr<WeightSource> file_weights(const std::filesystem::path& file) {
  return std::make_unique<FileWeights>(file);
}

}  // namespace hone::importer
