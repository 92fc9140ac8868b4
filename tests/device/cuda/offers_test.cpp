// The answers of all our tactics on GPUs that are not here: a table of offers and refusals for three compute
// capabilities, held against offers.txt. Memory is the host's (emulator/memory_runtime.cpp), and nothing is
// launched.
//
// HONE_WRITE_OFFERS=1 writes the table anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "base/file.hpp"
#include "cases/case_passes.hpp"
#include "device/cuda/absent_gpus.hpp"
#include "device/cuda/one_node.hpp"
#include "graph/text/parser.hpp"
#include "support/regions.hpp"

// Chains are compiled for each GPU, by NVRTC, and would then be loaded.
extern "C" {
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  *library = nullptr;
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char*) {
  *kernel = nullptr;
  return cudaSuccess;
}
}

namespace hone::device::cuda {
namespace {

using engine::Layout;
using tensor::Precision;
using test_support::absent_gpus;
using test_support::one_node;
using test_support::OneNode;
using test_support::own_tactics;

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

struct Case {
  std::string name;
  std::function<OneNode(hone::test::GraphBuilder&)> make;
};

test::AttributeList window(int64_t kernel, int64_t stride, int64_t pad, int64_t group = 1) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"pads", Ints{pad, pad, pad, pad}},
          {"group", group}};
}

test::AttributeList with_post_op(test::AttributeList attributes, const std::string& op, float alpha = 0) {
  attributes.emplace_back("post_ops", Strings{op});
  attributes.emplace_back("post_alphas", Floats{alpha});
  attributes.emplace_back("post_betas", Floats{0});
  return attributes;
}

Case convolution(std::string name, std::string op, const tensor::Shape& x, const tensor::Shape& w,
                 test::AttributeList attributes) {
  return {std::move(name), [=](hone::test::GraphBuilder& b) {
            const int64_t filters = op == "ConvTranspose" ? w[1] : w[0];
            return one_node(b, x, op, {b.random(w), b.random({filters})}, attributes);
          }};
}

/// A region of an image: the nodes that `make` adds, each in the role given.
Case region(std::string name, const std::string& kind, const tensor::Shape& x,
            const std::vector<std::string>& roles,
            const std::function<graph::ValueId(hone::test::GraphBuilder&, graph::ValueId)>& make) {
  return {std::move(name), [=](hone::test::GraphBuilder& b) {
            const graph::ValueId image = b.input("x", graph::Dims(x.begin(), x.end()));
            return OneNode{hone::test::as_region(b.finish({make(b, image)}), kind, roles),
                           hone::test::random_tensor(x, 7)};
          }};
}

Case unary(const std::string& op, const tensor::Shape& x, const test::AttributeList& attributes = {}) {
  return {op, [=](hone::test::GraphBuilder& b) { return one_node(b, x, op, {}, attributes); }};
}

Case with_ints(const std::string& op, const tensor::Shape& x, const std::vector<Ints>& lists,
               const test::AttributeList& attributes = {}, int outputs = 1) {
  return {op, [=](hone::test::GraphBuilder& b) {
            std::vector<graph::ValueId> constants;
            for (const Ints& list : lists) constants.push_back(b.ints(list));
            return one_node(b, x, op, constants, attributes, outputs);
          }};
}

Case with_weights(const std::string& op, const tensor::Shape& x, const std::vector<tensor::Shape>& shapes,
                  const test::AttributeList& attributes = {}) {
  return {op, [=](hone::test::GraphBuilder& b) {
            std::vector<graph::ValueId> constants;
            for (const tensor::Shape& shape : shapes) constants.push_back(b.random(shape));
            return one_node(b, x, op, constants, attributes);
          }};
}

tensor::Shape shape_of(const graph::Value& value) {
  tensor::Shape shape;
  for (const graph::Dim& dim : *value.type.dims) shape.push_back(dim.value());
  return shape;
}

OneNode first_node(graph::Graph graph) {
  tensor::Tensor input = hone::test::random_tensor(shape_of(graph.value(graph.inputs[0])), 7);
  return {std::move(graph), std::move(input)};
}

/// The first node of a graph given as text.
Case written(std::string name, std::string text) {
  return {std::move(name), [=](hone::test::GraphBuilder&) { return first_node(graph::parse_graph(text)); }};
}

