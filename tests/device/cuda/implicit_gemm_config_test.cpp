// Configurations of the implicit GEMM: which a problem has, in which order, and why others are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/conv_problems.hpp"
#include "device/cuda/plugin/kernels/gemm/implicit/implicit_gemm_params.hpp"

namespace hone::device::cuda {
namespace {

constexpr size_t kAll = 100000;

/// The kinds of layers that ResNet-50 has, in elements of two bytes and of four.
std::vector<ConvProblem> problems() {
  std::vector<ConvProblem> result = {problem(1, 56, 64, 64),       problem(1, 7, 512, 512),
                                     problem(1, 14, 1024, 256, 1), problem(8, 28, 256, 512, 1, 2),
                                     problem(32, 56, 64, 256, 1),  problem(128, 7, 2048, 512, 1),
                                     problem(1, 1, 8, 8, 1),       problem(2, 28, 128, 1000, 3, 2)};
  for (const Element element : {Element::kFloat, Element::kTf32}) {
    for (size_t i = 0; i < 8; ++i) {
      result.push_back(result[i]);
      result.back().element = element;
    }
  }
  return result;
}

DeviceProperties hopper() { return {}; }
DeviceProperties ampere() { return {.multiprocessors = 84, .shared_memory = 101376, .clusters = false}; }

std::vector<std::string> texts(const std::vector<ConvConfig>& configs) {
  std::vector<std::string> result;
  for (const ConvConfig& config : configs) result.push_back(config.text());
  return result;
}

TEST(ImplicitGemmConfig, ConfigurationsAreValidAndUnique) {
  for (const ConvProblem& p : problems()) {
    for (const DeviceProperties& device : {hopper(), ampere()}) {
      const auto configs = conv_configs(p, device, kAll);
      ASSERT_FALSE(configs.empty());
      std::set<std::string> seen;
      for (const ConvConfig& config : configs) {
        EXPECT_EQ(conv_refusal(p, config, device).text(), "") << config.text();
        EXPECT_TRUE(seen.insert(config.text()).second) << config.text() << " is there twice";
      }
    }
  }
}

TEST(ImplicitGemmConfig, LargeTilesOfFloatAreTriedInParts) {
  // 170 tiles of 64 x 128 leave many of 132 multiprocessors idle; smaller ones take longer for the same sums.
  ConvProblem p = problem(32, 13, 256, 256);
  p.element = Element::kFloat;
  const auto is_large_part = [](const ConvConfig& config) {
    return config.tile_m == 64 && config.tile_n == 128 && config.split_k > 1;
  };
  const auto guesses = texts(conv_configs(p, hopper()));
  const auto candidates = conv_candidates(p, hopper());
  EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(), is_large_part))
      << testing::PrintToString(texts(candidates));
  const auto all = texts(candidates);
  ASSERT_GE(all.size(), guesses.size());
  EXPECT_TRUE(std::equal(guesses.begin(), guesses.end(), all.begin())) << "none is lost";
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << "none is there twice";
}

TEST(ImplicitGemmConfig, OnlyFloatHasMoreCandidatesThanGuesses) {
  for (const ConvProblem& p : problems()) {
    if (p.element == Element::kFloat) continue;
    EXPECT_EQ(texts(conv_candidates(p, hopper())), texts(conv_configs(p, hopper())));
  }
}

TEST(ImplicitGemmConfig, TheOrderIsStableAndALimitTakesItsBeginning) {
  for (const ConvProblem& p : problems()) {
    const auto all = texts(conv_configs(p, hopper(), kAll));
    EXPECT_EQ(texts(conv_configs(p, hopper(), kAll)), all);
    const auto few = texts(conv_configs(p, hopper()));
    ASSERT_EQ(few.size(), std::min<size_t>(24, all.size()));
    EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  }
}

TEST(ImplicitGemmConfig, DeepLayersOfOneImageAreSplitAndFullOnesAreNot) {
  EXPECT_GT(conv_configs(problem(1, 7, 512, 512), hopper()).front().split_k, 1);
  EXPECT_EQ(conv_configs(problem(128, 56, 64, 256, 1), hopper()).front().split_k, 1);
}

