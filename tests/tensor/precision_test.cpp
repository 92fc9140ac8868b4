// Precisions: names go both ways, and each has a type to be stored in or a sentence.
#include "tensor/precision.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::tensor {
namespace {

struct Row {
  Precision precision;
  const char* name;
  DType stored;
};

constexpr Row kRows[] = {{Precision::kFp32, "fp32", DType::kFloat32},
                         {Precision::kTf32, "tf32", DType::kFloat32},
                         {Precision::kBf16, "bf16", DType::kBFloat16},
                         {Precision::kFp16, "fp16", DType::kFloat16}};

TEST(Precision, NamesGoBothWays) {
  for (const Row& row : kRows) {
    EXPECT_EQ(precision_name(row.precision), row.name);
    EXPECT_EQ(parse_precision(row.name), row.precision);
  }
  EXPECT_EQ(precision_name(Precision::kInt8), "int8");
  EXPECT_EQ(parse_precision("int8"), Precision::kInt8);
}

TEST(Precision, UnknownNamesAreUsageErrorsThatListTheKnown) {
  for (const char* name : {"", "FP32", "fp12", "fp32 ", "float32"}) {
    try {
      parse_precision(name);
      ADD_FAILURE() << "'" << name << "' was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_EQ(error.what(), "unknown precision '" + std::string(name) + "' (fp32, tf32, bf16, fp16, int8)");
    }
  }
}

TEST(Precision, ValuesBetweenStepsHaveItsType) {
  for (const Row& row : kRows) EXPECT_EQ(storage_dtype(row.precision), row.stored) << row.name;
}

TEST(Precision, NothingIsStoredInInt8Yet) {
  try {
    storage_dtype(Precision::kInt8);
    ADD_FAILURE() << "int8 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(),
                 "no floating-point value has precision int8; hone quantize makes a model whose products do");
  }
}

}  // namespace
}  // namespace hone::tensor
