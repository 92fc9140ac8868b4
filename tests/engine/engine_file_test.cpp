// Engine files: what is saved comes back, and nothing that is damaged or forged gets through.
#include "engine/engine_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <limits>

#include "base/file.hpp"
#include "base/json.hpp"
#include "device/cpu/cpu_device.hpp"
#include "engine/builder.hpp"
#include "engine/context.hpp"
#include "support/equivalence.hpp"

namespace hone::engine {
namespace {

using test::GraphBuilder;

constexpr size_t kPrelude = 24;
constexpr size_t kChecksumFrom = 16;

const Device& device() { return device::cpu::cpu_device(); }

class EngineFile : public ::testing::Test {
 protected:
  EngineFile() {
    GraphBuilder b;
    auto x = b.input("x", {graph::Dim::symbol("batch"), 3, 8, 8});
    auto y = b.node("Flatten", {b.node("GlobalAveragePool", {b.node("Relu", {b.conv(x, 3, 32)})})});
    graph_ = b.finish({b.node("Gemm", {y, b.random({5, 32}), b.random({5})}, {{"transB", int64_t{1}}})});
    BuildOptions options;
    options.model = "small";
    options.threads = 1;
    options.optimization_level = 0;
    options.shapes["x"] = {{1, 3, 8, 8}, {1, 3, 8, 8}, {4, 3, 8, 8}};
    engine_ = build_engine(graph_, device(), options);
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("hone-engine-{}-{}.hone", ::getpid(),
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    save_engine(*engine_, device(), path_);
    bytes_ = base::read_file(path_);
  }
  ~EngineFile() override { std::filesystem::remove(path_); }

  /// Writes the bytes and loads them; the sentence of the refusal, or "" when they load and run.
  std::string load(const std::string& bytes) {
    base::write_file_atomic(path_, bytes);
    try {
      const auto engine = load_engine(path_);
      Context context(engine, device(), 1);
      context.run(test::random_inputs(graph_, 1, 1));
      return "";
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kBadInput || error.kind() == ErrorKind::kEnvironment)
          << error.what();
      return error.what();
    }
  }

  /// The file with another header, and lengths and checksum that fit it.
  std::string forged(const std::function<void(Json&)>& change) const {
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data() + 16, sizeof length);
    Json header = Json::parse(bytes_.substr(kPrelude, length));
    const std::string data = bytes_.substr((kPrelude + length + 63) / 64 * 64);
    change(header);
    const std::string text = header.dump();
    std::string result = bytes_.substr(0, kPrelude) + text;
    result.resize((result.size() + 63) / 64 * 64, '\0');
    result += data;
    length = text.size();
    std::memcpy(result.data() + 16, &length, sizeof length);
    return sealed(result);
  }

  static std::string sealed(std::string bytes) {
    const auto crc = static_cast<uint32_t>(::crc32_z(
        0, reinterpret_cast<const Bytef*>(bytes.data()) + kChecksumFrom, bytes.size() - kChecksumFrom));
    std::memcpy(bytes.data() + 12, &crc, sizeof crc);
    return bytes;
  }

  graph::Graph graph_;
  std::shared_ptr<Engine> engine_;
  std::filesystem::path path_;
  std::string bytes_;
};

TEST_F(EngineFile, HasTheSizeThatIsSaidBefore) {
  EXPECT_EQ(engine_file_bytes(*engine_, device()), static_cast<int64_t>(bytes_.size()));
}

TEST_F(EngineFile, LoadedEngineComputesTheSame) {
  const auto loaded = load_engine(path_);
  EXPECT_EQ(loaded->model, "small");
  EXPECT_EQ(loaded->fingerprint(), engine_->fingerprint());
  for (const int64_t batch : {1, 4}) {
    const auto inputs = test::random_inputs(graph_, 9, batch);
    const auto expected = Context(engine_, device(), 1).run(inputs);
    const auto actual = Context(loaded, device(), 1).run(inputs);
    EXPECT_EQ(actual[0].to_double(), expected[0].to_double());
  }
}

TEST_F(EngineFile, SavingTwiceGivesTheSameBytes) {
  save_engine(*load_engine(path_), device(), path_);
  EXPECT_EQ(base::read_file(path_), bytes_);
}

TEST_F(EngineFile, EveryTruncationIsRefused) {
  for (size_t size = 0; size < bytes_.size(); size += size < 4096 ? 7 : 97)
    EXPECT_NE(load(bytes_.substr(0, size)), "") << size;
}

TEST_F(EngineFile, EveryFlippedByteIsRefused) {
  for (size_t i = 0; i < bytes_.size(); i += i < 256 ? 1 : 101) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_NE(load(damaged), "") << i;
  }
}