TEST(ImplicitGemmConfig, TextIsReadBack) {
  for (const ConvProblem& p : problems()) {
    for (const ConvConfig& config : conv_configs(p, hopper(), kAll)) {
      const auto read = ConvConfig::parse(config.text());
      ASSERT_TRUE(read) << config.text();
      EXPECT_EQ(read->tile_m, config.tile_m);
      EXPECT_EQ(read->tile_n, config.tile_n);
      EXPECT_EQ(read->tile_k, config.tile_k);
      EXPECT_EQ(read->stages, config.stages);
      EXPECT_EQ(read->split_k, config.split_k);
      if (config.split_k > 1) {
        EXPECT_EQ(read->reduction, config.reduction);
      }
    }
  }
  EXPECT_EQ(ConvConfig::parse("64x32x64_s4_w16")->reduction, Reduction::kWorkspace);
}

TEST(ImplicitGemmConfig, OtherTextsAreNoConfigurations) {
  for (const char* text :
       {"", "64", "64x32x64", "64x32x64_s", "64x32x64_s4_", "64x32x64_s4_c", "64x32x64_s4_c1",
        "64x32x64_s4_x8", "64x32x64_s04", "064x32x64_s4", " 64x32x64_s4", "64x32x64_s4 ", "64x32x64_s4_c8_c8",
        "+64x32x64_s4", "64x32x64_S4", "64x99999x64_s4"}) {
    EXPECT_FALSE(ConvConfig::parse(text)) << text;
  }
}

TEST(ImplicitGemmConfig, ProblemsAreRefusedWithTheReason) {
  const auto refusal = [](auto change) {
    ConvProblem p = problem(1, 56, 64, 64);
    change(p);
    EXPECT_EQ(conv_configs(p, hopper()).empty(), static_cast<bool>(conv_refusal(p)));
    return conv_refusal(p).text();
  };
  EXPECT_EQ(refusal([](ConvProblem&) {}), "");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.channels = 63; }), "channels are no multiple of 8");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.channels = 3; }), "channels are no multiple of 8");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.filters = 10; }), "filters are no multiple of 8");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.batch = 0; }), "an extent, stride or dilation is below 1");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.stride_w = 0; }), "an extent, stride or dilation is below 1");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.filters = 1 << 21; }), "an extent is above 2^20");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.pad_left = -(1 << 21); }), "a padding is above 2^20");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.dilation_h = 1 << 19; }), "the window spans more than 2^20");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.kernel_h = 59; }), "the window is larger than the padded input");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.pad_bottom = -60; }),
            "the window is larger than the padded input");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.pixel_pitch = 3; }),
            "pixels do not start at multiples of 16 bytes");
  EXPECT_EQ(refusal([](ConvProblem& p) { p.batch = 1 << 13; }), "the input has more than 2^30 elements");
}

TEST(ImplicitGemmConfig, ConfigurationsAreRefusedWithTheReason) {
  const ConvProblem p = problem(1, 14, 256, 256);
  const auto refusal = [&](const char* text, const DeviceProperties& device) {
    return conv_refusal(p, ConvConfig::parse(text).value(), device).text();
  };
  EXPECT_EQ(refusal("64x64x64_s4", hopper()), "");
  EXPECT_EQ(refusal("48x64x64_s4", hopper()), "no kernel has the tile of 48x64x64_s4");
  EXPECT_EQ(refusal("64x64x64_s2", hopper()), "stages are not 3 to 6");
  EXPECT_EQ(refusal("64x64x64_s7", hopper()), "stages are not 3 to 6");
  EXPECT_EQ(refusal("64x64x64_s4_w17", hopper()), "the depth is not split into 1 to 16");
  EXPECT_EQ(refusal("64x64x64_s4_c3", hopper()), "a cluster has 2, 4 or 8 blocks");
  EXPECT_EQ(refusal("64x64x64_s4_c4", hopper()), "");
  EXPECT_EQ(refusal("64x64x64_s4_c4", ampere()), "the device has no thread block clusters");
  EXPECT_EQ(refusal("64x64x64_s4", {.async_copies = false, .clusters = false}),
            "it needs compute capability 8.0");
  EXPECT_EQ(refusal("64x64x64_s4_w4", ampere()), "");
  EXPECT_EQ(refusal("128x128x64_s6", ampere()), "it needs more shared memory than a block can get");
  const ConvConfig config = ConvConfig::parse("64x64x64_s4").value();
  DeviceProperties exact = hopper();
  exact.shared_memory = static_cast<int>(shared_bytes(config, p.element, true));
  EXPECT_EQ(conv_refusal(p, config, exact).text(), "");
  --exact.shared_memory;
  EXPECT_EQ(conv_refusal(p, config, exact).text(), "it needs more shared memory than a block can get");
  const ConvProblem shallow = problem(1, 14, 64, 64, 1);
  EXPECT_EQ(conv_refusal(shallow, ConvConfig::parse("64x64x64_s4_c2").value(), hopper()).text(),
            "the depth has fewer steps than parts");
  const ConvProblem large = problem(64, 112, 64, 256);
  EXPECT_EQ(conv_refusal(large, ConvConfig::parse("32x32x64_s4_w4").value(), hopper()).text(),
            "it has too many tiles to split their depth");
}

