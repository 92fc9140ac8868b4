// See conformance.hpp.
#include "bench/conformance/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include "backend/registry.hpp"
#include "graph/infer.hpp"
#include "import/onnx/case_file.hpp"
#include "import/onnx/import.hpp"

namespace hone::bench {
namespace {

namespace fs = std::filesystem;
using tensor::Tensor;

/// The ONNX project's generator has no bfloat16. It stores the bits as uint16 and truncates where the
/// specification rounds, which is an error of up to one unit in the last place.
constexpr double kStoredBFloat16Tolerance = 1.0 / 128;
/// A sum that differs in its last bits may be rounded to the adjacent float16, which is one unit in the last
/// place.
constexpr double kFloat16Tolerance = 1.0 / 1024;

/// Converts the stored tensor to the type that the model declares.
Tensor as_declared(Tensor stored, tensor::DType declared) {
  if (stored.dtype() != tensor::DType::kUInt16 || declared != tensor::DType::kBFloat16) return stored;
  const auto owner = std::make_shared<const Tensor>(std::move(stored));
  return Tensor(declared, owner->shape(), owner->bytes(), owner);
}

/// Reads input_0.pb, input_1.pb, … of a data set. Bad input if a tensor has another name than the graph's
/// value.
std::vector<Tensor> read_numbered(const fs::path& folder, const std::string& stem, const graph::Graph& graph,
                                  const std::vector<graph::ValueId>& ids) {
  std::vector<Tensor> result;
  for (size_t i = 0;; ++i) {
    const fs::path file = folder / fmt::format("{}_{}.pb", stem, i);
    if (!fs::exists(file)) return result;
    auto [name, stored] = importer::read_tensor_file(file);
    const graph::Value none;
    auto declared = tensor::DType::kUndefined;
    if (i < ids.size()) {
      const graph::Value& value = graph.value(ids[i]);
      declared = value.type.dtype;
      if (!name.empty() && name != value.name)
        fail_bad_input("{} is named '{}', the model's {} {} '{}'", file.filename().string(), name, stem, i,
                       value.name);
    }
    result.push_back(as_declared(std::move(stored), declared));
  }
}

std::vector<Tensor> synthetic_inputs(const graph::Graph& graph) {
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.value(id);
    if (value.type.dtype != tensor::DType::kFloat32 || !value.type.ranked()) {
      fail_bad_input("input '{}' is {}, inputs can be made for float32 of known rank only", value.name,
                     value.type.text());
    }
    tensor::Shape shape;
    for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.known() ? dim.value() : 1);
    Tensor input(tensor::DType::kFloat32, shape);
    auto values = input.mutable_values<float>();
    const auto count = static_cast<double>(values.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<double>(i) / count);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

struct DataSet {
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

std::vector<DataSet> read_data_sets(const ConformanceCase& test, const graph::Graph& graph) {
  if (test.flat) {
    fs::path output = test.model;
    output.replace_filename(test.model.stem().string() + "_output_0.pb");
    return {{"output_0", synthetic_inputs(graph), {importer::read_tensor_file(output).tensor}}};
  }
  std::vector<DataSet> sets;
  for (const auto& entry : fs::directory_iterator(test.model.parent_path())) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || !name.starts_with("test_data_set_")) continue;
    sets.push_back({name, read_numbered(entry.path(), "input", graph, graph.inputs),
                    read_numbered(entry.path(), "output", graph, graph.outputs)});
  }
  if (sets.empty()) fail_bad_input("the case has no test_data_set_N folder");
  return sets;
}

/// Returns the graph with the shapes of the given inputs. A few cases of the ONNX project declare a shape
/// that differs from that of their data (test_castlike_FLOAT_to_BFLOAT16); the data decide.
std::shared_ptr<const graph::Graph> for_inputs(const graph::Graph& graph, const std::vector<Tensor>& inputs) {
  graph::Graph result = graph;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const tensor::Shape& shape = inputs[i].shape();
    result.value(result.inputs[i]).type.dims = graph::Dims(shape.begin(), shape.end());
  }
  return std::make_shared<const graph::Graph>(graph::with_input_shapes(result, {}));
}

/// A type that can hold what a precision keeps of a number; for tf32 it is a narrower one.
tensor::DType rounded_type(tensor::Precision precision) {
  return precision == tensor::Precision::kFp16 ? tensor::DType::kFloat16 : tensor::DType::kBFloat16;
}

/// Half of the relative distance between adjacent numbers.
double unit_roundoff(tensor::Precision precision) {
  return std::ldexp(1.0, precision == tensor::Precision::kBf16 ? -8 : -11);
}

/// True if an engine converts values of this type to its own precision.
bool in_precision(tensor::DType dtype) { return dtype == tensor::DType::kFloat32 || tensor::is_half(dtype); }

/// Returns the set with float inputs rounded to the precision, and with the results of the reference for
/// these inputs.
DataSet rounded(DataSet set, const importer::Model& model, tensor::Precision precision) {
  for (Tensor& input : set.inputs) {
    const tensor::DType dtype = input.dtype();
    if (in_precision(dtype)) input = input.cast(rounded_type(precision)).cast(dtype);
  }
  auto expected = backend::make_backend("reference")->load(model, {})->run(set.inputs);
  expected.resize(std::min(expected.size(), set.outputs.size()));
  set.outputs = std::move(expected);
  return set;
}