TEST_F(EngineFile, FlippedHeaderBytesWithAGoodChecksumNeverCrash) {
  uint64_t length = 0;
  std::memcpy(&length, bytes_.data() + 16, sizeof length);
  for (size_t i = kPrelude; i < kPrelude + length; i += 3) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 7)));
    load(sealed(damaged));
  }
}

TEST_F(EngineFile, ForgedFieldsAreRefusedByName) {
  EXPECT_THAT(load(forged([](Json& h) { h["blobs"][1][0] = 0; })),
              ::testing::HasSubstr("blob 1 at offset 0 leaves a hole or overlaps"));
  EXPECT_THAT(load(forged([](Json& h) { h["blobs"][0][1] = -1; })), ::testing::HasSubstr("blob 0"));
  EXPECT_THAT(load(forged([](Json& h) { h["graph"]["nodes"][0]["op"] = "Nothing"; })),
              ::testing::HasSubstr("operator 'Nothing' is not known"));
  EXPECT_THAT(load(forged([](Json& h) { h["graph"]["nodes"][0]["inputs"][0] = 99999; })),
              ::testing::HasSubstr("value number 99999 is out of range"));
  EXPECT_THAT(load(forged([](Json& h) { h["graph"]["values"][0]["dtype"] = 0; })),
              ::testing::HasSubstr("input 'x' has elements of undefined"));
  EXPECT_THAT(load(forged([](Json& h) { h["layout"] = "spiral"; })),
              ::testing::HasSubstr("unknown layout 'spiral'"));
  EXPECT_THAT(load(forged([](Json& h) { h.erase("graph"); })), ::testing::HasSubstr("graph"));
  EXPECT_THAT(load(forged([](Json& h) { h["micro_batch"] = -4; })), ::testing::HasSubstr("micro_batch"));
  EXPECT_THAT(load(forged([](Json& h) { h["packed"][0]["blob"] = 1000; })),
              ::testing::HasSubstr("blob 1000, which is not there"));
}

