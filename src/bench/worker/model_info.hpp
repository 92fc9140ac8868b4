// The description of a model that a benchmark needs without running it: its inputs, its batch dimension, and
// hashes that seed the inputs and name the cached reference outputs.
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

/// Loads a built-in architecture or a file that the user named; throws like importer::load_model.
using ModelLoader = std::function<importer::Model(const std::string& spec)>;

struct InputInfo {
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  /// If `batched`, dimension 0 is the batch and is 1 here.
  tensor::Shape shape;
  bool batched = false;
  InputValues values = {};
};

struct ModelInfo {
  std::string name;
  std::string spec;   ///< as the user named it
  uint64_t hash = 0;  ///< hash of its computation
  /// Also includes the types and shapes of its inputs, because the outputs depend on them.
  uint64_t outputs_hash = 0;
  std::vector<InputInfo> inputs;
  /// False if no input has an open first dimension; the model then runs only at `fixed_batch`.
  bool dynamic_batch = false;
  int64_t fixed_batch = 1;
  /// False for a TorchScript archive and for an engine, because the reference cannot run them.
  bool has_graph = false;
  /// The precision to which its results are rounded: fp16 or bf16 if a node has this type, else fp32.
  tensor::Precision precision = tensor::Precision::kFp32;
  std::string file;  ///< empty for built-in architectures
  /// The precision of an engine that is already built; empty for a model.
  std::string engine_precision = {};
  /// The batch for which an engine with an open batch was tuned; 0 for a model.
  int64_t tuned_batch = 0;
  /// Shapes as in the graph, with known and unknown dimensions; nullopt if even the rank is unknown.
  std::vector<std::optional<graph::Dims>> outputs;
  std::string batch_symbol;  ///< symbol of the inputs' first dimension; empty if it has none
  /// The members of LoadRequest for a decoder at a given context.
  std::vector<std::string> bind;
  int64_t context = 0;

  /// Number of units (of which input sets consist) per run: the samples, or 1 for a fixed batch.
  int64_t units(int64_t batch) const { return dynamic_batch ? batch : 1; }
  bool runs_at(int64_t batch) const { return dynamic_batch || batch == fixed_batch; }
  /// The shapes of the inputs by name.
  std::map<std::string, tensor::Shape> shapes_at(int64_t batch) const;
};

/// How to run a model with a fixed batch at other batches, as the end of a sentence: "hone export net.onnx -o
/// ...".
std::string way_to_other_batches(const ModelInfo& model);

/// Usage error with a remedy if the model cannot run at this batch.
void require_runs_at(const ModelInfo& model, int64_t batch);

/// `shapes` gives sizes for dimensions that the model leaves open (for TorchScript archives, for all inputs);
/// they also apply to dimensions of other inputs with the same symbol. Other open dimensions get a typical
/// size (typical_sizes.hpp). Usage error that names the input if a dimension other than the batch stays
/// unknown; bad input for a name or path that cannot be sent to a worker.
ModelInfo describe_model(const importer::Model& model, const std::string& spec,
                         const std::map<std::string, tensor::Shape>& shapes);

/// Usage error for a shape of an input that none of the models (at least one) has, and for a shape whose
/// batch is neither 1 nor the only one of `batches`, because it would have no effect.
void check_shapes(const std::map<std::string, tensor::Shape>& shapes, std::span<const ModelInfo> models,
                  std::span<const int64_t> batches);

/// Parses "name:1x3x224x224" (or several, separated by commas as in trtexec) into the map. Usage error if it
/// is malformed, and for a name that is already in the map.
void parse_shapes(const std::string& text, std::map<std::string, tensor::Shape>* shapes);

}  // namespace hone::bench