/// The first node that passes leave of a case in tests/cases/<pass>/rewrites.case.
Case rewritten(const std::string& pass, const std::string& name) {
  return {name, [=](hone::test::GraphBuilder&) {
            const std::string file = fmt::format("{}/tests/cases/{}/rewrites.case", HONE_SOURCE_DIR, pass);
            for (const test::Case& each : test::read_cases(file, pass)) {
              if (each.name != name) continue;
              graph::Graph graph = graph::parse_graph(each.need("before").padded());
              test::apply_passes(each, graph);
              return first_node(std::move(graph));
            }
            throw std::logic_error(name + " is no case of " + file);
          }};
}

/// Operators and regions of the rows of tokens, of bytes, and of places.
std::vector<Case> further() {
  return {
      rewritten("rms_norm_fusion", "fuses_what_exporters_write"),
      rewritten("rotary_fusion", "fuses_the_halves_of_rows"),
      rewritten("cached_attention_fusion", "appends_in_the_attention"),
      rewritten("cached_attention_fusion", "turns_queries_and_keys"),
      rewritten("normalization_fusion", "fuses_a_group_normalisation_and_its_swish"),
      rewritten("row_product_fusion", "puts_products_of_one_value_side_by_side"),
      rewritten("bottleneck_fusion", "makes_one_node_of_three_convolutions"),
      rewritten("stem_fusion", "absorbs_the_next_convolution"),
      rewritten("convolution_sum_fusion", "makes_one_node_of_a_block_and_its_projection"),
      rewritten("quantized_fusion", "fuses_a_residual_block"),
      rewritten("quantized_sum_fusion", "makes_one_node_of_a_block_and_its_projection"),
      rewritten("quantized_fusion", "fuses_a_map"),
      rewritten("quantized_fusion", "fuses_a_pool"),
      written("one token",
              "graph (%x: float32[1, 896]) -> (%y) {\n  %w = const float32[896, 4864] seeded(1)\n"
              "  %y = MatMul(%x, %w)\n}\n"),
      written("a matrix and a stack",
              "graph (%x: float32[1, 16, 24]) -> (%y) {\n  %w = const float32[512, 16] seeded(1)\n"
              "  %y = MatMul(%w, %x)\n}\n"),
      written("a vector",
              "graph (%x: float32[768], %w: float32[4, 768, 32]) -> (%y) {\n  %y = MatMul(%x, %w)\n}\n"),
      written("stacks that are broadcast against each other",
              "graph (%x: float32[8, 1, 16, 64], %w: float32[1, 4, 64, 16]) -> (%y) {\n"
              "  %y = MatMul(%x, %w)\n}\n"),
      written("a transposed operand",
              "graph (%x: float32[64, 16]) -> (%y) {\n  %w = const float32[64, 32] seeded(1)\n"
              "  %y = Gemm(%x, %w) { transA = 1 }\n}\n"),
      written("an addend of full shape",
              "graph (%x: float32[16, 64], %c: float32[16, 32]) -> (%y) {\n"
              "  %w = const float32[64, 32] seeded(1)\n  %y = Gemm(%x, %w, %c) { beta = 2.0 }\n}\n"),
      written("Col2Im",
              "graph (%x: float32[1, 64, 49]) -> (%y) {\n  %i = const int64[2] [14, 14]\n"
              "  %b = const int64[2] [2, 2]\n  %y = Col2Im(%x, %i, %b) { strides = [2, 2] }\n}\n"),
      written("OneHot",
              "graph (%x: int64[8]) -> (%y) {\n  %d = const int64[] 10\n  %v = const float32[2] [0, 1]\n"
              "  %y = OneHot(%x, %d, %v)\n}\n"),
      written("RoiAlign",
              "graph (%x: float32[1, 16, 28, 28], %b: float32[4, 4], %i: int64[4]) -> (%y) {\n"
              "  %y = RoiAlign(%x, %b, %i) { output_height = 7, output_width = 7 }\n}\n"),
      written("QuantizeLinear",
              "graph (%x: float32[1, 64, 14, 14]) -> (%y) {\n  %s = const float32[] 0.05\n"
              "  %z = const int8[] 0\n  %y = QuantizeLinear(%x, %s, %z)\n}\n"),
      written("Concat",
              "graph (%x: float32[1, 8, 14, 14], %z: float32[1, 24, 14, 14]) -> (%y) {\n"
              "  %y = Concat(%x, %z) { axis = 1 }\n}\n"),
      written("CumSum",
              "graph (%x: float32[8, 1000]) -> (%y) {\n  %axis = const int64[] 1\n"
              "  %y = CumSum(%x, %axis)\n}\n"),
      written("GatherElements",
              "graph (%x: float32[8, 100], %i: int64[8, 5]) -> (%y) {\n"
              "  %y = GatherElements(%x, %i) { axis = 1 }\n}\n"),
      written("ScatterElements",
              "graph (%x: float32[8, 100], %i: int64[8, 5], %u: float32[8, 5]) -> (%y) {\n"
              "  %y = ScatterElements(%x, %i, %u) { axis = 1 }\n}\n"),
      written("GridSample",
              "graph (%x: float32[1, 16, 28, 28], %g: float32[1, 14, 14, 2]) -> (%y) {\n"
              "  %y = GridSample(%x, %g)\n}\n"),
      written("Resize",
              "graph (%x: float32[1, 16, 28, 28]) -> (%y) {\n"
              "  %s = const float32[4] [1, 1, 2, 2]\n"
              "  %y = Resize(%x, _, %s) { mode = \"linear\" }\n}\n"),
  };
}

