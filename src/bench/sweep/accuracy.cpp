// See accuracy.hpp.
#include "bench/sweep/accuracy.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/shell_word.hpp"
#include "bench/sweep/reference_cache.hpp"
#include "tensor/metrics.hpp"

namespace hone::bench {
namespace {

using tensor::Tensor;

/// Number of samples that are compared; the reference takes seconds for each.
constexpr int64_t kSamples = 2;

std::vector<std::vector<Tensor>> run_reference(const ReferenceRequest& request, int64_t units) {
  WorkerClient worker(request.command, request.folder / "stderr.txt", request.timeout_seconds, request.stop);
  worker.hello("reference");
  LoadRequest load;
  load.setup.backend = "reference";
  load.setup.model = request.model.spec;
  load.setup.threads = request.threads;
  request.inputs.reserve(kSamples);
  load.inputs = request.inputs.at_batch(request.model.dynamic_batch ? 1 : request.model.fixed_batch,
                                        static_cast<size_t>(units));
  worker.load(load);
  std::vector<std::vector<Tensor>> outputs;
  for (size_t unit = 0; unit < static_cast<size_t>(units); ++unit) {
    std::vector<Tensor>& tensors = outputs.emplace_back();
    // One request for each unit, so that the time limit applies to each.
    const auto sets = worker.accuracy(std::span(&unit, 1), request.folder);
    for (const OutputFile& file : sets.front()) {
      tensors.push_back(read_output(file));
    }
  }
  worker.quit();
  return outputs;
}

/// Returns row `row` of `rows` along the first dimension as a tensor with batch 1; if there is only one row,
/// the tensor itself.
Tensor slice_unit(const Tensor& tensor, int64_t row, int64_t rows) {
  if (rows == 1) return tensor;
  tensor::Shape shape = tensor.shape();
  if (shape.empty() || shape.front() != rows) {
    fail_bad_input("the outputs have no batch dimension, so single samples cannot be compared");
  }
  shape.front() = 1;
  const size_t bytes = tensor.byte_size() / static_cast<size_t>(rows);
  Tensor slice(tensor.dtype(), shape);
  std::copy_n(tensor.bytes() + static_cast<size_t>(row) * bytes, bytes, slice.mutable_bytes());
  return slice;
}

bool all_finite(const Tensor& tensor) {
  if (!tensor::is_floating(tensor.dtype())) return true;
  const std::vector<double> values = tensor.to_double();
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

/// Computes the largest error of any output in any unit, and top-1 agreement on the first output.
class Comparison {
 public:
  void add(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (actual[i].shape() != expected[i].shape()) {
        fail_bad_input("output {} has shape {}, the reference's has {}", i,
                       tensor::shape_text(actual[i].shape()), tensor::shape_text(expected[i].shape()));
      }
      relative_l2_ = std::max(relative_l2_, tensor::relative_l2(actual[i], expected[i]));
      max_abs_ = std::max(max_abs_, tensor::max_abs(actual[i], expected[i]));
    }
    top1_ += tensor::top1_agreement(actual.front(), expected.front());
    ++units_;
  }
  void finish(Accuracy* accuracy) const {
    accuracy->relative_l2 = relative_l2_;
    accuracy->max_abs = max_abs_;
    accuracy->top1_agreement = top1_ / static_cast<double>(units_);
    accuracy->samples = units_;
  }

 private:
  double relative_l2_ = 0;
  double max_abs_ = 0;
  double top1_ = 0;
  int64_t units_ = 0;
};

}  // namespace

std::string impossible_outputs(const ModelInfo& model, const std::vector<Tensor>& expected,
                               const std::vector<OutputFile>& outputs, int64_t batch) {
  if (outputs.size() != expected.size())
    return fmt::format("there are {} outputs, the model has {}", outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size() && i < model.outputs.size(); ++i) {
    const tensor::Shape& shape = outputs[i].shape;
    const tensor::Shape& unit = expected[i].shape();
    graph::Dims known(unit.size());
    for (size_t axis = 0; model.outputs[i] && model.outputs[i]->size() == unit.size() && axis < unit.size();
         ++axis) {
      const graph::Dim& dim = (*model.outputs[i])[axis];
      // If only the inputs of a network were made dynamic, its outputs in the file still have batch 1.
      const bool may_be_batch = model.dynamic_batch && unit[axis] == 1;
      if (dim.is(unit[axis]) && !may_be_batch) known[axis] = dim;
      if (may_be_batch && !dim.symbol().empty() && dim.symbol() == model.batch_symbol)
        known[axis] = graph::Dim(batch);
    }
    bool possible = shape.size() == unit.size();
    for (size_t axis = 0; possible && axis < unit.size(); ++axis)
      possible = !known[axis].known() || known[axis].value() == shape[axis];
    if (!possible)
      return fmt::format("output {} has shape {}, the model's has {}", i, tensor::shape_text(shape),
                         graph::dims_text(known));
  }
  return "";
}

Tensor read_output(const OutputFile& file) {
  Tensor result(file.dtype, file.shape);
  const std::string content = base::read_file(file.file, static_cast<uint64_t>(tensor::kMaxTensorBytes));
  if (content.size() != result.byte_size()) {
    fail_bad_input("{}: output '{}' takes {} bytes, the file holds {}", file.file, file.name,
                   result.byte_size(), content.size());
  }
  std::copy_n(reinterpret_cast<const std::byte*>(content.data()), content.size(), result.mutable_bytes());
  return result;
}

ReferenceOutputs reference_outputs(const ReferenceRequest& request) {
  if (!request.model.engine_precision.empty())
    return ReferenceOutputs(
        fmt::format("an engine keeps its weights packed, which the reference cannot run; hone bench MODEL "
                    "--precisions {} measures the error of its model in this precision, and hone diff "
                    "--accuracy MODEL {} --input FILE that of the engine",
                    request.model.engine_precision, base::shell_word(request.model.spec)));
  if (!request.model.has_graph) return ReferenceOutputs("the reference cannot run a TorchScript archive");
  const int64_t units = request.model.dynamic_batch ? kSamples : 1;
  const std::filesystem::path cache = reference_cache_file(request.model.outputs_hash);
  if (auto cached = read_reference_cache(cache)) return ReferenceOutputs(std::move(*cached));
  try {
    std::vector<std::vector<Tensor>> outputs = run_reference(request, units);
    write_reference_cache(cache, outputs);
    return ReferenceOutputs(std::move(outputs));
  } catch (const Error& error) {
    return ReferenceOutputs(fmt::format("the reference failed: {}", error.what()));
  }
}

Accuracy compare_to_reference(const ReferenceOutputs& reference,
                              const std::vector<std::vector<OutputFile>>& outputs, int64_t units_per_set) {
  Accuracy accuracy;
  std::vector<std::vector<Tensor>> sets;
  for (const auto& files : outputs) {
    std::vector<Tensor>& tensors = sets.emplace_back();
    for (const OutputFile& file : files) {
      tensors.push_back(read_output(file));
      accuracy.finite = accuracy.finite && all_finite(tensors.back());
    }
  }
  try {
    Comparison comparison;
    for (int64_t unit = 0; unit < reference.units(); ++unit) {
      const std::vector<Tensor>& expected = reference.unit(unit);
      const std::vector<Tensor>& set = sets.at(static_cast<size_t>(unit / units_per_set));
      if (set.size() != expected.size()) {
        fail_bad_input("there are {} outputs, the reference has {}", set.size(), expected.size());
      }
      std::vector<Tensor> actual;
      for (const Tensor& output : set)
        actual.push_back(slice_unit(output, unit % units_per_set, units_per_set));
      comparison.add(actual, expected);
    }
    comparison.finish(&accuracy);
  } catch (const Error& error) {
    accuracy.reason = error.sentence();
  }
  return accuracy;
}

}  // namespace hone::bench
