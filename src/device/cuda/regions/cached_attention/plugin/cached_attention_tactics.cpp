// Regions cached_attention: a token's attention that appends to its caches, by the kernel for few rows.
#include <algorithm>
#include <iterator>
#include <optional>

#include "device/cuda/plugin/tactics/attention_request.hpp"
#include "device/cuda/plugin/tactics/attention_ways.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"
#include "device/cuda/regions/rotary/plugin/rotary_tactics.hpp"
#include "graph/attention.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::Shape;
using engine::StepRequest;
using engine::TensorDesc;
using graph::Graph;
using graph::Node;
using graph::ValueId;
using tensor::DType;

/// A row that is an input of the step, or the rotation of one.
struct Row {
  size_t input = 0;
  std::optional<Rotation> rotation;
};

/// A ScatterElements of the body: inputs of the step, and the axis along which it appends.
struct Append {
  size_t cache = 0;
  size_t place = 0;
  Row row;
  size_t axis = 0;
  ValueId result = graph::kNoValue;
};

/// Which input of the body a value is; nullopt for a value that is made inside.
std::optional<size_t> input_of(const Graph& body, ValueId id) {
  const auto found = std::find(body.inputs.begin(), body.inputs.end(), id);
  if (found == body.inputs.end()) return std::nullopt;
  return static_cast<size_t>(found - body.inputs.begin());
}

const Node* maker_of(const Graph& body, ValueId id) {
  const auto found = std::find_if(body.nodes.begin(), body.nodes.end(),
                                  [&](const Node& node) { return node.output(0) == id; });
  return found == body.nodes.end() ? nullptr : &*found;
}

/// Elements of a plain tensor from one index of the axis to the next.
int64_t elements_behind(const Shape& shape, size_t axis) {
  return tensor::element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end()));
}

TensorDesc plain_desc(const graph::TensorType& type) {
  TensorDesc desc{type.dtype, {}, Layout::kPlain};
  for (const graph::Dim& dim : *type.dims) desc.shape.push_back(dim.value());
  return desc;
}

/// A node of the body as a step of its own.
StepRequest request_of(const StepRequest& request, const Graph& body, const Node& node) {
  StepRequest part{body, node, {}, {}, request.policy, request.layout, request.exhaustive};
  for (const ValueId id : node.inputs)
    part.inputs.push_back(id == graph::kNoValue ? TensorDesc() : plain_desc(body.value(id).type));
  for (const ValueId id : node.outputs) part.outputs.push_back(plain_desc(body.value(id).type));
  return part;
}

/// Nothing for a row that the region computes in another way.
std::optional<Row> read_row(const StepRequest& request, const Graph& body, ValueId id) {
  if (const auto input = input_of(body, id)) return Row{*input, std::nullopt};
  const Node* const node = maker_of(body, id);
  if (node == nullptr || !graph::is_region(*node) || graph::kind_of(*node) != "rotary") return std::nullopt;
  Rotation rotation;
  if (read_rotation(request_of(request, body, *node), rotation)) return std::nullopt;
  const RotarySize& size = rotation.size;
  for (int i = 0; i < 3; ++i) {
    // One row of the tables turns all rows.
    if (size.dims[i] > 1 && (size.cosine_strides[i] != 0 || size.sine_strides[i] != 0)) return std::nullopt;
  }
  for (size_t* operand : {&rotation.x, &rotation.cosine, &rotation.sine}) {
    const auto input = input_of(body, node->inputs[*operand]);
    if (!input) return std::nullopt;
    *operand = *input;
  }
  return Row{rotation.x, rotation};
}

std::optional<Append> read_append(const StepRequest& request, const Graph& body, const Node& scatter) {
  const Node* const expand = maker_of(body, scatter.inputs[1]);
  if (expand == nullptr || expand->op != "Expand" || scatter.attributes.get_string("reduction") != "none")
    return std::nullopt;
  const auto cache = input_of(body, scatter.inputs[0]);
  const auto place = input_of(body, expand->inputs[0]);
  const auto row = read_row(request, body, scatter.inputs[2]);
  if (!cache || !place || !row) return std::nullopt;
  const Shape& shape = request.inputs[*cache].shape;
  const int64_t axis = scatter.attributes.get_int("axis");
  Append append{*cache, *place, *row,
                static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis),
                scatter.outputs[0]};
  if (append.axis >= shape.size()) return std::nullopt;
  Shape expected = shape;
  expected[append.axis] = 1;
  if (request.inputs[row->input].shape != expected || request.inputs[*place].dtype != DType::kInt64 ||
      tensor::element_count(request.inputs[*place].shape) != 1)
    return std::nullopt;
  return append;
}

