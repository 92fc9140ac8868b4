// Instructions for Tensor Cores are found in the code of kernels, and damage does no harm.
#include "trace/collect/plugin/tensor_instructions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "trace/fake_cubin.hpp"

namespace hone::trace::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string sample() {
  return fake_cubin(90, {{"gemm", {0x981, 0x23c, 0x986}}, {"relu", {0x981, 0x986}}, {"wgmma", {0x9f0}}});
}

TEST(TensorInstructions, AreFoundByFunction) {
  EXPECT_THAT(tensor_functions(sample()),
              ElementsAre(Pair("gemm", true), Pair("relu", false), Pair("wgmma", true)));
}

TEST(TensorInstructions, OfUnknownArchitecturesAreNotGuessed) {
  for (const uint32_t architecture : {61U, 122U, 200U})
    EXPECT_THAT(tensor_functions(fake_cubin(architecture, {{"gemm", {0x23c}}})), IsEmpty()) << architecture;
  EXPECT_EQ(tensor_functions(fake_cubin(75, {{"gemm", {0x23c}}})).size(), 1U);
}

TEST(TensorInstructions, BeforeVersionEightOfTheAbiTheArchitectureIsInTheFirstByte) {
  std::string cubin = fake_cubin(0, {{"gemm", {0x23c}}});
  cubin[EI_ABIVERSION] = 7;
  cubin[offsetof(Elf64_Ehdr, e_flags)] = 80;
  EXPECT_THAT(tensor_functions(cubin), ElementsAre(Pair("gemm", true)));
}

TEST(TensorInstructions, DamagedFilesDoNoHarm) {
  const std::string whole = sample();
  for (size_t length = 0; length < whole.size(); ++length)
    tensor_functions(std::string_view(whole).substr(0, length));
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[i] ^= flip;
      tensor_functions(damaged);
    }
  }
  EXPECT_THAT(tensor_functions(""), IsEmpty());
  EXPECT_THAT(tensor_functions("nonsense"), IsEmpty());
}

TEST(TensorInstructions, OfModulesThatDisagreeAreUnknown) {
  EXPECT_EQ(tensor_use("gemm", 1), raw::TensorUse::kUnknown);
  note_module(sample());
  EXPECT_EQ(tensor_use("gemm", 1), raw::TensorUse::kYes);
  EXPECT_EQ(tensor_use("relu", 2), raw::TensorUse::kNo);
  EXPECT_EQ(tensor_use("other", 3), raw::TensorUse::kUnknown);
  note_module(fake_cubin(80, {{"wgmma", {0x981}}}));
  EXPECT_EQ(tensor_use("wgmma", 4), raw::TensorUse::kUnknown);
}

#ifdef HONE_TENSOR_CUBINS
/// nvcc's forms of the instructions of PTX; each function says in its name whether it should be found.
TEST(TensorInstructions, OfEveryKindThatNvccMakesAreFound) {
  size_t seen = 0;
  for (const char* const file : {HONE_TENSOR_CUBINS}) {
    const auto functions = tensor_functions(base::read_file(file, 1 << 24));
    EXPECT_FALSE(functions.empty()) << file;
    seen += functions.size();
    for (const auto& [name, uses] : functions) EXPECT_EQ(uses, name != "plain") << file << " " << name;
  }
  EXPECT_GE(seen, 20U);
}
#endif

}  // namespace
}  // namespace hone::trace::inject
