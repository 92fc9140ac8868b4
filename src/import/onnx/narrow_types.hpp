// Element types with fewer bits than hone's tensors support: float8 and float4, integers of 4 and 2 bits, and
// the exponents of block scales. Integers are read as int8 or uint8, floats as float32. Nodes that round to
// such a type produce only its values, so results are those of the narrow type. Only QuantizeLinear,
// DequantizeLinear, Cast and operators that move elements may use these types, and no input or output of a
// model may.
#pragma once

#include <map>
#include <utility>

#include "graph/graph.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// True if a number of onnx.TensorProto.DataType is such a type.
bool is_narrow(int64_t data_type);
/// The type as which values of a narrow type are read.
tensor::DType wide_type(int64_t data_type);
/// A tensor of a narrow type, widened.
tensor::Tensor read_narrow_tensor(const onnx::TensorProto& proto, const tensor::Shape& shape,
                                  ExternalFolder& folder);

/// The values of a graph that have narrow types.
class NarrowValues {
 public:
  void set(const graph::Graph& graph, graph::ValueId id, int64_t data_type) {
    types_[{&graph, id}] = data_type;
  }
  /// Converts and adds a node that reads or produces such values. Returns false, and adds nothing, for a node
  /// that needs no conversion. Throws bad input if the operator cannot have such values.
  bool convert(graph::Graph& graph, graph::Node& node, int opset);
  /// Records the narrow types of the results of a node that was added without conversion.
  void pass_on(const graph::Graph& graph, const graph::Node& node);

 private:
  /// 0 for a value of another type.
  int64_t type_of(const graph::Graph& graph, graph::ValueId id) const;
  /// Throws bad input if the node computes with numbers that stand for floats of a narrow type.
  void refuse_floats(const graph::Graph& graph, const graph::Node& node) const;

  std::map<std::pair<const graph::Graph*, graph::ValueId>, int64_t> types_;
};

}  // namespace hone::importer
