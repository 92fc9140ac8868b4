// See region_parts.hpp.
#include "device/cuda/plugin/tactics/region_parts.hpp"

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "graph/region.hpp"

namespace hone::device::cuda {
namespace {

using engine::StepRequest;
using engine::TensorDesc;
using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

/// Returns a descriptor without a type if the body has a size that is known only at run time.
TensorDesc plain_desc(const graph::TensorType& type) {
  TensorDesc desc;
  if (!type.fully_known()) return desc;
  desc.dtype = type.dtype;
  for (const graph::Dim& dim : *type.dims) desc.shape.push_back(dim.value());
  return desc;
}

PartOperands operands_of(const Graph& body, const Node& node) {
  std::vector<int> positions;
  for (const ValueId id : node.inputs) {
    const auto found = std::find(body.inputs.begin(), body.inputs.end(), id);
    positions.push_back(found == body.inputs.end() ? -1 : static_cast<int>(found - body.inputs.begin()));
  }
  return PartOperands(std::move(positions));
}

std::string word(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  return plain ? name : "?";
}

/// The part that produces a value, with the index of the output unless it is the first; empty for an input.
std::string maker(const Graph& body, ValueId id) {
  for (const Node& node : body.nodes) {
    const auto found = std::find(node.outputs.begin(), node.outputs.end(), id);
    if (found == node.outputs.end()) continue;
    const auto index = found - node.outputs.begin();
    return index == 0 ? word(node.name) : fmt::format("{}.{}", word(node.name), index);
  }
  return {};
}

std::string operator_text(const Node& node) {
  if (graph::is_region(node)) return "Region:" + word(graph::kind_of(node));
  return node.op == "FusedConv" ? "Conv" : node.op;
}

std::string form_of(const Graph& body) {
  std::string text;
  for (const Node& node : body.nodes) {
    std::string inside;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::string made_by = node.has_input(i) ? maker(body, node.inputs[i]) : "";
      if (!made_by.empty()) inside += fmt::format("{}{}:{}", inside.empty() ? "" : " ", i, made_by);
    }
    text += fmt::format("{}={}{} ", word(node.name), operator_text(node),
                        inside.empty() ? "" : "(" + inside + ")");
  }
  text += "->";
  for (const ValueId id : body.outputs) text += " " + maker(body, id);
  return text;
}

}  // namespace

PartOperands PartOperands::within(const PartOperands& outer) const {
  std::vector<int> positions;
  for (const int position : positions_)
    positions.push_back(position < 0 ? -1 : outer.position(static_cast<size_t>(position)));
  return PartOperands(std::move(positions));
}

Refusal PartOperands::arrange(const std::vector<TensorDesc>& wanted, std::vector<TensorDesc>& inputs) const {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (position(i) < 0 || wanted[i].dtype == tensor::DType::kUndefined) continue;
    TensorDesc& input = inputs[static_cast<size_t>(position(i))];
    if (input.dtype != tensor::DType::kUndefined && !(input == wanted[i]))
      return fmt::format("input {} would have to lie in two ways", position(i));
    input = wanted[i];
  }
  return {};
}

RegionPart::RegionPart(graph::Node outer, PartOperands positions, const StepRequest& whole)
    : node(std::move(outer)),
      operands(std::move(positions)),
      request{whole.graph, node, {}, {}, whole.policy, whole.layout, whole.exhaustive} {}

bool RegionPart::is_constant(size_t operand) const {
  return node.has_input(operand) && request.graph.value(node.inputs[operand]).constant;
}

graph::Convolution RegionPart::geometry() const {
  return graph::read_convolution(node.attributes, request.inputs[0].shape, request.inputs[1].shape);
}

RegionParts::RegionParts(const StepRequest& whole) {
  const Graph body = graph::typed_body(whole.graph, whole.node);
  for (const Node& node : body.nodes) {
    RegionPart& part =
        parts_.emplace_back(graph::outer_part(whole.node, node), operands_of(body, node), whole);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int position = part.operands.position(i);
      part.request.inputs.push_back(position >= 0       ? whole.inputs[static_cast<size_t>(position)]
                                    : node.has_input(i) ? plain_desc(body.value(node.inputs[i]).type)
                                                        : TensorDesc());
    }
    for (const ValueId id : node.outputs)
      part.request.outputs.push_back(id == kNoValue ? TensorDesc() : plain_desc(body.value(id).type));
  }
  form_ = form_of(body);
}

const RegionPart* RegionParts::find(std::string_view role) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const RegionPart& part) { return part.node.name == role; });
  return found == parts_.end() ? nullptr : &*found;
}

const RegionPart& RegionParts::part(std::string_view role) const {
  const RegionPart* const found = find(role);
  if (found == nullptr) fail_internal("a region has no part '{}'", role);
  return *found;
}

Refusal same_size_refusal(const RegionPart& part, int64_t kernel) {
  const graph::Convolution geometry = part.geometry();
  const bool fits =
      geometry.group == 1 &&
      std::all_of(geometry.axes.begin(), geometry.axes.end(), [&](const graph::WindowAxis& axis) {
        return axis.kernel == kernel && axis.stride == 1 && axis.dilation == 1 &&
               axis.pad_begin == kernel / 2 && axis.pad_end == kernel / 2;
      });
  if (fits) return {};
  return fmt::format("'{}' has groups, or windows other than of {} x {} that keep the size of the image",
                     part.node.name, kernel, kernel);
}

}  // namespace hone::device::cuda