TEST_F(EngineFile, WhatNoBuildWritesIsRefused) {
  EXPECT_THAT(load(forged([](Json& h) { h["shapes"] = Json::object(); })),
              ::testing::HasSubstr("input 'x' has no shape range"));
  EXPECT_THAT(load(forged([](Json& h) { h["shapes"] = nullptr; })),
              ::testing::HasSubstr("input 'x' has no shape range"));
  EXPECT_THAT(load(forged([](Json& h) { h["places"].push_back(h["places"][0]); })),
              ::testing::HasSubstr("field 'places' holds 2 places, this program runs engines of one"));
  EXPECT_THAT(load(forged([](Json& h) { h["policies"] = Json::array(); })),
              ::testing::HasSubstr("field 'policies' names none"));
  EXPECT_THAT(load(forged([](Json& h) { h["policies"].push_back(h["policies"][0]); })),
              ::testing::HasSubstr("field 'policies' names fp32 twice"));
  EXPECT_THAT(load(forged([](Json& h) { h["places"][0]["fingerprint"] = std::string(100'000, 'x'); })),
              ::testing::HasSubstr("field 'fingerprint' holds 100000 bytes"));
}

TEST_F(EngineFile, NumbersThatAreNoIntegersOfTheirFieldAreRefused) {
  EXPECT_THAT(load(forged([](Json& h) { h["threads"] = 1e300; })),
              ::testing::HasSubstr("type must be integer, but is 1e+300"));
  EXPECT_THAT(load(forged([](Json& h) { h["threads"] = int64_t{1} << 32; })),
              ::testing::HasSubstr("integer 4294967296 is out of range"));
  EXPECT_THAT(load(forged([](Json& h) { h["graph"]["values"][0]["dtype"] = 1.5; })),
              ::testing::HasSubstr("type must be integer"));
}

TEST_F(EngineFile, ThreadsOutsideTheirRangeAreRefused) {
  for (const int threads : {-1, 0, 1025, std::numeric_limits<int>::max()}) {
    EXPECT_THAT(load(forged([&](Json& h) { h["threads"] = threads; })),
                ::testing::HasSubstr(fmt::format("field 'threads' is {}, outside 1 to 1024", threads)));
  }
  EXPECT_EQ(load(forged([](Json& h) { h["threads"] = 1024; })), "");
}

TEST_F(EngineFile, APolicyThatTheDeviceHasNotIsRefused) {
  for (const char* policy : {"fp16", "tf32"}) {
    EXPECT_EQ(load(forged([&](Json& h) { h["policies"].push_back(policy); })),
              fmt::format("field 'policies' names {}, in which the device cpu does not run", policy));
  }
  EXPECT_THAT(load(forged([](Json& h) { h["policies"] = Json::array({"fp12"}); })),
              ::testing::HasSubstr("numeric policy 'fp12' is not known"));
}

TEST_F(EngineFile, OfAnEarlierVersionIsToBeBuiltAgain) {
  std::string bytes = bytes_;
  bytes[8] = 3;
  EXPECT_EQ(load(bytes),
            path_.string() + ": engine file version 3, this program reads version 4; build the engine again");
}

TEST_F(EngineFile, PlansComeBack) {
  const NumericPolicy policy = engine_->policy();
  engine_->plans = {{{0, {}}, {{"onednn_winograd", "f=4:a"}, Layout::kBlocked8, policy}},
                    {{3, {0}}, {{"onednn_inner_product", {}}, Layout::kChannelsLast, policy}},
                    {{3, {1, 0}}, {{"chain", {}}, Layout::kPlain, policy}}};
  save_engine(*engine_, device(), path_);
  EXPECT_EQ(load_engine(path_)->plans, engine_->plans);
}

TEST_F(EngineFile, PlansOfNoStepAreRefused) {
  const auto sentence = [this](const char* key, const char* field, const Json& value) {
    Json plan = {{"tactic", "chain"}, {"layout", "plain"}, {"policy", "fp32"}, {"place", 0}};
    plan[field] = value;
    return load(forged([&](Json& h) { h["plans"][key] = plan; }));
  };
  EXPECT_THAT(sentence("4711/0", "tactic", "chain"),
              ::testing::HasSubstr("field 'plans' names step '4711/0' of"));
  EXPECT_THAT(sentence("one/0", "tactic", "chain"), ::testing::HasSubstr("'one/0' names no step"));
  EXPECT_THAT(sentence("1", "tactic", 7), ::testing::HasSubstr("is not valid"));
  EXPECT_THAT(sentence("1", "layout", "spiral"), ::testing::HasSubstr("unknown layout 'spiral'"));
  EXPECT_THAT(sentence("1", "policy", "bf16"),
              ::testing::HasSubstr("the plan of step '1' is in bf16, which field 'policies' does not name"));
  EXPECT_THAT(sentence("1/0", "place", 1), ::testing::HasSubstr("the plan of step '1/0' names place 1 of 1"));
  EXPECT_EQ(sentence("1", "tactic", "unknown"), "") << "the first that accepts runs it";
}

TEST_F(EngineFile, ShapeRangesThatAreNoneAreRefused) {
  const auto sentence = [this](const char* which, const Shape& shape) {
    return load(forged([&](Json& h) { h["shapes"]["x"][which] = shape; }));
  };
  EXPECT_THAT(sentence("min", {-1, 3, 8, 8}),
              ::testing::HasSubstr("shape range of input 'x': dimension 0 must hold min <= opt <= max"));
  EXPECT_THAT(sentence("min", {2, 3, 8, 8}), ::testing::HasSubstr("found 2, 1, 4"));
  EXPECT_THAT(sentence("max", {0, 3, 8, 8}), ::testing::HasSubstr("found 1, 1, 0"));
  EXPECT_THAT(sentence("opt", {1, 3, 8}), ::testing::HasSubstr("different ranks"));
  EXPECT_THAT(sentence("max", {4, 3, 9, 8}), ::testing::HasSubstr("dimension 2 is 8 in the model"));
}

TEST_F(EngineFile, AConstantThatIsStoredNowhereIsRefused) {
  const std::string sentence = load(forged([](Json& h) {
    for (Json& value : h["graph"]["values"]) {
      if (value.contains("constant")) value["constant"].erase("blob");
    }
  }));
  EXPECT_THAT(sentence, ::testing::HasSubstr("is stored in no form"));
}

TEST_F(EngineFile, HeadersThatTakeMuchMemoryAreRefusedBeforeTheyAreRead) {
  const auto refusal = [this](const std::string& header) {
    std::string bytes = bytes_.substr(0, kPrelude) + header;
    const uint64_t length = header.size();
    std::memcpy(bytes.data() + 16, &length, sizeof length);
    return load(sealed(bytes));
  };
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), ::testing::HasSubstr("nested deeper than 128"));
  EXPECT_THAT(refusal("[" + std::string(34'000'000, ',')), ::testing::HasSubstr("more than 33554432 values"));
  EXPECT_THAT(refusal(R"(["[[[\"[[[)" + std::string(1000, '[') + R"("])"),
              ::testing::HasSubstr("is not valid"));
}

TEST_F(EngineFile, AModelNamedInOtherBytesIsStored) {
  engine_->model = "caf\xe9.onnx";
  save_engine(*engine_, device(), path_);
  EXPECT_EQ(load_engine(path_)->model, "caf\xef\xbf\xbd.onnx");
}

TEST_F(EngineFile, PackedWeightOfAnotherSizeIsRefused) {
  const std::string sentence =
      load(forged([](Json& h) { std::swap(h["packed"][0]["blob"], h["packed"][1]["blob"]); }));
  EXPECT_THAT(sentence, ::testing::HasSubstr("its format needs"));
}

TEST_F(EngineFile, OtherFilesAreNoEngines) {
  EXPECT_TRUE(is_engine_file(path_));
  EXPECT_THAT(
      load("not an engine at all, but long enough"),
      ::testing::HasSubstr("this is text, not an engine file: hone build MODEL -o FILE.hone makes one"));
  EXPECT_TRUE(is_engine_file(path_)) << "a damaged engine is still meant as one";
  const std::filesystem::path other = path_.string() + ".onnx";
  base::write_file_atomic(other, "something else");
  EXPECT_FALSE(is_engine_file(other));
  base::write_file_atomic(other, bytes_);
  EXPECT_TRUE(is_engine_file(other));
  std::filesystem::remove(other);
  EXPECT_FALSE(is_engine_file(std::filesystem::temp_directory_path()));
  EXPECT_FALSE(is_engine_file("resnet50"));
}

/// Opening one waits for whoever writes to it.
TEST_F(EngineFile, APipeIsNotOpened) {
  const auto sentence = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      return error.what();
    }
    return "";
  };
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const std::string refusal = path_.string() + ": this is not a regular file";
  EXPECT_EQ(sentence([&] { load_engine(path_); }), refusal);
  const std::filesystem::path unnamed = std::filesystem::path(path_).replace_extension();
  std::filesystem::rename(path_, unnamed);
  EXPECT_FALSE(is_engine_file(unnamed));
  std::filesystem::remove(unnamed);
}

}  // namespace
}  // namespace hone::engine