TEST(ImplicitGemmConfig, FourChannelsOfFourBytesAreEnough) {
  ConvProblem p = problem(1, 14, 12, 64);
  EXPECT_EQ(conv_refusal(p).text(), "channels are no multiple of 8");
  p.element = Element::kFloat;
  EXPECT_EQ(conv_refusal(p).text(), "");
  p.channels = 6;
  EXPECT_EQ(conv_refusal(p).text(), "channels are no multiple of 4");
}

TEST(ImplicitGemmConfig, AStageOfFloatsIsHalfAsDeepInTheSameBytes) {
  ConvProblem p = problem(1, 14, 64, 64);
  const ConvConfig config = ConvConfig::parse("64x64x32_s4").value();
  const int64_t halves = shared_bytes(config, Element::kHalf, false);
  EXPECT_EQ(shared_bytes(config, Element::kFloat, false) - halves, 4 * (64 + 64) * 32 * 2);
  p.element = Element::kTf32;
  EXPECT_EQ(conv_refusal(p, config, hopper()).text(), "");
  EXPECT_EQ(conv_refusal(p, ConvConfig::parse("64x64x128_s4").value(), hopper()).text(),
            "no kernel has the tile of 64x64x128_s4");
}

TEST(ImplicitGemmConfig, DevicesWithoutClustersGetNone) {
  for (const ConvProblem& p : problems()) {
    for (const ConvConfig& config : conv_configs(p, ampere(), kAll)) {
      EXPECT_TRUE(config.split_k == 1 || config.reduction == Reduction::kWorkspace) << config.text();
      EXPECT_LE(shared_bytes(config, p.element, true), ampere().shared_memory) << config.text();
    }
  }
}

TEST(ImplicitGemmConfig, OnlyPartsInGlobalMemoryNeedAWorkspace) {
  const ConvProblem p = problem(2, 14, 256, 100 * 8);
  const auto bytes = [&](const char* text) {
    return conv_workspace_bytes(p, ConvConfig::parse(text).value());
  };
  const auto counters = [&](const char* text) {
    return conv_counter_bytes(p, ConvConfig::parse(text).value());
  };
  EXPECT_EQ(bytes("64x64x64_s4"), 0);
  EXPECT_EQ(bytes("64x64x64_s4_c8"), 0);
  EXPECT_EQ(counters("64x64x64_s4"), 0);
  EXPECT_EQ(counters("64x64x64_s4_c8"), 0);
  // 392 pixels make 7 tiles of 64, 800 filters 13: a float a part and element of each tile.
  EXPECT_EQ(bytes("64x64x64_s4_w3"), 7 * 13 * 3 * 64 * 64 * 4);
  EXPECT_EQ(counters("64x64x64_s4_w3"), 7 * 13 * 4);
  EXPECT_EQ(bytes("64x32x64_s4_w16"), 7 * 25 * 16 * 64 * 32 * 4);
  EXPECT_EQ(counters("64x32x64_s4_w16"), 7 * 25 * 4);
}

}  // namespace
}  // namespace hone::device::cuda