std::vector<Case> convolutions() {
  return {
      convolution("3 x 3, 64 channels", "Conv", {1, 64, 56, 56}, {64, 64, 3, 3}, window(3, 1, 1)),
      convolution("1 x 1, 256 to 64", "Conv", {8, 256, 56, 56}, {64, 256, 1, 1}, window(1, 1, 0)),
      convolution("1 x 1, 512 to 2048, images of 7", "Conv", {1, 512, 7, 7}, {2048, 512, 1, 1},
                  window(1, 1, 0)),
      convolution("7 x 7 of three channels", "Conv", {1, 3, 224, 224}, {64, 3, 7, 7}, window(7, 2, 3)),
      convolution("11 x 11, stride 4", "Conv", {1, 3, 224, 224}, {64, 3, 11, 11}, window(11, 4, 2)),
      convolution("depthwise 3 x 3", "Conv", {1, 96, 56, 56}, {96, 1, 3, 3}, window(3, 1, 1, 96)),
      convolution("depthwise 7 x 7", "Conv", {1, 96, 28, 28}, {96, 1, 7, 7}, window(7, 1, 3, 96)),
      convolution("in 32 groups", "Conv", {1, 128, 28, 28}, {128, 4, 3, 3}, window(3, 1, 1, 32)),
      convolution("of 5 channels", "Conv", {1, 5, 9, 11}, {7, 5, 3, 3}, window(3, 1, 1)),
      convolution("of rows", "Conv", {1, 16, 100}, {32, 16, 3},
                  {{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}),
      convolution("of volumes", "Conv", {1, 16, 8, 8, 8}, {32, 16, 3, 3, 3},
                  {{"kernel_shape", Ints{3, 3, 3}}}),
      convolution("relu after it", "FusedConv", {1, 64, 56, 56}, {64, 64, 3, 3},
                  with_post_op(window(3, 1, 1), "relu")),
      convolution("hard_swish after it", "FusedConv", {1, 64, 56, 56}, {64, 64, 3, 3},
                  with_post_op(window(3, 1, 1), "hard_swish")),
      convolution("gelu after it", "FusedConv", {1, 64, 56, 56}, {64, 64, 3, 3},
                  with_post_op(window(3, 1, 1), "gelu_erf")),
      region("a stem and its pool", "conv_max_pool", {1, 3, 224, 224}, {"conv", "pool"},
             [](auto& b, graph::ValueId x) {
               const graph::ValueId conv = b.node("FusedConv", {x, b.random({64, 3, 7, 7}), b.random({64})},
                                                  with_post_op(window(7, 2, 3), "relu"));
               return b.node("MaxPool", {conv},
                             {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
             }),
      region("a convolution and its global pool", "conv_global_pool", {1, 512, 7, 7}, {"conv", "pool"},
             [](auto& b, graph::ValueId x) {
               return b.node("GlobalAveragePool",
                             {b.node("FusedConv", {x, b.random({2048, 512, 1, 1}), b.random({2048})},
                                     with_post_op(window(1, 1, 0), "relu"))});
             }),
      convolution("transposed", "ConvTranspose", {1, 32, 14, 14}, {32, 16, 2, 2}, window(2, 2, 0)),
  };
}

std::vector<Case> others() {
  return {
      with_weights("Gemm", {1, 2048}, {{2048, 1000}, {1000}}),
      with_weights("MatMul", {128, 768}, {{768, 3072}}),
      with_weights("FusedMatMul", {128, 768}, {{768, 3072}, {3072}}, with_post_op({}, "relu")),
      with_weights("FusedMatMul", {128, 768}, {{768, 3072}, {3072}}, with_post_op({}, "gelu_erf")),
      region("squeeze_excite", "squeeze_excite", {1, 96, 28, 28}, {"pool", "squeeze", "gate", "product"},
             [](auto& b, graph::ValueId x) {
               const graph::ValueId hidden = b.node(
                   "FusedConv", {b.node("GlobalAveragePool", {x}), b.random({8, 96, 1, 1}), b.random({8})},
                   with_post_op({}, "relu"));
               return b.node("Mul", {x, b.node("FusedConv", {hidden, b.random({96, 8, 1, 1}), b.random({96})},
                                               with_post_op({}, "sigmoid"))});
             }),
      region("attention", "attention", {1, 12, 128, 64}, {"k", "qk", "softmax", "result"},
             [](auto& b, graph::ValueId x) {
               const graph::ValueId keys = b.node("Transpose", {x}, {{"perm", Ints{0, 1, 3, 2}}});
               return b.node("MatMul", {b.node("Softmax", {b.node("MatMul", {x, keys})}), x});
             }),
      unary("MaxPool", {1, 64, 112, 112}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}}),
      unary("AveragePool", {1, 64, 56, 56}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
      unary("GlobalAveragePool", {1, 2048, 7, 7}),
      unary("Relu", {1, 64, 56, 56}),
      unary("Erf", {4, 100}),
      with_weights("Mul", {1, 64, 56, 56}, {{1, 64, 1, 1}}),
      unary("Softmax", {12, 128, 128}),
      unary("Softmax", {1, 21, 65, 65}, {{"axis", int64_t{1}}}),
      with_weights("LayerNormalization", {1, 197, 768}, {{768}, {768}}),
      with_weights("GroupNormalization", {1, 64, 32, 32}, {{64}, {64}}, {{"num_groups", int64_t{8}}}),
      with_weights("InstanceNormalization", {1, 64, 32, 32}, {{64}, {64}}),
      unary("LRN", {1, 64, 27, 27}, {{"size", int64_t{5}}}),
      unary("Transpose", {1, 196, 12, 64}, {{"perm", Ints{0, 2, 1, 3}}}),
      with_ints("Slice", {1, 64, 56}, {{0}, {32}, {1}}),
      unary("DepthToSpace", {1, 64, 14, 14}, {{"blocksize", int64_t{2}}}),
      with_ints("Gather", {100, 64}, {{3, 1, 2}}),
      with_ints("Pad", {1, 64, 56, 56}, {{0, 0, 1, 1, 0, 0, 1, 1}}),
      with_ints("ReduceMean", {1, 197, 768}, {{-1}}),
      with_ints("ReduceMax", {1, 64, 56, 56}, {{2, 3}}),
      unary("ArgMax", {8, 1000}, {{"axis", int64_t{-1}}}),
      with_ints("TopK", {8, 1000}, {{5}}, {}, 2),
  };
}

/// "12 ways", the way where there is one only, or why not.
std::string answer(const engine::Tactic& tactic, const engine::StepRequest& request) {
  engine::WeightStore weights;
  const std::vector<std::string> variants = tactic.variants(request);
  const engine::Offer offer = variants.empty() ? tactic.offer(request, weights)
                                               : tactic.offer_variant(request, weights, variants.front());
  if (offer.refusal) return offer.refusal.text();
  EXPECT_NE(offer.kernel, nullptr) << tactic.name;
  return variants.empty() ? "offered"
                          : fmt::format("offered in {} ways, {} first", variants.size(), variants.front());
}

/// Equal answers of GPUs after each other stand in one row.
std::string rows(const Case& test, Precision precision) {
  hone::test::GraphBuilder builder;
  const OneNode node = test.make(builder);
  const Layout layout = node.input.rank() == 4 ? Layout::kChannelsLast : Layout::kPlain;
  std::vector<std::map<std::string, std::string>> answers;
  std::vector<std::string> names;
  for (Gpu& gpu : absent_gpus) {
    std::map<std::string, std::string>& of_gpu = answers.emplace_back();
    const TacticList tactics = own_tactics(gpu);
    for (const engine::Tactic* tactic : engine::tactics_for(tactics, node.graph.nodes[0])) {
      const std::string& name = tactic->name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      of_gpu[name] = node.asked(
          [&](engine::StepRequest request) {
            request.policy = engine::policy_of(precision);
            return answer(*tactic, request);
          },
          layout);
    }
  }
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("  {}\n", name);
    for (size_t i = 0; i < std::size(absent_gpus); ++i) {
      std::string which = fmt::format("sm_{}", absent_gpus[i].properties().architecture());
      const std::string& told = answers[i][name];
      while (i + 1 < std::size(absent_gpus) && answers[i + 1][name] == told)
        which += fmt::format(", {}", absent_gpus[++i].properties().architecture());
      text += fmt::format("    {}: {}\n", which, told);
    }
  }
  return text;
}

std::string table() {
  std::string text;
  for (const auto& cases : {convolutions(), others(), further()}) {
    for (const Case& test : cases) {
      hone::test::GraphBuilder builder;
      const OneNode node = test.make(builder);
      const std::string op = graph::kind_of(node.graph.nodes[0]);
      for (const Precision precision : {Precision::kFp16, Precision::kFp32}) {
        text += fmt::format("{}{} in {}, x {}\n", op, test.name == op ? "" : ", " + test.name,
                            tensor::precision_name(precision), tensor::shape_text(node.input.shape()));
        text += rows(test, precision);
      }
    }
  }
  return text;
}

/// The kernel of the first offer that the tactic makes for the node; null where it refuses.
std::shared_ptr<const engine::Kernel> first_kernel(const engine::Tactic& tactic,
                                                   const engine::StepRequest& request) {
  engine::WeightStore weights;
  const std::vector<std::string> variants = tactic.variants(request);
  return (variants.empty() ? tactic.offer(request, weights)
                           : tactic.offer_variant(request, weights, variants.front()))
      .kernel;
}

/// A kernel that is let in early without waiting would read what is not written yet.
TEST(Offers, OfRowsThatStartEarlyHaveKernelsThatWait) {
  std::set<std::string> asked;
  for (const auto& cases : {convolutions(), others(), further()}) {
    for (const Case& test : cases) {
      hone::test::GraphBuilder builder;
      const OneNode node = test.make(builder);
      const Layout layout = node.input.rank() == 4 ? Layout::kChannelsLast : Layout::kPlain;
      for (Gpu& gpu : absent_gpus) {
        const TacticList tactics = own_tactics(gpu);
        for (const engine::Tactic* tactic : engine::tactics_for(tactics, node.graph.nodes[0])) {
          if (!tactic->starts_early) continue;
          node.asked(
              [&](engine::StepRequest request) {
                // Nothing is launched for an empty result.
                if (tensor::element_count(request.outputs[0].shape) <= 0) return 0;
                request.policy = engine::policy_of(Precision::kFp16);
                const auto kernel = first_kernel(*tactic, request);
                if (kernel == nullptr) return 0;
                const auto* early = dynamic_cast<const EarlyKernel*>(kernel.get());
                EXPECT_TRUE(early != nullptr && early->waits()) << tactic->name << " of " << test.name;
                asked.insert(tactic->name);
                return 0;
              },
              layout);
        }
      }
    }
  }
  std::string names;
  for (const std::string& name : asked) names += name + " ";
  for (const char* known : {"warpgroup_gemm", "implicit_gemm", "warpgroup_gemm+pool", "rotary",
                            "scatter_picks", "gather_strided", "layer_normalization"})
    EXPECT_TRUE(asked.contains(known)) << known << " is not among " << names;
  EXPECT_FALSE(asked.contains("grouped"));
}

TEST(Offers, AreWhatTheTableSaysOnEveryGpu) {
  const std::string path = std::string(HONE_SOURCE_DIR) + "/tests/device/cuda/offers.txt";
  const std::string found = table();
  if (std::getenv("HONE_WRITE_OFFERS") != nullptr) base::write_file_atomic(path, found);
  EXPECT_EQ(found, base::read_file(path)) << "HONE_WRITE_OFFERS=1 writes the table anew";
}

/// Rows that depend on libraries' answers are not among own_tactics().
TEST(Offers, AskEveryTactic) {
  const std::string found = table();
  std::set<std::string> missing;
  for (const engine::Tactic& tactic : own_tactics(absent_gpus[0])) {
    if (found.find("  " + tactic.name + "\n") == std::string::npos) missing.insert(tactic.name);
  }
  EXPECT_TRUE(missing.empty()) << fmt::format("no case asks {}", fmt::join(missing, ", "));
}

}  // namespace
}  // namespace hone::device::cuda
