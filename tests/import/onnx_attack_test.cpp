// Malicious models: each is refused with one sentence that names node and field, without a large allocation.
// The rows follow the published attacks on importers of model files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/resource.h>

#include "import/onnx/import.hpp"
#include "import/onnx/limits.hpp"
#include "import/onnx_text.hpp"
#include "reference/interpreter.hpp"

namespace hone::importer {
namespace {

using graph::Tensor;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kIdentity = "g (float[1] x) => (float[1] y) { y = Identity(x) }";

onnx::TensorProto& add_weight(onnx::ModelProto& model, const std::vector<int64_t>& dims) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

/// A weight that claims this many elements and stores none.
void add_empty_sparse_weight(onnx::ModelProto& model, int64_t elements) {
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  sparse.add_dims(elements);
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->add_dims(0);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(0);
}

struct Row {
  const char* name;
  const char* text;
  Tweak tweak;
  const char* where;
  const char* message;
};

class OnnxAttack : public testing::TestWithParam<Row> {};

TEST_P(OnnxAttack, IsRefusedInOneSentence) {
  const Row& row = GetParam();
  const std::string sentence = refusal(model_bytes(17, row.text, row.tweak));
  EXPECT_THAT(sentence, AllOf(HasSubstr(row.where), HasSubstr(row.message)));
  EXPECT_EQ(sentence.find('\n'), std::string::npos);
}

void make_narrow(onnx::ModelProto& model, const char* attribute) {
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.clear_output();
  auto& added = *node.add_attribute();
  added.set_name(attribute);
  added.set_type(onnx::AttributeProto::INT);
  added.set_i(17);  // FLOAT8E4M3FN, which the oldest onnx has no name for
}

INSTANTIATE_TEST_SUITE_P(
    NarrowTypes, OnnxAttack,
    testing::Values(Row{"cast_without_an_output", "g (float[1] x) => (float[1] y) { y = Cast(x) }",
                        [](auto& m) { make_narrow(m, "to"); }, "Cast", "output"},
                    Row{"quantization_without_an_output",
                        "g (float[1] x, float[1] s) => (float[1] y) { y = QuantizeLinear(x, s) }",
                        [](auto& m) { make_narrow(m, "output_dtype"); }, "QuantizeLinear", "output"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Sizes, OnnxAttack,
    testing::Values(
        Row{"product_overflows", kIdentity,
            [](auto& m) {
              add_weight(m, {int64_t{1} << 42, int64_t{1} << 42}).set_raw_data("1234");
            },
            "initializer 'w'", "overflows"},
        Row{"bytes_overflow", kIdentity,
            [](auto& m) { add_weight(m, {(int64_t{1} << 61) + 1}).set_raw_data("1234"); }, "initializer 'w'",
            "overflows"},
        Row{"negative_dimension", kIdentity, [](auto& m) { add_weight(m, {-1}).set_raw_data("1234"); },
            "initializer 'w'", "negative"},
        Row{"rank", kIdentity,
            [](auto& m) { add_weight(m, std::vector<int64_t>(65, 1)).set_raw_data("1234"); },
            "initializer 'w'", "field dims has 65 entries"},
        Row{"petabyte", kIdentity, [](auto& m) { add_weight(m, {int64_t{1} << 50}).set_raw_data("1234"); },
            "initializer 'w'", "field raw_data holds 4 bytes"},
        Row{"too_few_bytes", kIdentity, [](auto& m) { add_weight(m, {2}).set_raw_data("1234"); },
            "initializer 'w'", "field raw_data holds 4 bytes, but float32[2] needs 8"},
        Row{"too_many_values", kIdentity,
            [](auto& m) {
              auto& tensor = add_weight(m, {1});
              tensor.add_float_data(1);
              tensor.add_float_data(2);
            },
            "initializer 'w'", "field float_data holds 2 values"},
        Row{"sparse_bomb", kIdentity, [](auto& m) { add_empty_sparse_weight(m, int64_t{1} << 40); },
            "initializer 'w'", "passes the limit"},
        Row{"sparse_growth", kIdentity, [](auto& m) { add_empty_sparse_weight(m, int64_t{1} << 22); },
            "initializer 'w'", "passes the limit"},
        Row{"declared_dimension", kIdentity,
            [](auto& m) {
              m.mutable_graph()
                  ->mutable_input(0)
                  ->mutable_type()
                  ->mutable_tensor_type()
                  ->mutable_shape()
                  ->mutable_dim(0)
                  ->set_dim_value(-3);
            },
            "input 'x'", "field dim_value is -3"},
        Row{"long_name", kIdentity,
            [](auto& m) {
              m.mutable_graph()->mutable_node(0)->set_name(std::string(kMaxNameBytes + 1, 'n'));
            },
            "(Identity)", "node name holds"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Structure, OnnxAttack,
    testing::Values(
        Row{"cycle",
            "g (float[1] x) => (float[1] y) { y = Add(x, a)  a = Neg(y) }",
            {},
            "",
            "is part of a cycle"},
        Row{"reads_itself", "g (float[1] x) => (float[1] y) { y = Neg(y) }", {}, "node 'y' (Neg)", "cycle"},
        Row{"made_twice",
            "g (float[1] x) => (float[1] y) { y = Neg(x)  y = Relu(x) }",
            {},
            "node 'y' (Relu)",
            "value 'y' is made twice"},
        Row{"never_made",
            "g (float[1] x) => (float[1] y) { y = Neg(nothing) }",
            {},
            "node 'y' (Neg)",
            "value 'nothing' is read, but nothing makes it"},
        Row{"output_never_made",
            "g (float[1] x) => (float[1] z) { y = Neg(x) }",
            {},
            "graph output",
            "value 'z'"},
        Row{"function_in_a_circle",
            R"(g (float[1] x) => (float[1] y) { y = local.f(x) }
               <domain: "local", opset_import: ["" : 17, "local" : 1]> f (a) => (b) { b = local.f(a) })",
            {},
            "(f)",
            "functions call each other"},
        Row{"custom_domain",
            "g (float[1] x) => (float[1] y) { y = com.microsoft.EPContext(x) }",
            {},
            "(EPContext)",
            "domain 'com.microsoft' is not supported"},
        Row{"unknown_operator",
            "g (float[1] x) => (float[1] y) { y = Explode(x) }",
            {},
            "(Explode)",
            "is not known"},
        Row{"string_tensor", kIdentity,
            [](auto& m) {
              add_weight(m, {1}).set_data_type(onnx::TensorProto::STRING);
              m.mutable_graph()->mutable_initializer(0)->add_string_data("x");
            },
            "initializer 'w'", "element type string is not supported"},
        Row{"unknown_element_type", kIdentity, [](auto& m) { add_weight(m, {1}).set_data_type(999); },
            "initializer 'w'", "element type 999"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Attributes, OnnxAttack,
    testing::Values(
        Row{"unknown",
            "g (float[1] x) => (float[1] y) { y = Relu <path = \"/etc\"> (x) }",
            {},
            "(Relu)",
            "attribute 'path' is not known"},
        Row{"wrong_type",
            "g (float[1] x) => (float[1] y) { y = LeakyRelu <alpha = 3> (x) }",
            {},
            "(LeakyRelu)",
            "attribute 'alpha' is of type int, expected float"},
        Row{"legacy_wrong_type",
            "g (float[2] x) => (float[2] y) { y = ReduceMax <axes = 0.5> (x) }",
            {},
            "(ReduceMax)",
            "attribute 'axes'"},
        Row{"stride_zero",
            "g (float[1,1,4,4] x, float[1,1,2,2] w) => (float[1,1,2,2] y) { y = Conv <strides = [0, 1]> (x, "
            "w) }",
            {},
            "(Conv)",
            "strides"},
        Row{"dilation_zero",
            "g (float[1,1,4,4] x, float[1,1,2,2] w) => (float[1,1,2,2] y) { y = Conv <dilations = [0, 1]> "
            "(x, w) }",
            {},
            "(Conv)",
            "dilations"},
        Row{"dilations_of_another_rank",
            "g (float[1,1,4,4] x, float[1,1,2,2] w) => (float[1,1,3,3] y) { y = Conv <dilations = [1, 1, 1]> "
            "(x, w) }",
            {},
            "(Conv)",
            "dilations"},
        Row{"group_zero",
            "g (float[1,1,4,4] x, float[1,1,2,2] w) => (float[1,1,3,3] y) { y = Conv <group = 0> (x, w) }",
            {},
            "(Conv)",
            "group"},
        Row{"block_zero",
            "g (float[1,4,2,2] x) => (float[1,1,4,4] y) { y = DepthToSpace <blocksize = 0> (x) }",
            {},
            "(DepthToSpace)",
            "blocksize"},
        Row{"block_beyond_32_bits",
            "g (float[1,4,2,2] x) => (float[1,1,4,4] y) { y = DepthToSpace <blocksize = 4294967296> (x) }",
            {},
            "(DepthToSpace)",
            "blocksize"},
        Row{"rank_of_gemm",
            "g (float[2] a, float[2,2] b) => (float[2,2] y) { y = Gemm(a, b) }",
            {},
            "(Gemm)",
            "rank"},
        Row{"rank_of_lstm",
            "g (float[2] x, float[1,8,2] w, float[1,8,2] r) => (float[1] y) { y = LSTM <hidden_size = 2> (x, "
            "w, r) }",
            {},
            "(LSTM)",
            "rank"},
        Row{"axis_outside",
            "g (float[2] x) => (float[2] y) { y = Softmax <axis = 5> (x) }",
            {},
            "(Softmax)",
            "axis"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(ExternalData, OnnxAttack,
                         testing::Values(Row{"no_folder", kIdentity,
                                             [](auto& m) {
                                               auto& tensor = add_weight(m, {1});
                                               tensor.set_data_location(onnx::TensorProto::EXTERNAL);
                                               auto& entry = *tensor.add_external_data();
                                               entry.set_key("location");
                                               entry.set_value("weights.bin");
                                             },
                                             "initializer 'w'", "the model has no folder"},
                                         Row{"unknown_key", kIdentity,
                                             [](auto& m) {
                                               auto& tensor = add_weight(m, {1});
                                               tensor.set_data_location(onnx::TensorProto::EXTERNAL);
                                               auto& entry = *tensor.add_external_data();
                                               entry.set_key("__class__");
                                               entry.set_value("x");
                                             },
                                             "initializer 'w'",
                                             "field external_data has an unknown key '__class__'"}),
                         [](const auto& info) { return info.param.name; });

TEST(OnnxLimits, ManyTinyMessagesAreRefusedBeforeTheyAreParsed) {
  // Graph { node {} node {} … }: two bytes a node, and over a hundred once parsed.
  std::string nodes;
  for (size_t i = 0; i <= kMaxMessages; ++i) nodes += std::string("\x0a\x00", 2);
  std::string bytes = "\x3a";
  for (size_t length = nodes.size(); length > 0; length >>= 7) {
    bytes += static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
  }
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_THAT(refusal(bytes + nodes), HasSubstr("messages and strings in one model"));
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "kilobytes";
}

TEST(OnnxNames, AreUtf8) {
  const auto named = [](const std::string& name) {
    return model_bytes(17, kIdentity, [&](auto& m) { m.mutable_graph()->mutable_node(0)->set_name(name); });
  };
  const auto name_of = [](const std::string& bytes) {
    return import_onnx(std::as_bytes(std::span(bytes))).nodes.at(0).name;
  };
  for (const char* name :
       {"conv1", "\xc3\xa9", "\xed\x9f\xbf", "\xe6\xbc\xa2\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(name_of(named(name)), name);
  // Stray, cut, overlong, a surrogate, above the last code point, bytes that never stand.
  for (const char* name : {"\x80", "a\xc3", "\xc3(", "\xe6\xbc", "\xc0\xaf", "\xe0\x9f\xbf",
                           "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff\xfe"})
    EXPECT_THAT(refusal(named(name)), AllOf(HasSubstr("(Identity)"), HasSubstr("node name is not UTF-8")));
}

TEST(OnnxLimits, GraphsNestOnlySoDeep) {
  std::string text = "y = Identity(x)";
  for (int i = 0; i <= kMaxGraphDepth; ++i) {
    text = "y = If (c) < then_branch = t () => (float[1] y) { " + text +
           " }, else_branch = e () => (float[1] y) { y = Neg(x) } >";
  }
  EXPECT_THAT(refusal(model_bytes(17, "g (bool c, float[1] x) => (float[1] y) { " + text + " }")),
              HasSubstr("graphs are nested more than"));
}

TEST(OnnxLimits, FunctionsCallEachOtherOnlySoDeep) {
  std::string text = "g (float[1] x) => (float[1] y) { y = local.f0(x) }\n";
  for (int i = 0; i <= kMaxFunctionDepth; ++i) {
    text += fmt::format(
        "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]> f{} (a) => (b) {{ b = local.f{}(a) "
        "}}\n",
        i, i + 1);
  }
  EXPECT_THAT(refusal(model_bytes(17, text)), HasSubstr("functions call each other more than"));
}

TEST(OnnxLimits, AFunctionThatDoublesItselfRunsIntoTheNodeLimit) {
  std::string text = "g (float[1] x) => (float[1] y) { y = local.f0(x) }\n";
  for (int i = 0; i < 25; ++i) {
    text += fmt::format(
        "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]> f{0} (a) => (b) {{ t = local.f{1}(a) "
        "b = local.f{1}(t) }}\n",
        i, i + 1);
  }
  text += "<domain: \"local\", opset_import: [\"\" : 17]> f25 (a) => (b) { b = Neg(a) }";
  EXPECT_THAT(refusal(model_bytes(17, text)), HasSubstr("nodes once functions are inlined"));
}

TEST(OnnxLimits, OpsetsOutsideTheSupportedOnesAreNamed) {
  // The model is to blame, not one of its nodes, of which it may have none.
  const std::string newer = "opset 27 is not supported, only 7 to 26 are; export the model in one of these";
  EXPECT_EQ(refusal(model_bytes(27, kIdentity)), newer);
  EXPECT_EQ(refusal(model_bytes(27, "g (float[1] x) => (float[1] x) { }")), newer);
  EXPECT_EQ(
      refusal(model_bytes(17,
                          "g (float[1] x) => (float[1] y) { y = local.f(x) }\n"
                          "<domain: \"local\", opset_import: [\"\" : 27]> f (a) => (b) { b = Neg(a) }")),
      "node 'y' (f): " + newer);
  EXPECT_THAT(refusal(model_bytes(5, "g (float[1] x, float z) => (float[1] y) { y = Tile(x, z, z) }")),
              HasSubstr("opset 5 is not supported"));
}

/// Small files whose outputs would take terabytes.
TEST(OnnxBombs, AreRefusedWhenTheyRun) {
  const char* bombs[] = {
      "g (float[1] x) => (float[n] y) { s = Constant <value_ints = [1099511627776]> () y = Tile(x, s) }",
      "g (float[1] x) => (float[n] y) { s = Constant <value_ints = [1099511627776]> () y = Expand(x, s) }",
      "g (float[1] x) => (float[n] y) { s = Constant <value_ints = [1099511627776]> () y = "
      "ConstantOfShape(s) }",
      "g (float[1] x) => (float[n] y) { s = Constant <value_ints = [0, 1099511627776]> () y = Pad(x, s) }",
  };
  for (const char* text : bombs) {
    try {
      run_text(17, text, {Tensor::of<float>({1}, {1})});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("node '"));
    }
  }
}

}  // namespace
}  // namespace hone::importer
