// The description of a model that the benchmark needs without running it: its inputs, its batch dimension,
// and hashes that seed the inputs and name the cached reference outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/worker/input_values.hpp"
#include "import/model.hpp"
#include "tensor/precision.hpp"
#include "tensor/tensor.hpp"

namespace hone::bench {

/// Loads what the user named, a built-in architecture or a file; throws as importer::load_model does.
using ModelLoader = std::function<importer::Model(const std::string& spec)>;

struct InputInfo {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  /// Dimension 0 is the batch when `batched`, and is 1 here.
  tensor::Shape shape;
  bool batched = false;
  InputValues values = {};
};

struct ModelInfo {
  std::string name;
  std::string spec;   ///< as the user named it
  uint64_t hash = 0;  ///< of its computation
  /// Includes the types and shapes of its inputs, on which the outputs depend.
  uint64_t outputs_hash = 0;
  std::vector<InputInfo> inputs;
  /// False when no input has a free first dimension; then the model runs at `fixed_batch` only.
  bool dynamic_batch = false;
  int64_t fixed_batch = 1;
  /// False for a TorchScript archive and for an engine, which the reference cannot run.
  bool has_graph = false;
  /// The precision to which its results are rounded: fp16 or bf16 where a node's is of that type, fp32
  /// elsewhere.
  tensor::Precision precision = tensor::Precision::kFp32;
  std::string file;  ///< empty for built-in architectures
  /// The precision in which an engine runs that is built already; empty for a model.
  std::string engine_precision = {};
  /// The batch that an engine of open batch was tuned for; 0 for a model.
  int64_t tuned_batch = 0;
  /// As the graph has them, each dimension known or not; a nullopt where not even their number is.
  std::vector<std::optional<graph::Dims>> outputs;
  std::string batch_symbol;  ///< of the inputs' first dimension; empty when it has no name
  /// The members of LoadRequest for a decoder at a given context.
  std::vector<std::string> bind;
  int64_t context = 0;

  /// How many of the units that input sets are made of one run takes: samples, or 1 for a fixed batch.
  int64_t units(int64_t batch) const { return dynamic_batch ? batch : 1; }
  bool runs_at(int64_t batch) const { return dynamic_batch || batch == fixed_batch; }
  /// The shapes of the inputs, by their names.
  std::map<std::string, tensor::Shape> shapes_at(int64_t batch) const;
};

/// How a model of fixed batch comes to run at others, as the end of a sentence: "hone export net.onnx -o
/// ...".
std::string way_to_other_batches(const ModelInfo& model);

/// Usage error where the model cannot run at this batch, with a remedy.
void require_runs_at(const ModelInfo& model, int64_t batch);

/// `shapes` gives dimensions that the model leaves open (and, for TorchScript archives, all inputs), also
/// where other inputs have them under the same name; what it does not give is what the model's author calls
/// typical (typical_sizes.hpp). Usage error naming the input when a dimension other than the batch stays
/// unknown; bad input for a name or path that no worker can be told.
ModelInfo describe_model(const importer::Model& model, const std::string& spec,
                         const std::map<std::string, tensor::Shape>& shapes);

/// Usage error for a shape of an input that none of the models (one at least) has, and for one whose batch is
/// neither 1 nor the only one of `batches`: it would change nothing.
void check_shapes(const std::map<std::string, tensor::Shape>& shapes, std::span<const ModelInfo> models,
                  std::span<const int64_t> batches);

/// "name:1x3x224x224" (several with commas, as trtexec writes them) into the map; usage error when malformed,
/// and for a name that is in the map already.
void parse_shapes(const std::string& text, std::map<std::string, tensor::Shape>* shapes);

}  // namespace hone::bench
