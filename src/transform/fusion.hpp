// Helpers of the fusing passes: names of fused nodes, and elementwise nodes as post-ops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/refusal.hpp"
#include "transform/editor.hpp"
#include "transform/pass.hpp"

namespace hone::transform {

/// Elementwise operations that are applied in order to the result of a base operator, in the form of the
/// fused operators: an alpha and a beta for each, and one extra input for each binary one.
struct PostOps {
  std::vector<std::string> ops;
  std::vector<float> alphas;
  std::vector<float> betas;
  std::vector<ValueId> extras;

  void add(std::string op, float alpha = 0, float beta = 0);
  void add_binary(std::string op, ValueId extra);
  void append(const PostOps& other);
};

/// Limit on the post-ops of one node; further operations stay separate nodes. oneDNN takes 32 in one
/// primitive. Networks have no chains of this length, but malicious files may.
constexpr size_t kMaxPostOps = 32;

/// The post-ops of a fused node; none for other nodes.
PostOps post_ops_of(const Node& node);
/// Index of a fused operator's first extra input: 1 for FusedElementwise, 3 for the others.
size_t first_extra(const std::string& op);
/// Makes `node` the operator `op` with these post-ops, including its extra inputs.
void set_post_ops(Node& node, const std::string& op, const PostOps& post_ops);

/// A node as post-ops on its input `main`, or a reason why that is impossible. An empty reason means that the
/// node is not an elementwise operation at all, so there is nothing to report.
struct PostOpsOrReason {
  std::optional<PostOps> post_ops;
  Refusal reason;
};
/// The result always has the type and shape of `main`, because extra inputs are broadcast to it. New
/// constants may be added to the graph. `scaling` says whether a product with a smaller value that is not
/// constant may be a post-op; after a convolution (squeeze and excitation) it stays a separate step.
enum class Scaling { kConstantOrSameShape, kAnyBroadcast };
PostOpsOrReason as_post_ops(const Graph& graph, const Node& node, ValueId main,
                            Scaling scaling = Scaling::kConstantOrSameShape);

/// True if it is certain that `from` can be broadcast to `to` without making it larger.
bool broadcasts_into(const graph::TensorType& from, const graph::TensorType& to);
/// True if it is certain that both types have the same shape.
bool same_shape(const graph::TensorType& a, const graph::TensorType& b);

/// True if all entries of an attribute are equal to `expected`.
bool all_are(const std::vector<int64_t>& values, int64_t expected);
/// True if the node is a convolution with constant filters of this shape.
bool is_convolution(const Graph& graph, const Node& node, const tensor::Shape& filters);
/// Why kernels whose only activations are Relu and Clip cannot compute a convolution of images with constant
/// filters; empty if they can. The convolution must have no groups or dilations, this
/// stride, a constant bias or none, and apart from the stride it must keep the size of the image. After its
/// first `from` post-ops, which have an extra input each, at most a Relu or a Clip follows.
Refusal bounded_convolution_refusal(const Graph& graph, const Node& node, size_t from = 0,
                                    int64_t stride = 1);
/// Makes a node of another operator to replace `node`, with its first output, name and sources but no
/// attributes.
Node derived_node(const Node& node, std::string op, std::vector<ValueId> inputs);
/// Gives `node` the name "first + second" and the sources of both.
void join_names(Node& node, const Node& first, const Node& second);
/// Gives `node` the names and sources of a pattern of nodes, in the order in which they run.
void join_names(Node& node, const std::vector<const Node*>& parts);

/// Lets each base node absorb the elementwise nodes that are the only readers of its result, starting with
/// the last base. If two nodes could absorb a residual addition, the later one gets it, because the other
/// operand is ready then. `fused_op(editor, node)` returns the operator that the node becomes, or an empty
/// text if the node is not a base.
using FusedOperator = std::string (*)(const Editor& editor, const Node& node);
Summary fuse_post_ops(Graph& graph, FusedOperator fused_op);

}  // namespace hone::transform
