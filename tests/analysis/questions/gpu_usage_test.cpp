// How busy GPUs were: the plugin's formulas on traces small enough to reckon by hand, and measured counters.
#include "analysis/questions/gpu_usage.hpp"

#include <gtest/gtest.h>

#include "analysis/questions/tensor_cores.hpp"
#include "support/random_trace.hpp"

namespace hone::analysis {
namespace {

using support::CopyDirection;
using support::TraceBuilder;

TEST(GpuUsage, FollowsTheFormulas) {
  TraceBuilder b;
  b.properties("NVIDIA H200").multiprocessors = 100;
  b.kernel("nvjet_hsh_64x8", 0, 400);  // half of the SMs
  b.launch().grid = {50, 1, 1};
  b.trace.launches.back().recorded_occupancy = 20;
  b.kernel("plain", 200, 600);  // 80 of 100 SMs; together no more than all
  b.launch().grid = {8, 5, 2};
  b.trace.launches.back().recorded_occupancy = 60;
  b.copy(CopyDirection::kHostToDevice, 8, 700, 900);
  const GpuUsage usage = analyze_gpu_usage(b.build(), {0, 1000});
  ASSERT_EQ(usage.devices.size(), 1U);
  const DeviceUsage& device = usage.devices[0];
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.kernel_time, 800);
  EXPECT_DOUBLE_EQ(device.utilization.value, 0.6);
  ASSERT_TRUE(device.sm_efficiency && device.occupancy);
  EXPECT_DOUBLE_EQ(device.sm_efficiency->value, (200 * 0.5 + 200 * 1 + 200 * 0.8) / 1000);
  EXPECT_EQ(device.sm_efficiency->origin, Origin::kEstimated);
  EXPECT_DOUBLE_EQ(device.occupancy->value, 0.4);
  EXPECT_DOUBLE_EQ(device.tensor_cores.value, 0.5);
  EXPECT_EQ(device.tensor_cores.origin, Origin::kByName);
  EXPECT_FALSE(device.measured_sms_active.has_value());
  EXPECT_EQ(to_json(usage)["devices"][0]["tensor_cores"]["origin"], "by name");
}

TEST(GpuUsage, ClipsToTheWindowAndSaysWhatItKnows) {
  TraceBuilder b;
  b.properties("GPU").multiprocessors = 10;
  b.kernel("a", 0, 300);
  b.launch().grid = {5, 1, 1};
  b.kernel("without a launch", 300, 400);
  const DeviceUsage device = analyze_gpu_usage(b.build(), {200, 600}).devices.at(0);
  EXPECT_DOUBLE_EQ(device.utilization.value, 0.5);
  ASSERT_TRUE(device.sm_efficiency.has_value());
  EXPECT_DOUBLE_EQ(device.sm_efficiency->value, 0.125);
  EXPECT_DOUBLE_EQ(device.sm_efficiency->coverage, 0.5);
  EXPECT_FALSE(device.occupancy.has_value());
}

TEST(GpuUsage, EstimatesOccupanciesThatWereNotRecorded) {
  TraceBuilder b;
  trace::DeviceProperties& gpu = b.properties("GPU");
  gpu.multiprocessors = 10;
  gpu.warp_size = 32;
  gpu.threads_per_multiprocessor = 2048;
  gpu.registers_per_multiprocessor = 65536;
  gpu.shared_bytes_per_multiprocessor = 233472;
  gpu.blocks_per_multiprocessor = 32;
  b.kernel("a", 0, 300);
  b.launch() = {{20, 1, 1}, {512, 1, 1}, {1, 1, 1}, 32};  // two blocks of 512 of 2048 threads
  b.kernel("b", 300, 400);
  b.launch().recorded_occupancy = 100;
  const DeviceUsage device = analyze_gpu_usage(b.build(), {0, 400}).devices.at(0);
  ASSERT_TRUE(device.occupancy.has_value());
  EXPECT_DOUBLE_EQ(device.occupancy->value, (0.5 * 300 + 100) / 400);
}

TEST(GpuUsage, PutsMeasuredCountersBeside) {
  TraceBuilder b;
  b.kernel("a", 0, 1000);
  b.sample("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 100, 99);  // spans the time before
  b.sample("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 300, 50);
  b.sample("sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", 400, 80);
  b.sample("Tensor Active", "%", 100, 1);
  b.sample("Tensor Active", "%", 200, 30);
  b.sample("pcie__read_bytes.sum", "bytes", 100, 1);
  b.sample("pcie__read_bytes.sum", "bytes", 200, 4096);
  const DeviceUsage device = analyze_gpu_usage(b.build(), {0, 1000}).devices.at(0);
  ASSERT_TRUE(device.measured_sms_active && device.measured_tensor_active);
  EXPECT_DOUBLE_EQ(device.measured_sms_active->value, 0.6);
  EXPECT_EQ(device.measured_sms_active->origin, Origin::kMeasured);
  EXPECT_DOUBLE_EQ(device.measured_tensor_active->value, 0.3);
  EXPECT_FALSE(device.measured_gr_active.has_value());
  ASSERT_EQ(device.counters.size(), 3U);
  EXPECT_EQ(device.counters[1].unit, "bytes");
}

TEST(GpuUsage, SharesOfRandomTracesStayBetweenZeroAndOne) {
  base::Random random(5);
  for (int round = 0; round < 100; ++round) {
    trace::Trace trace = support::random_trace(random, 3);
    for (int32_t id = 0; id < 2; ++id) {
      trace.devices.push_back({id});
      trace.devices.back().multiprocessors = 1 + static_cast<int32_t>(random.below(200));
    }
    for (trace::DeviceEvent& event : trace.device_events) {
      if (event.kind != trace::DeviceKind::kKernel || random.below(4) == 0) continue;
      event.detail = static_cast<int32_t>(trace.launches.size());
      trace::KernelLaunch& launch = trace.launches.emplace_back();
      launch.grid = {1 + static_cast<int32_t>(random.below(100'000)), 65535, 65535};
      if (random.below(2) == 0) launch.grid = {static_cast<int32_t>(random.below(50)), 1, 1};
      launch.recorded_occupancy = static_cast<double>(random.below(101));
    }
    const GpuUsage usage = analyze_gpu_usage(trace, trace::extent(trace));
    for (const DeviceUsage& device : usage.devices) {
      for (const std::optional<Figure>& figure : {std::optional(device.utilization), device.sm_efficiency,
                                                  device.occupancy, std::optional(device.tensor_cores)}) {
        if (!figure) continue;
        EXPECT_GE(figure->value, 0);
        EXPECT_LE(figure->value, 1);
      }
      if (device.sm_efficiency) {
        EXPECT_LE(device.sm_efficiency->value, device.utilization.value + 1e-12);
      }
    }
  }
}

TEST(TensorCores, AreToldByInstructionsWhereTheseAreKnown) {
  TraceBuilder b;
  b.kernel("my_kernel", 0, 300);
  b.launch().tensor_use = trace::TensorUse::kYes;
  b.kernel("volta_h884gemm_128x64_ldg8_nn", 300, 400);
  b.launch().tensor_use = trace::TensorUse::kNo;
  const DeviceUsage known = analyze_gpu_usage(b.build(), {0, 1000}).devices.at(0);
  EXPECT_DOUBLE_EQ(known.tensor_cores.value, 0.75);
  EXPECT_EQ(known.tensor_cores.origin, Origin::kMeasured);
  b.kernel("nvjet_hsh_64x8", 400, 800);  // nobody saw its code
  const DeviceUsage mixed = analyze_gpu_usage(b.build(), {0, 1000}).devices.at(0);
  EXPECT_DOUBLE_EQ(mixed.tensor_cores.value, 7.0 / 8);
  EXPECT_EQ(mixed.tensor_cores.origin, Origin::kByName);
}

TEST(TensorCores, AreToldByNamesOfManyYears) {
  for (const char* name :
       {"volta_h884gemm_128x64_ldg8_nn", "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
        "nvjet_hsh_128x64_64x7_v_bz_TNN", "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(params)",
        "void cutlass::device_kernel<flash::FlashAttnFwdSm90<...>>(Params)",
        "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1_"
        "g1_execute_segment_k_off_kernel__5x_cudnn_gmma",
        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_nn_align8>(Params)",
        "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_tensor16x8x16_simple", "triton_tem_fused_mm_0",
        "cudnn_generated_fort_native_sm90_convFwd_pointwise_pointwise_knob_24_256x64x32_8_0",
        "void hone::device::cuda::implicit_gemm<__half, Tile<64, 64, 64, 2, 2>, WindowPixels>(GemmParams)",
        "void hone::device::cuda::implicit_gemm<hone::device::cuda::ptx::Tf32, Tile<64>>(GemmParams)",
        "void hone::device::cuda::warp_gemm<__half, (StreamKind)0, 16, 2>(WarpGemmParams)",
        "void hone::device::cuda::warpgroup_gemm<__half, WarpgroupTile<64, 32, 1>>(WarpgroupParams)",
        "void hone::device::cuda::warpgroup_stem<__half, 64, 4, (StreamKind)0>(WarpgroupStemParams)",
        "void hone::device::cuda::warpgroup_stationary<__half, 104>(StationaryParams)",
        "void hone::device::cuda::warpgroup_pooled_stem<__half, PooledStemTile<7>>(PooledStemParams)",
        "void hone::device::cuda::bottleneck_kernel<__half, 64, false, 2>(BottleneckParams)",
        "void hone::device::cuda::pipelined_bottleneck_kernel<__half, 64, false>(PipelinedBottleneckParams)"})
    EXPECT_TRUE(uses_tensor_cores_by_name(name)) << name;
  for (const char* name :
       {"void at::native::vectorized_elementwise_kernel<4>(int)", "ampere_sgemm_128x64_nn",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_simt_ffma_aligna4", "my_conv1x1_kernel",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)",
        "triton_poi_fused_relu_0", "void hone::device::cuda::direct_kernel<float>(Params)",
        "void hone::device::cuda::implicit_gemm<float, Tile<64, 64, 64, 2, 2>, WindowPixels>(GemmParams)"})
    EXPECT_FALSE(uses_tensor_cores_by_name(name)) << name;
  EXPECT_TRUE(is_tensor_core_eligible("aten::addmm"));
  EXPECT_FALSE(is_tensor_core_eligible("aten::relu"));
  EXPECT_FALSE(is_tensor_core_eligible("addmm"));
}

}  // namespace
}  // namespace hone::analysis
