// The safetensors reader on valid files and on every kind of malformed header.
#include "import/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/file.hpp"

namespace hone::importer {
namespace {

using tensor::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

std::string file_of(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  std::string result(8, '\0');
  std::memcpy(result.data(), &length, 8);
  return result + header + std::string(data_bytes, '\1');
}

std::string refusal(const std::string& bytes) {
  try {
    read_safetensors(std::as_bytes(std::span(bytes)));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

class SafetensorsFile : public testing::Test {
 protected:
  ~SafetensorsFile() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("hone-test-" + std::to_string(::getpid()) + ".safetensors");
};

TEST_F(SafetensorsFile, WhatIsWrittenIsRead) {
  NamedTensors tensors;
  tensors["a.weight"] = Tensor::of<float>({1, -2, 3.5, 4, 5, 6}, {2, 3});
  tensors["b"] = Tensor::of<int64_t>({7}, {});
  tensors["c"] = Tensor::of<uint8_t>({1, 2, 3}, {3});
  tensors["d"] = Tensor::of<float>({1, 2}, {2}).cast(tensor::DType::kBFloat16);
  tensors["e"] = Tensor::of<bool>({true, false}, {2});
  tensors["empty"] = Tensor::of<float>({}, {0, 4});
  write_safetensors(path_, tensors);
  const NamedTensors read = read_safetensors(path_);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_EQ(read.at(name).shape(), tensor.shape()) << name;
    EXPECT_EQ(read.at(name).to_double(), tensor.to_double()) << name;
  }
}

TEST_F(SafetensorsFile, MessagesNameTheFileAndTheTensor) {
  base::write_file_atomic(path_, file_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4));
  try {
    read_safetensors(path_);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 3);
    EXPECT_THAT(error.what(), HasSubstr(path_.string() + ": tensor 'w': field data_offsets holds 4 bytes"));
  }
}

TEST(Safetensors, ABoolThatIsNeitherZeroNorOneIsTrue) {
  const std::string bytes = file_of(R"({"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 0) + "\x07";
  const auto read = read_safetensors(std::as_bytes(std::span(bytes)));
  EXPECT_THAT(read.at("w").to_double(), ElementsAre(1));
}

TEST(Safetensors, MetadataIsAllowed) {
  const std::string bytes = file_of(R"({"__metadata__":{"format":"pt"}})", 0);
  EXPECT_TRUE(read_safetensors(std::as_bytes(std::span(bytes))).empty());
}

struct Malformed {
  const char* name;
  std::string header;
  size_t data_bytes;
  const char* message;
};

class MalformedSafetensors : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedSafetensors, IsRefusedInOneSentence) {
  EXPECT_THAT(refusal(file_of(GetParam().header, GetParam().data_bytes)), HasSubstr(GetParam().message));
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Header, MalformedSafetensors,
    testing::Values(
        Malformed{"not_an_object", "[]", 0, "does not start with '{'"},
        Malformed{"cut_off_json", R"({"a":)", 0, "is not valid JSON"},
        Malformed{"bytes_after_json", "{} x", 0, "is not valid JSON"},
        Malformed{"deep_nesting", R"({"a":)" + std::string(5000, '[') + std::string(5000, ']') + "}", 0,
                  "nests more than 3 deep"},
        Malformed{"name_twice",
                  R"({"a":)" + entry("U8", "[1]", "[0,1]") + R"(,"a":)" + entry("U8", "[1]", "[1,2]") + "}",
                  2, "key 'a' twice"},
        Malformed{"field_twice", R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1,
                  "key 'dtype' twice"},
        Malformed{"unknown_field", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"path":"/x"}})", 1,
                  "field 'path' is not known"},
        Malformed{"missing_field", R"({"a":{"dtype":"U8","shape":[1]}})", 0, "needs the fields"},
        Malformed{"no_object", R"({"a":3})", 0, "tensor 'a': its description is not an object"},
        Malformed{"unknown_type", R"({"a":)" + entry("F8_E5M2", "[1]", "[0,1]") + "}", 1,
                  "element type 'F8_E5M2' is not supported"},
        Malformed{"negative_dimension", R"({"a":)" + entry("U8", "[-1]", "[0,1]") + "}", 1, "field shape"},
        Malformed{"huge_dimension", R"({"a":)" + entry("U8", "[18446744073709551615]", "[0,1]") + "}", 1,
                  "out of range"},
        Malformed{"overflowing_shape",
                  R"({"a":)" + entry("F32", "[4294967296,4294967296,4294967296]", "[0,4]") + "}", 4,
                  "overflows"},
        Malformed{"rank",
                  R"({"a":{"dtype":"U8","data_offsets":[0,1],"shape":[1)" +
                      [] {
                        std::string ones;
                        for (int i = 0; i < 100; ++i) ones += ",1";
                        return ones;
                      }() +
                      "]}}",
                  1, "up to 64"},
        Malformed{"too_few_bytes", R"({"a":)" + entry("F32", "[2]", "[0,4]") + "}", 4, "needs 8"},
        Malformed{"petabytes", R"({"a":)" + entry("U8", "[1125899906842624]", "[0,1125899906842624]") + "}",
                  4, "lies outside the 4 bytes"},
        Malformed{"backwards", R"({"a":)" + entry("U8", "[1]", "[2,1]") + "}", 4, "lies outside"},
        Malformed{"offset_beyond_int64", R"({"a":)" + entry("U8", "[1]", "[18446744073709551615,1]") + "}", 4,
                  "lies outside"},
        Malformed{"fractional_offset", R"({"a":)" + entry("U8", "[1]", "[0.5,1]") + "}", 4, "not a count"},
        Malformed{"hole",
                  R"({"a":)" + entry("U8", "[1]", "[0,1]") + R"(,"b":)" + entry("U8", "[1]", "[2,3]") + "}",
                  3, "tensor 'b': field data_offsets: starts at 2"},
        Malformed{"overlap",
                  R"({"a":)" + entry("U8", "[2]", "[0,2]") + R"(,"b":)" + entry("U8", "[2]", "[1,3]") + "}",
                  3, "tensor 'b': field data_offsets: starts at 1"},
        Malformed{"bytes_after_data", R"({"a":)" + entry("U8", "[1]", "[0,1]") + "}", 9, "end at byte 1"},
        Malformed{"metadata_type", R"({"__metadata__":{"a":1}})", 0, "field __metadata__"}),
    [](const auto& info) { return info.param.name; });

TEST(Safetensors, HeaderLengthsAreChecked) {
  EXPECT_THAT(refusal("short"), HasSubstr("5 bytes are no safetensors file"));
  EXPECT_THAT(refusal(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)), HasSubstr("passes the limit"));
  EXPECT_THAT(refusal(std::string("\x10\0\0\0\0\0\0\0{}", 10)), HasSubstr("is cut off"));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = file_of(
      R"({"a":)" + entry("F32", "[2]", "[0,8]") + R"(,"b":)" + entry("U8", "[3]", "[8,11]") + "}", 11);
  for (size_t length = 0; length < whole.size(); ++length) refusal(whole.substr(0, length));
}

}  // namespace
}  // namespace hone::importer
