// See cast_node.hpp.
#include "graph/cast_node.hpp"

#include <utility>

namespace hone::graph {

Node cast_node(std::string name, ValueId from, ValueId to, DType dtype) {
  Node node;
  node.name = std::move(name);
  node.op = "Cast";
  node.attributes.set("to", static_cast<int64_t>(dtype));
  node.attributes.set("saturate", int64_t{1});
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

}  // namespace hone::graph
