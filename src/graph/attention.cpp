// See attention.hpp.
#include "graph/attention.hpp"

#include <algorithm>

namespace hone::graph {
namespace {

using tensor::Shape;

class Reader {
 public:
  explicit Reader(const Graph& body) : body_(body), links_(body) {}

  std::optional<Attention> read() {
    if (body_.outputs.size() != 1) return std::nullopt;
    ValueId id = body_.outputs[0];
    const Node* product = maker(id, "MatMul");
    std::vector<int64_t> order;
    if (product == nullptr) {
      const Node* transpose = maker(id, "Transpose");
      if (transpose == nullptr) return std::nullopt;
      order = transpose->attributes.get_or<std::vector<int64_t>>("perm", {});
      product = maker(transpose->inputs[0], "MatMul");
    }
    if (product == nullptr || !read_scores(unguarded(product->inputs[0]))) return std::nullopt;
    const auto values = known_shape(product->inputs[1]);
    const auto result = known_shape(product->outputs[0]);
    if (!values || !result || values->size() < 2 || result->size() != found_.leading.size() + 2)
      return std::nullopt;
    found_.width = result->back();
    if (!view_of_input(product->inputs[1], with_leading(found_.keys, found_.width), found_.v))
      return std::nullopt;
    const Shape whole = with_leading(found_.rows, found_.width);
    if (whole != *result || !arrange_result(whole, order)) return std::nullopt;
    return found_;
  }

 private:
  const Node* maker(ValueId id, std::string_view op) const {
    const int32_t index = links_.producer_of(id);
    if (index < 0 || body_.nodes[static_cast<size_t>(index)].op != op) return nullptr;
    return &body_.nodes[static_cast<size_t>(index)];
  }

  std::optional<Shape> known_shape(ValueId id, DType dtype = DType::kFloat32) const {
    const TensorType& type = body_.value(id).type;
    if (!type.fully_known() || type.dtype != dtype) return std::nullopt;
    Shape shape;
    for (const Dim& dim : *type.dims) shape.push_back(dim.value());
    return shape;
  }

  Shape with_leading(int64_t a, int64_t b) const {
    Shape shape = found_.leading;
    shape.insert(shape.end(), {a, b});
    return shape;
  }

  /// The value as a view of one of the body's inputs, broadcast to this shape.
  bool view_of_input(ValueId id, const Shape& shape, StridedView& view, DType dtype = DType::kFloat32) const {
    if (!known_shape(id, dtype)) return false;
    view = strided_view(body_, links_, id);
    return std::find(body_.inputs.begin(), body_.inputs.end(), view.base) != body_.inputs.end() &&
           broadcast_view(view, shape);
  }

  /// The weights before NaNs among them are replaced by zeros. A row of a softmax is NaN either as a whole or
  /// not at all.
  ValueId unguarded(ValueId weights) {
    const Node* const guard = maker(weights, "Where");
    const Node* const nan = guard == nullptr ? nullptr : maker(guard->inputs[0], "IsNaN");
    if (nan == nullptr || nan->inputs[0] != guard->inputs[2]) return weights;
    if (scalar(guard->inputs[1]) != 0 || known_shape(weights) != known_shape(guard->inputs[2]))
      return weights;
    found_.guarded = true;
    return guard->inputs[2];
  }

  /// Reads a sum with a mask, which may be between two reshapes; `id` becomes the other operand of the sum.
  bool read_mask(ValueId& id) {
    const Node* const back = maker(id, "Reshape");
    const Node* const sum = maker(back == nullptr ? id : back->inputs[0], "Add");
    if (sum == nullptr) return false;
    const auto added = known_shape(sum->outputs[0]);
    const Node* const there = maker(sum->inputs[0], "Reshape");
    StridedView mask;
    if (!added || (back == nullptr) != (there == nullptr) || !view_of_input(sum->inputs[1], *added, mask) ||
        (back != nullptr && !reshape_view(mask, with_leading(found_.rows, found_.keys))))
      return false;
    found_.masks.push_back({std::move(mask), std::nullopt});
    id = there == nullptr ? sum->inputs[0] : there->inputs[0];
    return true;
  }

  std::optional<float> scalar(ValueId id) const {
    const Tensor* const tensor = body_.constant(id);
    if (tensor == nullptr || tensor->size() != 1 || tensor->dtype() != DType::kFloat32) return std::nullopt;
    return tensor->values<float>()[0];
  }

  /// Reads a Where that selects the scores or a constant; `id` becomes the scores.
  bool read_fill(ValueId& id) {
    const Node* const where = maker(id, "Where");
    if (where == nullptr) return false;
    const bool filled = scalar(where->inputs[1]).has_value();
    const std::optional<float> fill = scalar(where->inputs[filled ? 1 : 2]);
    const ValueId scores = where->inputs[filled ? 2 : 1];
    const Shape shape = with_leading(found_.rows, found_.keys);
    StridedView mask;
    if (!fill || known_shape(scores) != shape || known_shape(id) != shape ||
        !view_of_input(where->inputs[0], shape, mask, DType::kBool))
      return false;
    found_.masks.push_back({std::move(mask), fill, filled});
    id = scores;
    return true;
  }

  bool read_scores(ValueId id) {
    const Node* softmax = maker(id, "Softmax");
    if (softmax == nullptr) return false;
    const auto shape = known_shape(id);
    if (!shape || shape->size() < 2) return false;
    const int64_t axis = softmax->attributes.get_int("axis");
    if (axis != -1 && axis != static_cast<int64_t>(shape->size()) - 1) return false;
    found_.leading = Shape(shape->begin(), shape->end() - 2);
    found_.rows = (*shape)[shape->size() - 2];
    found_.keys = shape->back();
    id = softmax->inputs[0];
    while (read_mask(id) || read_fill(id)) {
    }
    std::reverse(found_.masks.begin(), found_.masks.end());
    if (const Node* scaled = maker(id, "Mul")) {
      const Tensor* factor = body_.constant(scaled->inputs[1]);
      if (factor == nullptr || factor->size() != 1 || factor->dtype() != DType::kFloat32) return false;
      found_.scale = static_cast<double>(factor->values<float>()[0]);
      id = scaled->inputs[0];
    }
    const Node* product = maker(id, "MatMul");
    if (product == nullptr) return false;
    const auto scores = known_shape(id);
    const auto rows = known_shape(product->inputs[0]);
    if (scores != shape || !rows || rows->size() < 2) return false;
    found_.depth = rows->back();
    return view_of_input(product->inputs[0], with_leading(found_.rows, found_.depth), found_.q) &&
           view_of_input(product->inputs[1], with_leading(found_.depth, found_.keys), found_.k);
  }

  /// Finds the position of the product in the result, whose axes have this order if one is given.
  bool arrange_result(const Shape& whole, const std::vector<int64_t>& order) {
    if (order.empty()) {
      found_.result = plain_view(body_.outputs[0], whole);
      return true;
    }
    if (order.size() != whole.size()) return false;
    Shape ordered;
    for (const int64_t axis : order) ordered.push_back(whole[static_cast<size_t>(axis)]);
    const StridedView plain = plain_view(body_.outputs[0], ordered);
    found_.result = plain;
    for (size_t i = 0; i < order.size(); ++i)
      found_.result.dimensions[static_cast<size_t>(order[i])] = plain.dimensions[i];
    return true;
  }

  const Graph& body_;
  Links links_;
  Attention found_;
};

}  // namespace

std::optional<Attention> read_attention(const Graph& body) { return Reader(body).read(); }

}  // namespace hone::graph
