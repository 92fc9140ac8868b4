// See quantized_chain.hpp.
#include "graph/quantized_chain.hpp"

#include <algorithm>
#include <array>

#include "graph/post_op.hpp"
#include "graph/region.hpp"

namespace hone::graph {
namespace {

constexpr std::array<std::string_view, 6> kProducts = {"Conv",        "FusedConv", "MatMul",
                                                       "FusedMatMul", "Gemm",      "FusedGemm"};

bool is_product(const Node& node) {
  return std::find(kProducts.begin(), kProducts.end(), node.op) != kProducts.end();
}

bool is_pool(const Node& node) { return node.op == "AveragePool" || node.op == "GlobalAveragePool"; }

bool is_sum(const Node& node) { return node.op == "MatMulInteger" || node.op == "ConvInteger"; }

bool has_blocks(const Node& node) { return node.attributes.get_int("block_size") != 0; }

class ChainReader {
 public:
  explicit ChainReader(const Graph& body) : body_(body) {}

  std::optional<QuantizedChain> read() {
    if (body_.outputs.size() != 1) return std::nullopt;
    ValueId id = body_.outputs[0];
    // This ends, because a body has no cycles and every iteration goes to an earlier node.
    while (!done_) {
      const Node* node = maker(id);
      if (node == nullptr || !take(*node, id)) return std::nullopt;
    }
    std::reverse(chain_.stages.begin(), chain_.stages.end());
    return std::move(chain_);
  }

 private:
  const Node* maker(ValueId id) const {
    const auto found = std::find_if(body_.nodes.begin(), body_.nodes.end(),
                                    [&](const Node& node) { return node.output(0) == id; });
    return found == body_.nodes.end() ? nullptr : &*found;
  }

  size_t position(ValueId id) const {
    const auto found = std::find(body_.inputs.begin(), body_.inputs.end(), id);
    return found == body_.inputs.end() ? QuantizedOperand::kNone
                                       : static_cast<size_t>(found - body_.inputs.begin());
  }

  /// Finds the positions of the inputs that the node's scale comes from; false if the body computes one.
  bool read_scale(const Node& node, QuantizedOperand& operand) const {
    operand.scale = position(node.inputs[1]);
    operand.zero_point = node.has_input(2) ? position(node.inputs[2]) : QuantizedOperand::kNone;
    operand.axis = node.attributes.get_int("axis");
    return operand.scale != QuantizedOperand::kNone && !has_blocks(node) &&
           (!node.has_input(2) || operand.zero_point != QuantizedOperand::kNone);
  }

  /// The operand, if it is an input of the body or dequantized from one.
  std::optional<QuantizedOperand> operand(ValueId id) const {
    QuantizedOperand result;
    result.value = position(id);
    if (result.is_present()) return result;
    const Node* node = maker(id);
    if (node == nullptr || node->op != "DequantizeLinear" || !read_scale(*node, result)) return std::nullopt;
    result.value = position(node->inputs[0]);
    return result.is_present() ? std::optional(result) : std::nullopt;
  }

  /// Moves `id`, which the node computes, on to the next value of the chain.
  bool take(const Node& node, ValueId& id) {
    if (node.op == "QuantizeLinear") return take_rounding(node, id);
    if (node.op == "DequantizeLinear") return take_dequantization(node, id);
    if (node.op == "FusedElementwise") {
      id = node.inputs[0];
      return take_post_ops(node, 1);
    }
    if (node.op == "Cast") {
      id = node.inputs[0];
      const Node* sums = maker(id);
      return sums != nullptr && is_sum(*sums);
    }
    if (is_sum(node)) return take_sums(node);
    if (is_product(node)) return take_product(node);
    return is_pool(node) && take_pool(node);
  }

  bool take_rounding(const Node& node, ValueId& id) {
    QuantizedStage stage;
    if (!read_scale(node, stage.to)) return false;
    const auto type = static_cast<DType>(node.attributes.get_int("output_dtype"));
    if (type != DType::kUndefined) stage.type = type;
    chain_.stages.push_back(stage);
    id = node.inputs[0];
    return true;
  }

  bool take_dequantization(const Node& node, ValueId& id) {
    const Node* quantized = maker(node.inputs[0]);
    if (quantized != nullptr) {
      id = node.inputs[0];
      return quantized->op == "QuantizeLinear" && quantized->inputs[1] == node.inputs[1] &&
             quantized->input(2) == node.input(2) && !has_blocks(node);
    }
    const auto x = operand(node.outputs[0]);
    if (!x) return false;
    chain_.x = *x;
    return done_ = true;
  }

  bool take_post_ops(const Node& node, size_t first_extra) {
    if (!node.attributes.has("post_ops")) return true;
    const auto& names = node.attributes.get<std::vector<std::string>>("post_ops");
    const auto& alphas = node.attributes.get<std::vector<float>>("post_alphas");
    const auto& betas = node.attributes.get<std::vector<float>>("post_betas");
    std::vector<QuantizedStage> stages;
    for (size_t i = 0; i < names.size(); ++i) {
      QuantizedStage stage{.op = names[i], .alpha = alphas[i], .beta = betas[i]};
      const auto op = find_post_op(names[i]);
      if (!op) return false;
      if (is_binary(*op)) {
        const auto other = operand(node.input(first_extra++));
        if (!other) return false;
        stage.operand = *other;
      }
      stages.push_back(stage);
    }
    chain_.stages.insert(chain_.stages.end(), stages.rbegin(), stages.rend());
    return true;
  }

  bool take_product(const Node& node) {
    const auto x = operand(node.inputs[0]);
    const auto w = operand(node.inputs[1]);
    if (!x || !w || !x->is_quantized() || !w->is_quantized()) return false;
    if (node.has_input(2)) {
      const auto bias = operand(node.inputs[2]);
      if (!bias) return false;
      chain_.bias = *bias;
    }
    chain_.core = &node;
    chain_.x = *x;
    chain_.w = *w;
    done_ = true;
    return take_post_ops(node, 3);
  }

  bool take_sums(const Node& node) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      QuantizedOperand& operand = i == 0 ? chain_.x : chain_.w;
      operand.value = position(node.inputs[i]);
      if (node.has_input(i + 2)) operand.zero_point = position(node.inputs[i + 2]);
      if (!operand.is_present() || (node.has_input(i + 2) && operand.zero_point == QuantizedOperand::kNone))
        return false;
    }
    chain_.core = &node;
    return done_ = true;
  }

  bool take_pool(const Node& node) {
    const auto x = operand(node.inputs[0]);
    if (!x || !x->is_quantized()) return false;
    chain_.core = &node;
    chain_.x = *x;
    return done_ = true;
  }

  const Graph& body_;
  QuantizedChain chain_;
  bool done_ = false;
};

}  // namespace

std::optional<QuantizedChain> read_quantized_chain(const Node& region) {
  return ChainReader(region_body(region)).read();
}

}  // namespace hone::graph