/// Where the row that is appended lies for each head, from where the cache's rows do; false where these are
/// not what is appended along.
bool place_row(const AttentionMatrix& cache, const Shape& shape, size_t axis, int64_t keys,
               AttentionMatrix& row) {
  const int64_t inner = elements_behind(shape, axis);
  const int64_t outer = inner * shape[axis];
  if (shape[axis] != keys || cache.row != inner || cache.offset % outer >= inner) return false;
  row.offset = cache.offset / outer * inner + cache.offset % outer;
  for (int i = 0; i < AttentionMatrix::kMostLoops; ++i) {
    const int64_t stride = cache.loops[i];
    const bool around = stride % outer == 0;
    if (!around && stride >= inner) return false;
    row.loops[i] = around ? stride / outer * inner : stride;
  }
  return true;
}

/// True if rows of the operand are those that are turned.
bool turns(const Rotation& rotation, const AttentionMatrix& matrix, int depth) {
  const auto whole = [&](int64_t elements) { return elements % depth == 0; };
  return rotation.size.depth == depth && depth % 16 == 0 && whole(matrix.offset) &&
         std::all_of(std::begin(matrix.loops), std::end(matrix.loops), whole);
}

/// The parts of the region, in the form that the pass gives them.
struct Body {
  const Node* attention = nullptr;
  std::vector<Append> appends;
  /// Turns the queries; set by read_operands().
  std::optional<Rotation> rotation;

  /// Empty when the region has that form.
  Refusal read(const StepRequest& request, const Graph& body) {
    size_t others = 0;
    for (const Node& node : body.nodes) {
      if (node.op == "Expand" || (graph::is_region(node) && graph::kind_of(node) == "rotary")) {
        ++others;
      } else if (node.op == "ScatterElements") {
        if (const auto append = read_append(request, body, node)) appends.push_back(*append);
      } else if (graph::is_region(node) && graph::kind_of(node) == graph::kAttention) {
        attention = &node;
      }
    }
    const bool complete =
        attention != nullptr && appends.size() == 2 && body.nodes.size() == others + appends.size() + 1 &&
        body.outputs == std::vector<ValueId>{attention->outputs[0], appends[0].result, appends[1].result} &&
        appends[0].place == appends[1].place && appends[0].cache != appends[1].cache;
    return complete ? Refusal() : Refusal("its body is no attention that appends a row to two caches");
  }

  /// Which input of the step each input of the attention is, or which it is made of.
  Refusal read_operands(const StepRequest& request, const Graph& body, std::vector<size_t>& positions) {
    for (const ValueId id : attention->inputs) {
      if (const Append* const append = making(id)) {
        positions.push_back(append->cache);
        continue;
      }
      const auto row = read_row(request, body, id);
      if (!row || (row->rotation && rotation)) return "its attention reads what is made inside";
      if (row->rotation) rotation = row->rotation;
      positions.push_back(row->input);
    }
    return {};
  }

  const Append* making(ValueId id) const {
    const auto found =
        std::find_if(appends.begin(), appends.end(), [&](const Append& each) { return each.result == id; });
    return found == appends.end() ? nullptr : &*found;
  }
};

/// A launch: its operands are inputs of the step, but for the caches, which are its outputs.
struct CachedAttention {
  AttentionRequest attention;
  AppendedRow row;
  size_t place = 0;
  size_t k_row = 0;
  size_t v_row = 0;
  size_t k_output = 0;
  size_t v_output = 0;
  std::optional<Rotation> q_rotation;
  std::optional<Rotation> k_rotation;
  FloatType type = FloatType::kHalf;
  int split = 1;

