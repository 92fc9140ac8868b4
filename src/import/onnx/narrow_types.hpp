// Element types of fewer bits than tensors here have: float8 and float4, integers of 4 and 2 bits, and the
// exponents of block scales. Integers are read as int8 or uint8, floats as float32; what rounds to such a
// type keeps to its values, so results are those of the narrow type. Only QuantizeLinear, DequantizeLinear,
// Cast and what moves elements may have them, and no input or output of a model.
#pragma once

#include <map>
#include <utility>

#include "graph/graph.hpp"
#include "import/onnx/external_data.hpp"
#include "import/onnx/proto.hpp"

namespace hone::importer {

/// True if a number of onnx.TensorProto.DataType is such a type.
bool is_narrow(int64_t data_type);
/// The type that values of a narrow type are read as.
tensor::DType wide_type(int64_t data_type);
/// A tensor of a narrow type, widened.
tensor::Tensor read_narrow_tensor(const onnx::TensorProto& proto, const tensor::Shape& shape,
                                  ExternalFolder& folder);

/// Which values of a graph have narrow types.
class NarrowValues {
 public:
  void set(const graph::Graph& graph, graph::ValueId id, int64_t data_type) {
    types_[{&graph, id}] = data_type;
  }
  /// Adds a node that reads or makes such values; false, and nothing, for one that the table's rules take as
  /// it is. Bad input where the operator cannot have them.
  bool convert(graph::Graph& graph, graph::Node& node, int opset);
  /// Notes what a node that was added as it is makes of the narrow values that it reads.
  void pass_on(const graph::Graph& graph, const graph::Node& node);

 private:
  /// 0 for a value of another type.
  int64_t type_of(const graph::Graph& graph, graph::ValueId id) const;
  /// Bad input where the node computes with numbers that stand for floats of a narrow type.
  void refuse_floats(const graph::Graph& graph, const graph::Node& node) const;

  std::map<std::pair<const graph::Graph*, graph::ValueId>, int64_t> types_;
};

}  // namespace hone::importer
