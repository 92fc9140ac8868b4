// Names of kernels and calls as the tables show and group them.
#include "analysis/names.hpp"

#include <gtest/gtest.h>

namespace hone::analysis {
namespace {

struct NameCase {
  const char* recorded;
  const char* base;
  const char* without_parameters;
};

constexpr NameCase kNames[] = {
    {"gemm", "gemm", "gemm"},
    {"nvjet_hsh_128x64_64x7_v_bz_TNN", "nvjet_hsh_128x64_64x7_v_bz_TNN", "nvjet_hsh_128x64_64x7_v_bz_TNN"},
    {"void lib::gemm<float, 4>(float*, int)", "gemm", "lib::gemm<float, 4>"},
    {"lib::plain(int)", "plain", "lib::plain"},
    {"void at::native::(anonymous namespace)::fill<float, A<B>>(A<B>, (int)4)", "fill",
     "at::native::(anonymous namespace)::fill<float, A<B>>"},
    {"void cutlass::Kernel2<cutlass_80_wmma<(bool)1>>(Params)", "Kernel2",
     "cutlass::Kernel2<cutlass_80_wmma<(bool)1>>"},
    {"std::enable_if<!T, void>::type run<decltype(a->b)>(int*, int)", "run", "run<decltype(a->b)>"},
    {"void outer<int>::inner(int)", "inner", "outer<int>::inner"},
    {"void f(int)::{lambda(int)#1}::operator()(int) const", "operator()",
     "f(int)::{lambda(int)#1}::operator()"},
    {"broken<", "broken", "broken<"},
    {"", "", ""},
};

TEST(Names, KernelsLoseWhatIsNotTheirName) {
  for (const NameCase& c : kNames) {
    EXPECT_EQ(base_name(c.recorded), c.base) << c.recorded;
    EXPECT_EQ(without_parameters(c.recorded), c.without_parameters) << c.recorded;
  }
}

TEST(Names, BriefOnesTellInstancesApart) {
  EXPECT_EQ(brief_name("void a::b::gemm<__half, a::Tile<32, 4>, a::b::Pixels>(a::Params)"),
            "gemm<__half, Tile<32, 4>, Pixels>");
  EXPECT_EQ(brief_name("void (anonymous namespace)::spin(unsigned int)"), "spin");
  EXPECT_EQ(brief_name("void at::native::(anonymous namespace)::k<float>(int)"), "k<float>");
  EXPECT_EQ(brief_name("void outer<int>::inner(int)"), "inner");
  EXPECT_EQ(brief_name("nvjet_hsh_128x64"), "nvjet_hsh_128x64");
  EXPECT_EQ(brief_name("::"), "");
  EXPECT_EQ(brief_name(""), "");
}

TEST(Names, CallsLoseTheirVersions) {
  EXPECT_EQ(api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(api_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(api_name("cudaMemcpyAsync_ptsz"), "cudaMemcpyAsync");
  EXPECT_EQ(api_name("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(api_name("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(api_name("cuda_v"), "cuda_v");
  EXPECT_EQ(api_name("cuda_value"), "cuda_value");
}

TEST(Names, CollectivesOfTodayAreFound) {
  EXPECT_TRUE(is_communication_kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"));
  EXPECT_TRUE(is_communication_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"));
  EXPECT_FALSE(is_communication_kernel("void gemm<ncclTag>(int)"));
  EXPECT_TRUE(is_host_communication("gloo:all_reduce"));
  EXPECT_FALSE(is_host_communication("nccl:all_reduce"));
  EXPECT_TRUE(is_data_loading("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"));
  EXPECT_FALSE(is_data_loading("aten::enumerate"));
}

}  // namespace
}  // namespace hone::analysis