  cudaError_t operator()(std::span<const void* const> inputs, std::span<void* const> outputs, void*,
                         const LaunchOptions& options) const {
    AttentionArgs args = attention.args(inputs, outputs[0]);
    AppendedRow bound = row;
    bound.place = static_cast<const int64_t*>(inputs[place]);
    bound.k = inputs[k_row];
    bound.v = inputs[v_row];
    args.k = bound.k_cache = outputs[k_output];
    args.v = bound.v_cache = outputs[v_output];
    if (q_rotation) bound.q_rotation = {inputs[q_rotation->cosine], inputs[q_rotation->sine]};
    if (k_rotation) bound.k_rotation = {inputs[k_rotation->cosine], inputs[k_rotation->sine]};
    return appending_row_attention(args, bound, type, attention.size, split, options);
  }
};

Offer offer_cached_attention(const Gpu& gpu, const StepRequest& request, int split) {
  if (tensor::dtype_size(request.storage()) != 2) return Offer::refuse("only fp16 and bf16");
  const Graph body = graph::typed_body(request.graph, request.node);
  Body form;
  if (Refusal reason = form.read(request, body)) return Offer::refuse(std::move(reason));
  std::vector<size_t> positions;
  if (Refusal reason = form.read_operands(request, body, positions)) return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  CachedAttention launch{.type = float_type(request.storage()), .split = split};
  const Graph inner = graph::typed_body(body, *form.attention);
  if (Refusal reason = read_attention_request(request, inner, positions, launch.attention, offer.inputs))
    return Offer::refuse(std::move(reason));
  const AttentionSize& size = launch.attention.size;
  if (size.rows != 1) return Offer::refuse("more than one row of queries");
  if (Refusal reason = row_attention_refusal(size, gpu.properties())) return Offer::refuse(std::move(reason));
  const size_t of_keys = launch.attention.k == form.appends[0].cache ? 0 : 1;
  const Append& keys = form.appends[of_keys];
  const Append& values = form.appends[1 - of_keys];
  if (launch.attention.k != keys.cache || launch.attention.v != values.cache ||
      !place_row(size.k, request.inputs[keys.cache].shape, keys.axis, size.keys, launch.row.k_heads) ||
      !place_row(size.v, request.inputs[values.cache].shape, values.axis, size.keys, launch.row.v_heads))
    return Offer::refuse("its caches are not appended to along their rows");
  launch.q_rotation = form.rotation;
  launch.k_rotation = keys.row.rotation;
  if (values.row.rotation || launch.q_rotation.has_value() != launch.k_rotation.has_value() ||
      (launch.q_rotation &&
       (launch.q_rotation->x != launch.attention.q || !turns(*launch.q_rotation, size.q, size.depth))) ||
      (launch.k_rotation && !turns(*launch.k_rotation, launch.row.k_heads, size.depth)))
    return Offer::refuse("it turns something else than rows of queries and keys");
  launch.place = keys.place;
  launch.k_row = keys.row.input;
  launch.v_row = values.row.input;
  launch.k_output = 1 + of_keys;
  launch.v_output = 2 - of_keys;
  const auto plain = [&](DType dtype, size_t input) {
    offer.inputs[input] = {dtype, request.inputs[input].shape, Layout::kPlain};
  };
  plain(DType::kInt64, launch.place);
  plain(request.storage(), launch.k_row);
  plain(request.storage(), launch.v_row);
  for (const auto& rotation : {launch.q_rotation, launch.k_rotation}) {
    if (!rotation) continue;
    plain(request.storage(), rotation->cosine);
    plain(request.storage(), rotation->sine);
  }
  // The constants of slices and shapes stay as they are: an engine that is loaded again reads them here.
  for (size_t i = 0; i < offer.inputs.size(); ++i) {
    if (offer.inputs[i].dtype == DType::kUndefined) offer.inputs[i] = request.inputs[i];
  }
  for (const TensorDesc& output : request.outputs)
    offer.outputs.push_back({request.storage(), output.shape, Layout::kPlain});
  offer.accumulations = {{launch.k_output, keys.cache}, {launch.v_output, values.cache}};
  offer.kernel = std::make_shared<LaunchKernel>("an attention that appends", launch, true);
  return offer;
}

}  // namespace

void add_cached_attention_tactics(TacticList& list, Gpu& gpu) {
  list.push_back(tactic_of_ways(
      "cached_attention", "Region:cached_attention", gpu, row_ways(),
      [&gpu](const StepRequest& request, int split) { return offer_cached_attention(gpu, request, split); }));
}

}  // namespace hone::device::cuda
