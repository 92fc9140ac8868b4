// Helpers of the fusing passes: names of fused nodes, and elementwise nodes seen as post-ops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "transform/editor.hpp"
#include "transform/pass.hpp"

namespace hone::transform {

/// Elementwise operations applied in order to the result of a base operator, as the fused operators
/// hold them: one alpha and beta for each, and one extra input for each binary one.
struct PostOps {
  std::vector<std::string> ops;
  std::vector<float> alphas;
  std::vector<float> betas;
  std::vector<ValueId> extras;

  void add(std::string op, float alpha = 0, float beta = 0);
  void add_binary(std::string op, ValueId extra);
  void append(const PostOps& other);
};

/// Post-ops that one node may hold; what comes after them stays a node of its own. oneDNN takes 32 in one
/// primitive, and no network has chains as long, but files that mean harm do.
constexpr size_t kMaxPostOps = 32;

/// The post-ops that a fused node holds already; none for other nodes.
PostOps post_ops_of(const Node& node);
/// Where a fused operator's extra inputs begin: 1 for FusedElementwise, 3 for the others.
size_t first_extra(const std::string& op);
/// Makes `node` the operator `op` with these post-ops, its extra inputs included.
void set_post_ops(Node& node, const std::string& op, const PostOps& post_ops);

/// A node as post-ops on its input `main`, or why it cannot be that. An empty reason means that the
/// node is no elementwise operation at all, so that its staying apart is no near miss.
struct PostOpsOrReason {
  std::optional<PostOps> post_ops;
  Refusal reason;
};
/// The result always has the type and shape of `main`: extra inputs broadcast into it. New constants
/// may be added to the graph. `scaling` says whether a product with something smaller that is no
/// constant may be a post-op: after a convolution (squeeze and excitation) it stays a step of its own.
enum class Scaling { kConstantOrSameShape, kAnyBroadcast };
PostOpsOrReason as_post_ops(const Graph& graph, const Node& node, ValueId main,
                            Scaling scaling = Scaling::kConstantOrSameShape);

/// True if `from` broadcasts into `to` without making it larger, for certain.
bool broadcasts_into(const graph::TensorType& from, const graph::TensorType& to);
/// True if both types have the same shape, for certain.
bool same_shape(const graph::TensorType& a, const graph::TensorType& b);

/// True if all entries of an attribute are the same number.
bool all_are(const std::vector<int64_t>& values, int64_t expected);
/// True if the node is a convolution with constant filters of that shape.
bool is_convolution(const Graph& graph, const Node& node, const tensor::Shape& filters);
/// Why a convolution of images with constant filters is more than kernels with only bounds compute; empty
/// when it is not: no groups or dilations, that stride, its image's size otherwise, a constant bias if any,
/// and a Relu or a Clip at most after the first `from` post-ops, which have an extra input each.
Refusal bounded_convolution_refusal(const Graph& graph, const Node& node, size_t from = 0,
                                    int64_t stride = 1);
/// A node of another operator to replace `node`: its first output, name and sources, no attributes.
Node derived_node(const Node& node, std::string op, std::vector<ValueId> inputs);
/// Gives `node` the name "first + second" and the sources of both.
void join_names(Node& node, const Node& first, const Node& second);
/// Gives `node` the names and sources of a pattern of nodes, in the order they run.
void join_names(Node& node, const std::vector<const Node*>& parts);

/// Makes each base node absorb the elementwise nodes that are the only readers of its result, last base
/// first: of two nodes that could take a residual addition, the later one gets it, when the other operand is
/// ready. `fused_op(editor, node)` is the operator that the node becomes, or empty when the node is no base.
using FusedOperator = std::string (*)(const Editor& editor, const Node& node);
Summary fuse_post_ops(Graph& graph, FusedOperator fused_op);

}  // namespace hone::transform
