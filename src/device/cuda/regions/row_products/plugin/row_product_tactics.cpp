// Products of few rows with constant matrices by a kernel of ours: single ones, and regions row_products of
// one normalization and several products.
#include <functional>

#include "device/cuda/plugin/tactics/matrix_request.hpp"
#include "device/cuda/plugin/tactics/row_normalization.hpp"
#include "device/cuda/regions/row_products/plugin/kernels/matrix_vector.hpp"
#include "engine/requirements.hpp"

namespace hone::device::cuda {
namespace {

using engine::Layout;
using engine::Offer;
using engine::StepRequest;
using engine::TensorDesc;
using tensor::DType;

constexpr int kMostMatrices = MatrixVector::kMostMatrices;

/// A product and where its operands are among the inputs of the step.
struct PlacedProduct {
  const StepRequest* request = nullptr;
  PartOperands operands;
  LayerProduct layer;
};

/// A launch: what is known when it is made, and where its operands are among the inputs of the step.
struct RowProducts {
  MatrixVector size;
  MatrixVectorArgs args;
  FloatType type = FloatType::kHalf;
  FloatType result = FloatType::kHalf;
  int x = 0;
  int scale = -1;
  int shift = -1;
  int biases[kMostMatrices] = {-1, -1, -1, -1};
  int pair_bias = -1;
  int operands[kMaxEpilogueSteps] = {-1, -1, -1, -1, -1, -1};
  std::vector<PackedConstant> packed;  ///< which it keeps alive

  cudaError_t operator()(std::span<const void* const> inputs, std::span<void* const> outputs, void*,
                         const LaunchOptions& options) const {
    MatrixVectorArgs bound = args;
    bound.x = inputs[static_cast<size_t>(x)];
    bound.scale = floats_of(inputs, scale);
    bound.shift = floats_of(inputs, shift);
    for (size_t m = 0; m < outputs.size(); ++m) {
      bound.matrices[m].bias = floats_of(inputs, biases[m]);
      bound.matrices[m].y = outputs[m];
    }
    bound.pair.bias = floats_of(inputs, pair_bias);
    for (int s = 0; s < bound.step_count; ++s) {
      if (operands[s] >= 0) bound.steps[s].operand = inputs[static_cast<size_t>(operands[s])];
    }
    return matrix_vector(bound, type, result, size, options);
  }
};

/// The position of an operand of the product.
int position_of(const PlacedProduct& product, size_t operand) {
  return product.request->node.has_input(operand) ? product.operands.position(operand) : -1;
}

/// Empty when the product is read.
Refusal read_placed(const StepRequest& request, PartOperands operands, PlacedProduct& out) {
  out.request = &request;
  out.operands = std::move(operands);
  if (Refusal reason = read_layer(request, out.layer)) return reason;
  if (out.layer.post_ops.size() > kMaxEpilogueSteps) return "too many post-ops";
  return {};
}

/// Arranges the operands of the product and packs its matrix; `x_inside`: rows are made in the region.
Refusal take(Gpu& gpu, const PlacedProduct& placed, bool x_inside, engine::WeightStore& weights, Offer& offer,
             MatrixVectorArgs::Matrix& matrix, int& bias, RowProducts& products) {
  const Product& product = placed.layer.product;
  const StepRequest& request = *placed.request;
  std::vector<TensorDesc> wanted(request.inputs.size());
  if (!x_inside) wanted[0] = {product.dtype, request.inputs[0].shape, Layout::kPlain};
  if (product.bias) {
    wanted[2] = {DType::kFloat32, request.inputs[2].shape, Layout::kPlain};
    bias = position_of(placed, 2);
  }
  for (const PostOpRequest& post : placed.layer.post_ops) {
    if (graph::is_binary(post.op))
      wanted[post.operand] = {product.dtype, request.inputs[post.operand].shape, Layout::kPlain};
  }
  if (Refusal reason = placed.operands.arrange(wanted, offer.inputs)) return reason;
  products.packed.push_back(pack_columns(gpu, request, product, weights));
  matrix.w = products.packed.back().device->data();
  offer.packed.push_back(products.packed.back().key);
  return {};
}

/// Steps after the first matrix, whose operands are the step's inputs but for that of `pair`.
void take_steps(const PlacedProduct& placed, RowProducts& products) {
  const engine::Shape& shape = placed.request->outputs[0].shape;
  products.size.rows_of_image = shape.size() > 2 ? products.size.rows / shape[0] : 1;
  for (const PostOpRequest& post : placed.layer.post_ops) {
    const int at = products.args.step_count++;
    products.args.steps[at] = {post.op, post.alpha, post.beta, post.shape, nullptr};
    if (!graph::is_binary(post.op)) continue;
    products.operands[at] = position_of(placed, post.operand);
    if (products.operands[at] < 0) products.size.paired_step = at;
  }
}

Offer finish(const StepRequest& request, Offer offer, RowProducts products) {
  if (Refusal reason = matrix_vector_refusal(products.size, products.type))
    return Offer::refuse(std::move(reason));
  for (const TensorDesc& output : request.outputs)
    offer.outputs.push_back({products.result == FloatType::kFloat ? DType::kFloat32 : request.storage(),
                             output.shape, Layout::kPlain});
  offer.kernel = std::make_shared<LaunchKernel>("products of few rows", std::move(products), true);
  return offer;
}

/// The common parameters of all products, from the first of them.
RowProducts products_of(const Product& product) {
  RowProducts products;
  products.type = float_type(product.dtype);
  products.result = float_type(product.result);
  products.size.rows = product.rows;
  products.size.depth = product.depth;
  products.size.alpha = product.alpha;
  return products;
}

/// Operands of a step that is no region: each is the input of its number.
PartOperands own_operands(const StepRequest& request) {
  std::vector<int> positions;
  for (size_t i = 0; i < request.inputs.size(); ++i)
    positions.push_back(request.node.has_input(i) ? static_cast<int>(i) : -1);
  return PartOperands(std::move(positions));
}

Offer offer_product(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights) {
  PlacedProduct placed;
  if (Refusal reason = read_placed(request, own_operands(request), placed))
    return Offer::refuse(std::move(reason));
  RowProducts products = products_of(placed.layer.product);
  products.size.columns[0] = placed.layer.product.columns;
  // Refused before the matrix is packed.
  if (Refusal reason = matrix_vector_refusal(products.size, products.type))
    return Offer::refuse(std::move(reason));
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  if (Refusal reason =
          take(gpu, placed, false, weights, offer, products.args.matrices[0], products.biases[0], products))
    return Offer::refuse(std::move(reason));
  take_steps(placed, products);
  return finish(request, std::move(offer), std::move(products));
}

/// "product=FusedMatMul(0:norm)".
std::string part_form(const RegionPart& part, const std::string& inside) {
  const graph::Node& node = part.node;
  const std::string op = graph::is_region(node) ? "Region:" + graph::kind_of(node) : node.op;
  return fmt::format("{}={}{} ", node.name, op, inside.empty() ? "" : "(" + inside + ")");
}

/// The parts of a region, in the form that the kernel has them.
struct Body {
  const RegionPart* norm = nullptr;
  const RegionPart* pair = nullptr;
  std::vector<const RegionPart*> products;

