// darknet's cfg and weights files: grammar, what is refused and how, weights in order, heads and their
// metadata. Results of sections are compared with NumPy in tests/cli/darknet_test.py.
#include "import/darknet/darknet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "import/darknet/cfg.hpp"
#include "reference/interpreter.hpp"

namespace hone::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kNet = "[net]\nwidth=8\nheight=6\nchannels=2\n";

struct Header {
  int32_t major = 0;
  int32_t minor = 2;
  int32_t revision = 5;
};

/// A file with `numbers` behind the header.
std::string weights_file(const std::vector<float>& numbers, Header header = {}, bool long_count = true) {
  std::string file(sizeof(header), '\0');
  std::memcpy(file.data(), &header, sizeof(header));
  file.append(long_count ? 8 : 4, '\0');
  file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  return file;
}

std::vector<float> ramp(size_t count) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i) / 16 - 1;
  return numbers;
}

Model seeded(const std::string& sections, const LoadModelOptions& options = {}) {
  return import_darknet("net", kNet + sections, {}, options);
}

Model with_weights(const std::string& sections, const std::string& weights,
                   const LoadModelOptions& options = {}) {
  return import_darknet("net", kNet + sections, std::as_bytes(std::span(weights)), options);
}

Error refused(const std::string& cfg, const std::string& weights = "") {
  try {
    import_darknet("net", cfg,
                   weights.empty() ? std::span<const std::byte>() : std::as_bytes(std::span(weights)), {});
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error;
  }
  ADD_FAILURE() << cfg << " is taken";
  return Error(ErrorKind::kInternal, "");
}

std::vector<std::string> output_names(const Model& model) {
  std::vector<std::string> names;
  for (const graph::ValueId id : model.graph->outputs) names.push_back(model.graph->value(id).name);
  return names;
}

std::string output_type(const Model& model) {
  return model.graph->value(model.graph->outputs.at(0)).type.text();
}

