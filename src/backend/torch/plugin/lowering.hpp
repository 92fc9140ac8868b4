// Converts operators to ATen calls: one table for each family in ops/, looked up once for each node at load.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/torch/plugin/program.hpp"
#include "graph/graph.hpp"
#include "graph/implementation_table.hpp"

namespace hone::backend::aten {

/// Integers that a node needs as numbers (axes, shapes,
/// pads), known at load or read from an input at run time.
class Ints {
 public:
  static Ints of(std::vector<int64_t> known) { return {std::move(known), 0}; }
  static Ints none() { return of(std::vector<int64_t>()); }
  static Ints from_input(size_t i) { return {std::nullopt, i}; }

  std::vector<int64_t> get(const Arguments& arguments) const;

 private:
  Ints(std::optional<std::vector<int64_t>> known, size_t input) : known_(std::move(known)), input_(input) {}

  std::optional<std::vector<int64_t>> known_;
  size_t input_;
};

/// Properties of one node that are known at load.
struct Lowering {
  const graph::Graph& graph;
  const graph::Node& node;
  const Program& program;
  std::string_view backend;
  /// See Program: operations that depend on the values of activations are refused.
  bool traced;

  const graph::Attributes& attributes() const { return node.attributes; }
  bool has(size_t i) const { return node.has_input(i); }
  const tensor::Tensor* constant(size_t i) const { return graph.constant(node.input(i)); }
  /// Element type of output i in the program's precision.
  at::ScalarType output_type(size_t i) const;
  at::Device device() const { return program.placement().device; }
  Ints ints(size_t i) const;
  /// The attribute with this name, or `fallback` if the node does not have it.
  std::vector<int64_t> ints_or(std::string_view attribute, std::vector<int64_t> fallback) const;

  /// Bad input: "backend torch cannot run node 'x' (Op): <reason>".
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> reason, Args&&... args) const {
    fail_bad_input("backend {} cannot run {}: {}", backend, node.text(),
                   fmt::format(reason, std::forward<Args>(args)...));
  }
};

using Lower = Operation (*)(const Lowering&);

using LowerEntry = graph::Implementation<Lower>;

std::span<const LowerEntry> unary_lowerings();
std::span<const LowerEntry> binary_lowerings();
std::span<const LowerEntry> activation_lowerings();
std::span<const LowerEntry> convolution_lowerings();
std::span<const LowerEntry> pooling_lowerings();
std::span<const LowerEntry> normalization_lowerings();
std::span<const LowerEntry> matrix_lowerings();
std::span<const LowerEntry> reduction_lowerings();
std::span<const LowerEntry> shape_lowerings();
std::span<const LowerEntry> indexing_lowerings();
std::span<const LowerEntry> creation_lowerings();
std::span<const LowerEntry> resize_lowerings();

/// The operation of a node. Bad input if the operator, or this use of it, is not supported.
Operation lower(const Lowering& lowering);

/// An operation with one output, from `at::Tensor f(const Arguments&)`.
template <class F>
Operation single(F f) {
  return [f = std::move(f)](Arguments& arguments) { arguments.set(0, f(std::as_const(arguments))); };
}

}  // namespace hone::backend::aten