tensor::Tolerance tolerance_of(const Tensor& expected, const ConformanceOptions& options) {
  tensor::Tolerance allowed = options.tolerance;
  if (expected.dtype() == tensor::DType::kBFloat16)
    allowed.relative = std::max(allowed.relative, kStoredBFloat16Tolerance);
  if (expected.dtype() == tensor::DType::kFloat16)
    allowed.relative = std::max(allowed.relative, kFloat16Tolerance);
  if (options.precision == tensor::Precision::kFp32 || !in_precision(expected.dtype())) return allowed;
  // One rounding of the output, and one of an intermediate value.
  constexpr double kRoundings = 2;
  double largest = 0;
  for (const double value : expected.to_double()) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  const double rounding = kRoundings * unit_roundoff(options.precision);
  return {std::max(allowed.relative, rounding), std::max(allowed.absolute, rounding * largest)};
}

/// Disables the timing cache, which hundreds of tiny models would fill although nobody builds them again.
backend::LoadOptions load_options(const ConformanceOptions& conformance) {
  backend::LoadOptions options;
  options.device = conformance.device;
  options.precision = conformance.precision;
  options.timing_cache = false;
  return options;
}

/// Returns an empty string if the outputs are as expected.
std::string run_data_set(DataSet set, importer::Model model, backend::Backend& backend,
                         const ConformanceOptions& conformance) {
  backend::LoadOptions options = load_options(conformance);
  if (set.inputs.size() != model.graph->inputs.size()) {
    return fmt::format("{} holds {} inputs, the model has {}", set.name, set.inputs.size(),
                       model.graph->inputs.size());
  }
  for (size_t i = 0; i < set.inputs.size(); ++i) {
    options.input_shapes[model.graph->value(model.graph->inputs[i]).name] = set.inputs[i].shape();
  }
  model.graph = for_inputs(*model.graph, set.inputs);
  if (conformance.precision != tensor::Precision::kFp32)
    set = rounded(std::move(set), model, conformance.precision);
  const auto outputs = backend.load(model, options)->run(set.inputs);
  if (outputs.size() < set.outputs.size() || set.outputs.empty()) {
    return fmt::format("{} outputs, {} expected", outputs.size(), set.outputs.size());
  }
  for (size_t i = 0; i < set.outputs.size(); ++i) {
    const auto found =
        tensor::difference(outputs[i], set.outputs[i], tolerance_of(set.outputs[i], conformance));
    if (found) return fmt::format("{}: output {} {}", set.name, i, *found);
  }
  return "";
}

std::string failure_of(const ConformanceCase& test, backend::Backend& backend,
                       const ConformanceOptions& options) {
  importer::Model model{test.name, test.model, nullptr};
  model.graph = std::make_shared<const graph::Graph>(importer::import_onnx(test.model));
  for (DataSet& set : read_data_sets(test, *model.graph)) {
    const std::string message = run_data_set(std::move(set), model, backend, options);
    if (!message.empty()) return message;
  }
  return "";
}

void add_cases_below(const fs::path& folder, std::vector<ConformanceCase>& cases) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".onnx" || !entry.is_regular_file()) continue;
    if (path.filename() == "model.onnx") {
      const fs::path home = path.parent_path();
      cases.push_back({(home.parent_path().filename() / home.filename()).string(), path, false});
    } else if (fs::exists(path.parent_path() / (path.stem().string() + "_output_0.pb"))) {
      cases.push_back({(path.parent_path().filename() / path.stem()).string(), path, true});
    }
  }
}

}  // namespace

std::string_view status_name(CaseStatus status) {
  switch (status) {
    case CaseStatus::kPassed: return "passed";
    case CaseStatus::kFailed: return "failed";
    case CaseStatus::kSkipped: return "skipped";
  }
  fail_internal("unknown case status");
}

std::vector<ConformanceCase> find_cases(std::span<const fs::path> folders) {
  std::vector<ConformanceCase> cases;
  for (const fs::path& folder : folders) {
    std::error_code error;
    const bool is_folder = fs::is_directory(folder, error);
    if (error) fail_bad_input("{} is not a folder: {}", folder.string(), error.message());
    if (!is_folder) fail_bad_input("{} is not a folder", folder.string());
    const size_t before = cases.size();
    add_cases_below(fs::canonical(folder), cases);
    if (cases.size() == before) fail_bad_input("{} holds no ONNX test case", folder.string());
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

void require_precision(backend::Backend& backend, const ConformanceOptions& options) {
  graph::Graph graph;
  const graph::TensorType type{tensor::DType::kFloat32, graph::Dims{1}};
  graph.inputs = {graph.add_value("x", type)};
  graph.outputs = {graph.add_value("y", type)};
  graph::Node relu;
  relu.op = "Relu";
  relu.inputs = graph.inputs;
  relu.outputs = graph.outputs;
  graph.add_node(std::move(relu));
  (void)backend.load({"a network of one Relu", {}, std::make_shared<const graph::Graph>(std::move(graph))},
                     load_options(options));
}

CaseResult run_case(const ConformanceCase& test, backend::Backend& backend,
                    const ConformanceOptions& options) {
  CaseResult result{test.name, CaseStatus::kFailed, "", ""};
  try {
    result.reason = importer::unsupported_feature(test.model);
    if (!result.reason.empty()) {
      result.status = CaseStatus::kSkipped;
      return result;
    }
    result.message = failure_of(test, backend, options);
    if (result.message.empty()) result.status = CaseStatus::kPassed;
  } catch (const Error& error) {
    result.message = error.what();
  } catch (const std::bad_alloc&) {
    result.message = "out of memory";
  } catch (const std::exception& error) {
    result.message = error.what();
  }
  return result;
}

}  // namespace hone::bench