std::vector<std::string> warnings_of(const std::string& sections) {
  std::vector<std::string> warnings;
  seeded(sections, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  return warnings;
}

/// The value of the constant `name`.
std::vector<float> constant(const Model& model, const std::string& name) {
  for (const graph::Value& value : model.graph->values) {
    if (value.name != name || !value.constant) continue;
    const auto values = value.constant->values<float>();
    return {values.begin(), values.end()};
  }
  ADD_FAILURE() << "there is no constant " << name;
  return {};
}

TEST(DarknetCfg, BlanksAndCommentsAndValues) {
  std::vector<std::string> warnings;
  const auto sections =
      darknet::parse_cfg(" # c\r\n[ n e t ]\r\n;x\nwi dth = 3 # y\nalone\nempty=\na==b\n", &warnings);
  ASSERT_EQ(sections.size(), 1u);
  EXPECT_EQ(sections[0].type, "net");
  EXPECT_EQ(sections[0].line, 2);
  ASSERT_EQ(sections[0].options.size(), 3u);
  EXPECT_EQ(sections[0].options[0].key, "width");
  EXPECT_EQ(sections[0].options[0].value, "3#y");
  EXPECT_EQ(sections[0].options[1].value, std::nullopt);
  EXPECT_EQ(sections[0].options[2].value, "=b");
  EXPECT_THAT(warnings, ElementsAre("line 6: 'empty=' has no value: the default counts"));
}

TEST(DarknetCfg, NumbersAsCReadsThem) {
  EXPECT_EQ(darknet::parse_int("12x"), 12);
  EXPECT_EQ(darknet::parse_int("-3#"), -3);
  EXPECT_EQ(darknet::parse_int("+4"), 4);
  EXPECT_EQ(darknet::parse_int("word"), 0);
  EXPECT_EQ(darknet::parse_int("-2147483648"), -2147483647 - 1);
  EXPECT_THROW(darknet::parse_int("2147483648"), Error);
  EXPECT_THROW(darknet::parse_int("99999999999999999999"), Error);
  EXPECT_EQ(darknet::parse_number(".5#"), 0.5);
  EXPECT_EQ(darknet::parse_number("+1e1"), 10);
  EXPECT_EQ(darknet::parse_number("word"), 0);
  EXPECT_THROW(darknet::parse_number("1e999"), Error);
  EXPECT_THROW(darknet::parse_number("nan"), Error);
}

TEST(DarknetCfg, TheFirstOfEqualOptionsCounts) {
  EXPECT_EQ(output_type(seeded("[convolutional]\nfilters=3\nfilters=5\n")), "float32[batchx3x6x8]");
  // A line without '=' is the first one too, and leaves the default.
  EXPECT_EQ(output_type(seeded("[convolutional]\nfilters\nfilters=5\n")), "float32[batchx1x6x8]");
}

TEST(DarknetCfg, WarnsOfWhatIsOdd) {
  EXPECT_THAT(warnings_of("[convolutional]\nfilter=3\nactivation=hardswish\n"),
              ElementsAre("net: line 5: the activation 'hardswish' is not known, ReLU takes its place",
                          "net: line 6: [convolutional] has no option 'filter', it is ignored"));
  EXPECT_THAT(warnings_of("[convolutional]\nstopbackward=1\nactivation=leaky\n"), testing::IsEmpty());
}

struct Refusal {
  const char* sections;
  const char* sentence;
};

TEST(DarknetCfg, RefusesWhatCannotBe) {
  const Refusal refusals[] = {
      {"[rnn]\n", "line 5: [rnn] (layer 0): hone has no sections of this kind"},
      {"[conv#]x\n", "line 5: '[conv#]x' is no section, which is a name in brackets"},
      {"[net]\n", "line 5: [net] (layer 0): hone has no sections of this kind"},
      {"[route]\n", "it lacks the option 'layers'"},
      {"[route]\nlayers=-1\n", "layer -1 is no section before this one: it would be number -1"},
      {"[route]\nlayers=0\n", "layer 0 is no section before this one"},
      {"[dropout]\n[route]\nlayers=5\n", "(layer 1): layer 5 is no section before this one"},
      {"[dropout]\n[route]\nlayers=-1\ngroups=3\n", "groups=3 divides the 2 channels of layer 0 unevenly"},
      {"[dropout]\n[route]\nlayers=-1\ngroups=2\ngroup_id=2\n", "group_id is 2, outside [0, 1]"},
      {"[shortcut]\nfrom=-1\n", "there is no section before it to add to"},
      {"[dropout]\n[maxpool]\nstride_x=1\nstride_y=2\n[shortcut]\nfrom=0\n",
       "it adds layer 0 of 2x6x8 to 2x3x8: the ratios of widths and heights differ"},
      {"[dropout]\n[maxpool]\nstride=2\n[shortcut]\nfrom=0\nweights_type=per_channel\n"
       "weights_normalization=relu\n",
       "a shortcut with weights adds layers of one height and width only"},
      {"[dropout]\n[shortcut]\nfrom=0\nweights_type=per_channel\n",
       "weights_type=per_channel needs weights_normalization=relu or softmax"},
      {"[convolutional]\nsize=9\n", "nothing is left of 2x6x8: the result would be 1x0x0"},
      {"[convolutional]\nfilters=0\n", "filters is 0, outside [1, 16777216]"},
      {"[convolutional]\nfilters=16777216\nsize=16777216\npad=1\n", "it has more than 2147483647 weights"},
      {"[convolutional]\nfilters=99999999999\n", "line 6: filters: the number '99999999999' is out of range"},
      {"[convolutional]\nstride=0\n", "stride is 0, outside [1, 16777216]"},
      {"[convolutional]\nstride=-2\n", "stride is -2, outside"},
      {"[convolutional]\npadding=-1\n", "padding is -1, outside [0, 16777216]"},
      {"[convolutional]\ngroups=2\nfilters=3\n", "groups=2 divides 2 channels and 3 filters unevenly"},
      {"[convolutional]\nsize=3\ndilation=2\n", "dilation=2 does not go with a padding of 0"},
      {"[convolutional]\nxnor=1\n", "hone has no 'xnor'"},
      {"[convolutional]\nshare_index=0\n", "hone has no 'share_index'"},
      {"[convolutional]\ndontload=1\n",
       "dontload=1 leaves its weights out of the file, so nobody knows them"},
      {"[maxpool]\nsize=0\n", "size is 0, outside"},
      {"[maxpool]\npadding=-1\n", "padding is -1, outside"},
      {"[local_avgpool]\nsize=2\npadding=4\n", "would lie outside the image: the mean of nothing"},
      {"[upsample]\nstride=0\n", "stride is 0"},
      {"[upsample]\nstride=16000000\n", "has more than 2147483647 numbers"},
      {"[upsample]\nstride=-4\n", "stride=-4 divides 2x6x8 unevenly"},
      {"[reorg]\nstride=2\n", "channels of 2 cannot be divided by 4"},
      {"[reorg3d]\nstride=4\n", "a height of 6 cannot be divided by 4"},
      {"[crop]\ncrop_width=9\ncrop_height=2\n", "crop_width is 9, outside [1, 8]"},
      {"[softmax]\ngroups=5\n", "a size of 96 cannot be divided by 5"},
      {"[softmax]\ntree=a.tree\n", "hone has no trees of classes"},
      {"[yolo]\nclasses=2\n",
       "1 boxes of 7 numbers need 7 channels, filters=2 of the section before gives 2"},
      {"[convolutional]\nfilters=7\n[yolo]\nclasses=2\nmask=1\n", "a number of mask is 1, outside [0, 0]"},
      {"[region]\nclasses=2\n", "1 boxes of 7 numbers need 7 channels"},
      {"[detection]\nside=2\n",
       "2 x 2 cells with 1 boxes and 1 classes are 12 numbers, the section before gives 96"},
      {"[scale_channels]\n", "it lacks the option 'from'"},
      {"[dropout]\n[scale_channels]\nfrom=0\n", "a factor for each channel of layer 0 (2x6x8) is wanted"},
      {"[dropout]\n[avgpool]\n[sam]\nfrom=0\n",
       "it multiplies layer 0 of 2x6x8 with 2x1x1: the sizes differ"},
      {"[cost]\n", "no section gives a result: all of them are [cost]"},
      {"", "there is no section after [net]"},
  };
  for (const Refusal& refusal : refusals)
    EXPECT_THAT(refused(std::string(kNet) + refusal.sections).what(), HasSubstr(refusal.sentence));
}

TEST(DarknetCfg, RefusesWhatIsNoNetwork) {
  EXPECT_THAT(refused("").what(), HasSubstr("it has no sections: this is no cfg file of darknet"));
  EXPECT_THAT(refused(std::string("a\0b", 3)).what(), HasSubstr("this is no text"));
  EXPECT_THAT(refused("width=8\n[net]\n").what(),
              HasSubstr("line 1: the option 'width=8' stands before any section"));
  EXPECT_THAT(refused("[conv]\n").what(), HasSubstr("line 1: the first section is [conv], and not [net]"));
  EXPECT_THAT(refused("[net]\n[conv]\n").what(),
              HasSubstr("line 1: [net]: width is 0, outside [1, 1048576]"));
  EXPECT_THAT(refused("[net]\nwidth=1048576\nheight=1048576\nchannels=3\n[conv]\n").what(),
              HasSubstr("has more than 2147483647 numbers"));
}

TEST(DarknetCfg, BombsAreRefusedBeforeMemoryIsTaken) {
  // Weights of a seed are limited too, and constants that hone makes itself.
  const std::string large = "[net]\nwidth=1\nheight=1\nchannels=1000000\n";
  std::string convolutions = "[dropout]\n";
  for (int i = 0; i < 1000; ++i) convolutions += "[route]\nlayers=0\n[convolutional]\nfilters=2000\n";
  EXPECT_THAT(refused(large + convolutions).what(), HasSubstr("HONE_MEMORY_LIMIT_MB"));
  EXPECT_THAT(refused(large + "[lrn]\n").what(),
              HasSubstr("the number of channels is 1000000, outside [1, 4096]"));
  std::string routes = "[dropout]\n";
  for (int i = 0; i < 12; ++i) {
    std::string list = "0";
    for (int k = 1; k < 10'000; ++k) list += ",0";
    routes += "[route]\nlayers=" + list + "\n";
  }
  EXPECT_THAT(refused("[net]\nwidth=1\nheight=1\nchannels=1\n" + routes + routes).what(),
              HasSubstr("its sections read more than 200000 others"));
  std::string sections;
  for (int i = 0; i < 10'001; ++i) sections += "[dropout]\n";
  EXPECT_THAT(refused(kNet + sections).what(), HasSubstr("it has more than 10000 sections"));
}

TEST(DarknetOutputs, HeadsAreWhatNobodyReads) {
  const std::string sections =
      "[dropout]\n[convolutional]\nfilters=6\nactivation=linear\n[yolo]\nclasses=1\n[route]\nlayers=0\n[cost]"
      "\n";
  EXPECT_THAT(output_names(seeded(sections)), ElementsAre("layer_2", "layer_3"));
  EXPECT_THAT(output_names(seeded(sections, {.outputs = {"all"}})),
              ElementsAre("layer_0", "layer_1", "layer_2", "layer_3", "layer_4"));
  EXPECT_THAT(output_names(seeded(sections, {.outputs = {"layer_4", "layer_1", "layer_1"}})),
              ElementsAre("layer_1", "layer_4"));
  // A head that others read stays one.
  EXPECT_THAT(output_names(seeded(sections + "[route]\nlayers=2\n")),
              ElementsAre("layer_2", "layer_3", "layer_5"));
  try {
    seeded(sections, {.outputs = {"layer_9"}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("there is no section 'layer_9': they are layer_0 to layer_4"));
  }
}

TEST(DarknetOutputs, WhatNoOutputNeedsIsLeftOutButReadOver) {
  const std::string sections =
      "[convolutional]\nactivation=linear\n[route]\nlayers=0\n[convolutional]\nactivation=linear\n";
  // Layer 0 has a bias and 2 weights; layer 2 a bias and 1 weight.
  const std::string weights = weights_file({1, 2, 3, 4, 5});
  EXPECT_EQ(constant(with_weights(sections, weights), "layer_2.biases"), std::vector<float>{4});
  const Model first = with_weights(sections, weights, {.outputs = {"layer_0"}});
  EXPECT_EQ(first.graph->nodes.size(), 1u);
}

TEST(DarknetHeads, MetadataSayWhatADecoderNeeds) {
  const std::string yolo =
      "[convolutional]\nfilters=12\nactivation=linear\n[yolo]\nclasses=1\nnum=3\nmask=2,0\nanchors=1,2, "
      "3.5,4, 5,6\n"
      "scale_x_y=1.05\nnms_kind=greedynms\n";
  const Model model = seeded(
      yolo + "[route]\nlayers=0\n[yolo]\nclasses=1\nnum=2\nnew_coords=1\nnms_kind=diounms\nbeta_nms=.7\n");
  const Metadata& m = model.metadata;
  const std::map<std::string, std::string> wanted = {
      {"darknet.width", "8"},
      {"darknet.height", "6"},
      {"darknet.channels", "2"},
      {"darknet.letter_box", "0"},
      {"darknet.resize_corners", "0"},
      {"darknet.heads", "2"},
      {"darknet.nms_kind", "diounms"},
      {"darknet.beta_nms", "0.7"},
      {"darknet.head.0.output", "layer_1"},
      {"darknet.head.0.kind", "yolo"},
      {"darknet.head.0.classes", "1"},
      {"darknet.head.0.num", "2"},
      {"darknet.head.0.mask", "2,0"},
      {"darknet.head.0.anchors", "5,6,1,2"},
      {"darknet.head.0.scale_x_y", "1.05"},
      {"darknet.head.0.new_coords", "0"},
      {"darknet.head.0.nms_kind", "greedynms"},
      {"darknet.head.0.beta_nms", "0.6"},
      {"darknet.head.0.columns", "8"},
      {"darknet.head.0.rows", "6"},
      {"darknet.head.1.output", "layer_3"},
      {"darknet.head.1.kind", "yolo"},
      {"darknet.head.1.classes", "1"},
      {"darknet.head.1.num", "2"},
      {"darknet.head.1.mask", "0,1"},
      {"darknet.head.1.anchors", "0.5,0.5,0.5,0.5"},
      {"darknet.head.1.scale_x_y", "1"},
      {"darknet.head.1.new_coords", "1"},
      {"darknet.head.1.nms_kind", "diounms"},
      {"darknet.head.1.beta_nms", "0.7"},
      {"darknet.head.1.columns", "8"},
      {"darknet.head.1.rows", "6"},
  };
  EXPECT_EQ(m, wanted);
}

TEST(DarknetWeights, OrderOfAConvolution) {
  // Bias first, then scale, mean, variance, then the kernels.
  const Model model = with_weights("[convolutional]\nbatch_normalize=1\nfilters=2\nactivation=linear\n",
                                   weights_file({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_THAT(constant(model, "layer_0.biases"), ElementsAre(1, 2));
  EXPECT_THAT(constant(model, "layer_0.scales"), ElementsAre(3, 4));
  EXPECT_THAT(constant(model, "layer_0.rolling_mean"), ElementsAre(5, 6));
  EXPECT_THAT(constant(model, "layer_0.rolling_variance"), ElementsAre(7, 8));
  EXPECT_THAT(constant(model, "layer_0.weights"), ElementsAre(9, 10, 11, 12));
}

TEST(DarknetWeights, OrderOfAConnectedLayer) {
  const std::string sections = "[avgpool]\n[connected]\nbatch_normalize=1\noutput=1\nactivation=linear\n";
  const Model model = with_weights(sections, weights_file({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(constant(model, "layer_1.biases"), ElementsAre(1));
  EXPECT_THAT(constant(model, "layer_1.weights"), ElementsAre(2, 3));
  EXPECT_THAT(constant(model, "layer_1.scales"), ElementsAre(4));
}

std::vector<float> run(const Model& model, size_t inputs) {
  tensor::Tensor input(tensor::DType::kFloat32, {1, 2, 6, 8});
  const auto values = input.mutable_values<float>();
  EXPECT_EQ(values.size(), inputs);
  for (size_t i = 0; i < inputs; ++i) values[i] = static_cast<float>(i % 7) / 4;
  const auto results = reference::run_graph(*model.graph, std::vector{input});
  const auto result = results.at(0).values<float>();
  return {result.begin(), result.end()};
}

TEST(DarknetWeights, VersionsAbove1000AreTransposed) {
  const std::string sections =
      "[maxpool]\nsize=6\nstride=2\npadding=0\n[connected]\noutput=3\nactivation=linear\n";
  // 4 inputs: rows of 4 weights, or columns of 3.
  std::vector<float> rows = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> columns = {0, 0, 0, 1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12};
  const auto plain = run(with_weights(sections, weights_file(rows)), 96);
  EXPECT_EQ(run(with_weights(sections, weights_file(columns, {1001, 0, 0})), 96), plain);
  // The older header, whose count of images has 4 bytes.
  EXPECT_EQ(run(with_weights(sections, weights_file(columns, {1001, 0, 0}, false)), 96), plain);
}

TEST(DarknetWeights, FlippedKernelsAreTransposed) {
  const std::string sections = "[convolutional]\nfilters=2\nactivation=linear\n";
  EXPECT_EQ(run(with_weights(sections + "flipped=1\n", weights_file({0, 0, 1, 3, 2, 4})), 96),
            run(with_weights(sections, weights_file({0, 0, 1, 2, 3, 4})), 96));
}

TEST(DarknetWeights, RulesOfBatchNormalizationDiffer) {
  const std::string sections = "[convolutional]\nbatch_normalize=1\nactivation=linear\n";
  // A variance of 1e-6: sqrt(1e-6 + 1e-5) against sqrt(1e-6) + 1e-6.
  const std::string weights = weights_file({0, 1, 0, 1e-6f, 1, 0});
  const auto usual = run(with_weights(sections, weights), 96);
  const auto pjreddie = run(with_weights(sections, weights, {.darknet_rules = "pjreddie"}), 96);
  EXPECT_NEAR(usual[1], 0.25f / std::sqrt(1.1e-5f), 0.01f);
  EXPECT_NEAR(pjreddie[1], 0.25f / 1.001e-3f, 0.05f);
  // [batchnorm] has no bias there.
  EXPECT_EQ(
      constant(with_weights("[batchnorm]\n", weights_file({1, 2, 3, 4, 5, 6}), {.darknet_rules = "pjreddie"}),
               "layer_0.scales"),
      (std::vector<float>{1, 2}));
}

TEST(Darknet, ImagesAreFittedAsTheProgramOfTheRulesDoes) {
  const auto facts = [](const std::string& sections, const std::string& rules) {
    const std::string weights = weights_file(std::vector<float>(9 * 97));
    const Metadata metadata = with_weights(sections, weights, {.darknet_rules = rules}).metadata;
    return metadata.at("darknet.letter_box") + metadata.at("darknet.resize_corners");
  };
  const std::string first = "[connected]\noutput=9\n";
  EXPECT_EQ(facts(first, "alexeyab"), "00");
  EXPECT_EQ(facts(first, "pjreddie"), "11");
  EXPECT_EQ(facts(first + "[detection]\nclasses=4\ncoords=4\nnum=1\nside=1\n", "pjreddie"), "01");
}

TEST(DarknetWeights, ShortFilesSayHowFarTheyGo) {
  const std::string cfg = std::string(kNet) + "[convolutional]\n[maxpool]\n[convolutional]\n";
  EXPECT_THAT(
      refused(cfg, weights_file({1, 2, 3, 4})).what(),
      HasSubstr("40 bytes are needed, 36 are there: the layers before number 2 fit, the 8 bytes of layer 2 "
                "([convolutional], line 7) do not; the file is cut off, or belongs to another cfg"));
  EXPECT_THAT(refused(cfg, weights_file({1, 2, 3})).what(), HasSubstr("hold the first layers only"));
  EXPECT_THAT(refused(cfg, weights_file({})).what(),
              HasSubstr("40 bytes are needed, 20 are there: a header without weights"));
  for (size_t size = 1; size < 39; ++size)
    EXPECT_EQ(refused(cfg, weights_file({1, 2, 3, 4, 5}).substr(0, size)).kind(), ErrorKind::kBadInput);
}

TEST(DarknetWeights, LongFilesAreReadWithAWarning) {
  std::vector<std::string> warnings;
  const LoadModelOptions options{.warn = [&](const std::string& text) { warnings.push_back(text); }};
  with_weights("[convolutional]\nactivation=linear\n", weights_file({1, 2, 3, 4}) + "x", options);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("5 bytes are left over, the network needs 32 of 37")));
}

TEST(DarknetWeights, DamagedFilesAreRefused) {
  const std::string cfg = std::string(kNet) + "[convolutional]\nbatch_normalize=1\n";
  EXPECT_THAT(refused(cfg, weights_file({0, 1, 0, 1, 1, NAN})).what(),
              HasSubstr("layer_0.weights: number 1 of 2 is nan: the file is damaged"));
  EXPECT_THAT(refused(cfg, weights_file({0, 1, 0, -1, 1, 1})).what(),
              HasSubstr("layer_0.rolling_variance: variance 0 is -1: the file is damaged"));
  EXPECT_THAT(refused(cfg, weights_file({0, 1, 0, 1, 1, 1}, {-1, 2, 5})).what(),
              HasSubstr("version -1.2 is none of darknet's: this is no weights file"));
  EXPECT_THAT(refused(cfg, "text of a file that is no weights file").what(),
              HasSubstr("is none of darknet's"));
}

TEST(DarknetBuiltIn, Yolov4TinyHasItsShapes) {
  const Model model = load_model("yolov4_tiny", {.seed = 1});
  EXPECT_THAT(output_names(model), ElementsAre("layer_30", "layer_37"));
  EXPECT_EQ(output_type(model), "float32[batchx255x13x13]");
  int convolutions = 0;
  for (const graph::Node& node : model.graph->nodes) convolutions += node.op == "Conv";
  EXPECT_EQ(convolutions, 21);
  EXPECT_EQ(model.metadata.at("darknet.head.1.mask"), "1,2,3");
}

TEST(DarknetFiles, WeightsAndNamesAreFoundBesideTheCfg) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "darknet_files";
  std::filesystem::create_directories(folder);
  const std::string cfg = (folder / "a.cfg").string();
  base::write_file_atomic(
      cfg, std::string(kNet) + "[convolutional]\nfilters=7\nactivation=linear\n[yolo]\nclasses=2\n");
  std::vector<std::string> warnings;
  const LoadModelOptions options{.warn = [&](const std::string& text) { warnings.push_back(text); }};
  load_model(cfg, options);
  EXPECT_THAT(
      warnings,
      ElementsAre(HasSubstr("there is neither --weights nor a.weights or a_best.weights next to it")));
  base::write_file_atomic(folder / "a_best.weights", weights_file(ramp(21)));
  base::write_file_atomic(folder / "a.names", std::string_view("dog\r\ncat\n\n"));
  warnings.clear();
  const Model model = load_model(cfg, options);
  EXPECT_THAT(warnings, testing::IsEmpty());
  EXPECT_EQ(model.metadata.at("labels"), "dog\ncat");
  EXPECT_EQ(constant(model, "layer_0.biases")[1], -1 + 1.0f / 16);
  base::write_file_atomic(folder / "a.names", std::string_view("dog\n"));
  try {
    load_model(cfg, options);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.names: it names 1 classes, layer_1 of a.cfg has 2"));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hone::importer
