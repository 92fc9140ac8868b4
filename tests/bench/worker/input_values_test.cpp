// Values that mean something to a model: tokens, masks, positions.
#include "bench/worker/input_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/file.hpp"
#include "bench/worker/decoding.hpp"
#include "bench/worker/inputs.hpp"
#include "graph/infer.hpp"
#include "graph/text/parser.hpp"
#include "import/typical_sizes.hpp"
#include "support/usage_error.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

using test::usage_error;

/// Embeds tokens and positions, adds a mask of what was before and a cache that grows by the tokens.
importer::Model make_decoder() {
  auto graph = std::make_shared<graph::Graph>(graph::parse_graph(R"(
graph (%input_ids: int32[batch, sequence], %attention_mask: int64[batch, total],
       %position_ids: int64[batch, sequence], %count: int64[batch, 3], %past.0: float32[batch, past, 2])
    -> (%y, %present.0, %m, %c) {
  %words = const float32[7, 2] seeded(1)
  %places = const float32[9, 2] seeded(2)
  %wide = Cast(%input_ids) {to = 7}
  %a = Gather(%words, %wide)
  %b = Gather(%places, %position_ids)
  %y = Add(%a, %b)
  %present.0 = Concat(%past.0, %y) {axis = 1}
  %m = Neg(%attention_mask)
  %c = Neg(%count)
}
)"));
  graph::infer_types(*graph);
  importer::Metadata metadata;
  importer::set_typical_size("sequence", 5, &metadata);
  return {"decoder", {}, graph, metadata};
}

const std::map<std::string, tensor::Shape> kTotal{{"attention_mask", {1, 8}}};

std::vector<int64_t> first_set(const InputFile& input) {
  const std::string bytes = base::read_file(input.file);
  tensor::Tensor values(input.dtype, input.shape);
  std::memcpy(values.mutable_bytes(), bytes.data() + input.offsets[0], values.byte_size());
  return values.to_int64();
}

TEST(InputValues, AreTokensMasksAndPositions) {
  const system::Scratch scratch;
  std::map<std::string, tensor::Shape> shapes = kTotal;
  shapes["past.0"] = {1, 3, 2};
  const ModelInfo model = describe_model(make_decoder(), "decoder", shapes);
  const InputPool pool(model, 4, scratch.folder());
  const auto inputs = pool.at_batch(4, 1);
  EXPECT_EQ(inputs[0].shape, (tensor::Shape{4, 5})) << "the typical length";
  const std::vector<int64_t> tokens = first_set(inputs[0]);
  EXPECT_EQ(*std::ranges::min_element(tokens), 0);
  EXPECT_LT(*std::ranges::max_element(tokens), 7);
  EXPECT_EQ(first_set(inputs[1]), std::vector<int64_t>(32, 1));
  EXPECT_EQ(first_set(inputs[2]),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  for (const int64_t value : first_set(inputs[3])) EXPECT_TRUE(value >= 1 && value <= 9) << value;
}

TEST(InputValues, ArePlacesInWhatTheyIndexAfterMovesToo) {
  graph::Graph graph = graph::parse_graph(R"(
graph (%gathered: int64[2, 3], %scattered: int64[2, 3]) -> (%y, %z) {
  %words = const float32[7, 2] seeded(1)
  %places = const float32[5, 6] seeded(2)
  %updates = const float32[2, 3] seeded(3)
  %counts = const int64[2] [1, 2]
  %twice = Tile(%gathered, %counts)
  %y = Gather(%words, %twice)
  %z = ScatterElements(%places, %scattered, %updates)
}
)");
  graph::infer_types(graph);
  for (const auto& [input, bound] : {std::pair(0, 7), {1, 5}}) {
    const InputValues values = values_of(graph, graph.inputs[static_cast<size_t>(input)]);
    EXPECT_EQ(values.kind, InputValues::Kind::kBelow) << input;
    EXPECT_EQ(values.bound, bound);
  }
}

TEST(ModelInfo, ASizeHoldsForAllInputsThatNameIt) {
  std::map<std::string, tensor::Shape> shapes = kTotal;
  shapes["past.0"] = {1, 3, 2};
  shapes["position_ids"] = {1, 6};
  const ModelInfo model = describe_model(make_decoder(), "decoder", shapes);
  EXPECT_EQ(model.inputs[0].shape, (tensor::Shape{1, 6}));
}

TEST(Decoding, TheCacheHoldsWhatIsBeforeTheNewTokens) {
  const Decoding decoding{{"past.*=present.*"}, 9};
  const ModelInfo model = describe_decoder(make_decoder(), "decoder", {{"input_ids", {1, 1}}}, decoding);
  EXPECT_EQ(model.inputs[0].shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(model.inputs[1].shape, (tensor::Shape{1, 9})) << "the mask is of all";
  EXPECT_EQ(model.inputs[2].shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(model.inputs[2].values.first, 8) << "the position of the new token";
  EXPECT_EQ(model.inputs[4].shape, (tensor::Shape{1, 8, 2}));
  EXPECT_EQ(describe_decoder(make_decoder(), "decoder", {}, decoding).inputs[4].shape,
            (tensor::Shape{1, 4, 2}))
      << "five tokens are typical";
}

TEST(Decoding, WhatIsNoContextIsRefused) {
  const auto refusal = [](const std::map<std::string, tensor::Shape>& shapes, const Decoding& decoding) {
    return usage_error([&] { describe_decoder(make_decoder(), "decoder", shapes, decoding); });
  };
  EXPECT_EQ(refusal({}, {{"past.*=present.*"}, 5}),
            "--context 5 has no room for a cache besides the 5 tokens of a run");
  EXPECT_EQ(refusal({{"past.0", {1, 3, 2}}}, {{"past.*=present.*"}, 8}),
            "--shapes gives the input 'past.0', whose shape follows from --context as it is bound");
  EXPECT_EQ(
      refusal({}, {{"count=c"}, 8}),
      "--context is for caches with one open dimension after the batch, 'count' is of type int64[batchx3]");
  EXPECT_EQ(refusal({}, {{"attention_mask=m"}, 8}),
            "--context is for caches that grow: of 'attention_mask' it is not known by how much");
}

TEST(TypicalSizes, AreNumbers) {
  EXPECT_EQ(importer::typical_sizes({{"size.a", "3"}, {"labels", "x"}}).at("a"), 3);
  for (const char* text : {"", "0", "-1", "x", "3x", "99999999999999999999"}) {
    try {
      importer::typical_sizes({{"size.a", text}});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_EQ(std::string(error.what()), "the model's metadata give size.a as '" + std::string(text) +
                                               "', which is no positive number");
    }
  }
}

}  // namespace
}  // namespace hone::bench
