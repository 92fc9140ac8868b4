// Decoding through a cache: what comes token by token is what one run over all tokens gives.
#include "hone/sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hone/engine.hpp"
#include "support/usage_error.hpp"

namespace hone {
namespace {

using test::usage_error;

constexpr int64_t kVocabulary = 50257;
const std::vector<std::string> kCaches{"past_key_values.*=present.*"};
const std::vector<int64_t> kTokens{464, 3797, 3332, 319, 262, 2603, 11};

/// One for all tests: it takes a second or two to build.
Engine& gpt2() {
  static Engine engine = [] {
    BuildOptions options;
    options.optimization_level = 0;
    options.threads = 2;
    return Engine::build("gpt2", options);
  }();
  return engine;
}

/// Logits of each token, for tokens that come in runs of these lengths.
std::vector<float> decode(Sequence& sequence, const std::vector<size_t>& lengths) {
  std::vector<float> logits;
  size_t first = 0;
  for (const size_t length : lengths) {
    const std::span<const int64_t> tokens(kTokens.data() + first, length);
    const auto outputs = sequence.run({{tokens, {1, static_cast<int64_t>(length)}}});
    EXPECT_EQ(outputs.size(), 1U);
    const auto rows = outputs.at(0).elements<float>();
    logits.insert(logits.end(), rows.begin(), rows.end());
    first += length;
  }
  return logits;
}

TEST(Sequence, TokensThroughTheCacheAreAsInOneRun) {
  Sequence sequence = gpt2().make_sequence(kCaches);
  ASSERT_EQ(sequence.inputs().size(), 1U);
  EXPECT_EQ(sequence.inputs()[0].name, "input_ids");
  ASSERT_EQ(sequence.outputs().size(), 1U);
  const std::vector<float> whole = decode(sequence, {kTokens.size()});
  ASSERT_EQ(whole.size(), kTokens.size() * kVocabulary);
  const float largest = std::abs(*std::ranges::max_element(whole, {}, [](float x) { return std::abs(x); }));
  for (const std::vector<size_t>& lengths : {std::vector<size_t>{1, 1, 1, 1, 1, 1, 1}, {4, 1, 2}}) {
    sequence.reset();
    const std::vector<float> parts = decode(sequence, lengths);
    ASSERT_EQ(parts.size(), whole.size());
    for (size_t row = 0; row < kTokens.size(); ++row) {
      const auto expected = std::span(whole).subspan(row * kVocabulary, kVocabulary);
      const auto found = std::span(parts).subspan(row * kVocabulary, kVocabulary);
      EXPECT_EQ(std::ranges::max_element(found) - found.begin(),
                std::ranges::max_element(expected) - expected.begin());
      // Sums of up to 3072 products in another order, in 12 layers: some sqrt(3072 * 12) * 2^-24.
      for (size_t i = 0; i < kVocabulary; ++i) ASSERT_NEAR(found[i], expected[i], 1e-4F * largest) << i;
    }
  }
}

TEST(Sequence, TheCacheIsSeenAndCanBeGiven) {
  Sequence sequence = gpt2().make_sequence(kCaches);
  const std::string cache = "past_key_values.3.value";
  EXPECT_TRUE(sequence.state(cache).dims.empty());
  decode(sequence, {4});
  const Tensor kept = sequence.state(cache);
  EXPECT_EQ(kept.dims, (Dims{1, 12, 4, 64}));
  Sequence other = gpt2().make_sequence(kCaches);
  for (int layer = 0; layer < 12; ++layer) {
    for (const char* part : {"key", "value"}) {
      const std::string name = "past_key_values." + std::to_string(layer) + "." + part;
      const Tensor state = sequence.state(name);
      other.set(name, {state.bytes, state.type, state.dims});
    }
  }
  const std::span<const int64_t> next(kTokens.data() + 4, 1);
  const auto expected = sequence.run({{next, {1, 1}}});
  const auto found = other.run({{next, {1, 1}}});
  EXPECT_TRUE(std::ranges::equal(found[0].elements<float>(), expected[0].elements<float>()));
}

/// The caches stay where they are: the engine appends to them.
TEST(Sequence, CachesOfAFixedCapacityGiveTheSame) {
  Sequence growing = gpt2().make_sequence(kCaches);
  const std::vector<float> whole = decode(growing, {kTokens.size()});
  const float largest = std::abs(*std::ranges::max_element(whole, {}, [](float x) { return std::abs(x); }));
  BuildOptions options;
  options.optimization_level = 0;
  options.threads = 2;
  options.bind = kCaches;
  EXPECT_NE(
      usage_error([&] { Engine::build("gpt2", options); })
          .find("--bind needs the capacity of the caches: give the largest shape of one, as --maxShapes "
                "past_key_values.0.key:1x12x"),
      std::string::npos);
  options.shapes["past_key_values.0.key"] = {.min = {}, .opt = {}, .max = {1, 12, 8, 64}};
  Engine engine = Engine::build("gpt2", options);
  Sequence fixed = engine.make_sequence();
  ASSERT_EQ(fixed.inputs().size(), 1U);
  ASSERT_EQ(fixed.outputs().size(), 1U);
  for (const std::vector<size_t>& lengths : {std::vector<size_t>{1, 1, 1, 1, 1, 1, 1}, {4, 1, 2}}) {
    fixed.reset();
    const std::vector<float> parts = decode(fixed, lengths);
    ASSERT_EQ(parts.size(), whole.size());
    for (size_t i = 0; i < whole.size(); ++i) ASSERT_NEAR(parts[i], whole[i], 1e-4F * largest) << i;
  }
  // The eighth token has room, two have not, and refusing them changes nothing.
  const std::span<const int64_t> two(kTokens.data(), 2);
  try {
    fixed.run({{two, {1, 2}}});
    ADD_FAILURE() << "nine tokens in a cache of eight";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(),
                 "the caches hold 8 tokens, of which 7 are used, and 2 more come: build with larger "
                 "--maxShapes of the caches");
  }
  EXPECT_NO_THROW(fixed.run({{two.first(1), {1, 1}}}));
  EXPECT_EQ(usage_error([&] { fixed.state("past_key_values.0.key"); }),
            "the engine keeps its caches to itself: it was built to bind them");
}

TEST(Sequence, WhatIsNotBoundHasNoState) {
  Sequence sequence = gpt2().make_sequence(kCaches);
  EXPECT_EQ(usage_error([&] { sequence.state("input_ids"); }), "no input named 'input_ids' is bound");
  EXPECT_EQ(usage_error([&] { (void)gpt2().make_sequence({"past=present"}).inputs(); }).substr(0, 54),
            "binding past=present: the model has no input 'past'; i");
  EXPECT_THROW(sequence.run({}), Error);
}

}  // namespace
}  // namespace hone
