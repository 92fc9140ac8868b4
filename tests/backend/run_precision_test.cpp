// Names of precisions with int8 among them.
#include "backend/run_precision.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::backend {
namespace {

using tensor::Precision;

TEST(RunPrecision, IsOneOrInt8WithAnother) {
  EXPECT_EQ(parse_run_precision("fp16").precision, Precision::kFp16);
  EXPECT_EQ(parse_run_precision("int8").beside_int8, Precision::kFp32);
  EXPECT_EQ(parse_run_precision("int8+fp16").precision, Precision::kInt8);
  EXPECT_EQ(parse_run_precision("int8+fp16").beside_int8, Precision::kFp16);
}

TEST(RunPrecision, IsNothingElse) {
  for (const char* wrong : {"fp16+int8", "int8+int8", "fp16+fp32", "int8+", "+fp16", "int8+fp16+fp32", ""})
    EXPECT_THROW(parse_run_precision(wrong), Error) << wrong;
}

}  // namespace
}  // namespace hone::backend