  /// Empty when the region has that form.
  Refusal read(const RegionParts& parts) {
    norm = parts.find("norm");
    pair = parts.find("pair");
    for (int m = 0; m < kMostMatrices; ++m) {
      const RegionPart* const product = parts.find(m == 0 ? "product" : fmt::format("product{}", m));
      if (product != nullptr) products.push_back(product);
    }
    const std::string x = norm == nullptr ? "" : "0:norm";
    std::string form = norm == nullptr ? "" : part_form(*norm, "");
    if (pair != nullptr) form += part_form(*pair, x);
    std::string results = "->";
    for (const RegionPart* product : products) {
      form += part_form(*product, pair == nullptr ? x : x.empty() ? "3:pair" : x + " 3:pair");
      results += " " + product->node.name;
    }
    if (products.empty() || parts.form() != form + results || (pair != nullptr && products.size() != 1))
      return "its body is no normalization and products";
    return {};
  }
};

/// Empty when the rows and their normalization are filled in.
Refusal take_rows(const Body& body, const StepRequest& request, RowProducts& products, Offer& offer) {
  if (body.norm == nullptr) {
    products.x = body.products[0]->operands.position(0);
    return {};
  }
  const StepRequest& step = body.norm->request;
  RowNormalization norm;
  if (Refusal reason = read_row_normalization(step, norm)) return reason;
  if (!norm.constants || norm.columns != products.size.depth || norm.rows != products.size.rows)
    return "it normalizes something else than rows by constants";
  std::vector<TensorDesc> wanted(step.inputs.size());
  // Other operands of a region stay as they are: an engine that is loaded again reads them here.
  if (graph::is_region(step.node)) wanted = step.inputs;
  const auto x = static_cast<size_t>(norm.x);
  wanted[x] = {request.storage(), step.inputs[x].shape, Layout::kPlain};
  arrange_parameters(step, norm, wanted);
  const auto place = [&](int operand) {
    return operand < 0 ? -1 : body.norm->operands.position(static_cast<size_t>(operand));
  };
  products.x = place(norm.x);
  products.scale = place(norm.scale);
  products.shift = place(norm.shift);
  products.size.normalizes = true;
  products.size.centers = norm.centers;
  products.size.epsilon = norm.epsilon;
  return body.norm->operands.arrange(wanted, offer.inputs);
}

/// Why a product cannot run together with the first one; empty when it can.
Refusal beside_refusal(const PlacedProduct& placed, const PlacedProduct& first, bool x_inside) {
  const Product& product = placed.layer.product;
  const Product& other = first.layer.product;
  if (product.rows != other.rows || product.depth != other.depth || product.dtype != other.dtype ||
      (!x_inside && placed.operands.position(0) != first.operands.position(0)))
    return "products of different rows";
  if (product.alpha != 1 || other.alpha != 1) return "products with a scale side by side";
  return {};
}

constexpr const char* kMoreThanBias = "more than a bias follows one of several products";

/// Fills in the pair of the first product. Empty when it is taken.
Refusal take_pair(Gpu& gpu, const RegionPart& part, const PlacedProduct& first, bool x_inside,
                  engine::WeightStore& weights, Offer& offer, RowProducts& products) {
  PlacedProduct pair;
  if (Refusal reason = read_placed(part.request, part.operands, pair)) return reason;
  if (Refusal reason = beside_refusal(pair, first, x_inside)) return reason;
  if (pair.layer.product.columns != products.size.columns[0] || products.result != products.type)
    return "the results that are multiplied are no pairs of that type";
  if (pair.layer.post_ops.size() > MatrixVector::kMostPairSteps) return "too many post-ops";
  for (const PostOpRequest& post : pair.layer.post_ops) {
    if (graph::is_binary(post.op)) return "a post-op of a pair has an operand";
    products.args.pair_steps[products.args.pair_step_count++] = {post.op, post.alpha, post.beta, post.shape,
                                                                 nullptr};
  }
  return take(gpu, pair, x_inside, weights, offer, products.args.pair, products.pair_bias, products);
}

Offer offer_region(Gpu& gpu, const StepRequest& request, engine::WeightStore& weights) {
  const RegionParts parts(request);
  Body body;
  if (Refusal reason = body.read(parts)) return Offer::refuse(std::move(reason));
  const bool x_inside = body.norm != nullptr;
  std::vector<PlacedProduct> placed(body.products.size());
  for (size_t m = 0; m < placed.size(); ++m) {
    const RegionPart& part = *body.products[m];
    if (Refusal reason = read_placed(part.request, part.operands, placed[m]))
      return Offer::refuse(std::move(reason));
    if (placed[m].layer.product.result != placed[0].layer.product.result)
      return Offer::refuse("results of different types");
    if (m == 0) continue;
    if (Refusal reason = beside_refusal(placed[m], placed[0], x_inside))
      return Offer::refuse(std::move(reason));
    if (!placed[m].layer.post_ops.empty() || !placed[0].layer.post_ops.empty())
      return Offer::refuse(kMoreThanBias);
  }
  RowProducts products = products_of(placed[0].layer.product);
  for (size_t m = 0; m < placed.size(); ++m) products.size.columns[m] = placed[m].layer.product.columns;
  Offer offer;
  offer.inputs.resize(request.inputs.size());
  if (Refusal reason = take_rows(body, request, products, offer)) return Offer::refuse(std::move(reason));
  if (Refusal reason = matrix_vector_refusal(products.size, products.type))
    return Offer::refuse(std::move(reason));
  if (body.pair != nullptr) {
    if (Refusal reason = take_pair(gpu, *body.pair, placed[0], x_inside, weights, offer, products))
      return Offer::refuse(std::move(reason));
  }
  for (size_t m = 0; m < placed.size(); ++m) {
    if (Refusal reason = take(gpu, placed[m], x_inside, weights, offer, products.args.matrices[m],
                              products.biases[m], products))
      return Offer::refuse(std::move(reason));
  }
  take_steps(placed[0], products);
  return finish(request, std::move(offer), std::move(products));
}

}  // namespace

void add_row_product_tactics(TacticList& list, Gpu& gpu) {
  list.push_back({.name = "matrix_vector",
                  .operators = product_operators(),
                  .starts_early = true,
                  .make = std::bind_front(offer_product, std::ref(gpu))});
  list.push_back({.name = "row_products",
                  .operators = {"Region:row_products"},
                  .requirements = {engine::only_float32},
                  .starts_early = true,
                  .make = std::bind_front(offer_region, std::ref(gpu))});
}

}  // namespace hone::device::cuda
