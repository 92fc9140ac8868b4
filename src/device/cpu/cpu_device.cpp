// See cpu_device.hpp.
#include "device/cpu/cpu_device.hpp"

#include <omp.h>
#include <zlib.h>

#include "device/cpu/generation.hpp"
#include "device/cpu/instructions.hpp"
#include "device/cpu/onednn.hpp"
#include "device/cpu/own_convolution.hpp"
#include "device/cpu/quantized/tactics.hpp"
#include "device/cpu/reorder.hpp"
#include "device/cpu/roi_align.hpp"
#include "device/cpu/row_pooling.hpp"
#include "device/cpu/tactics.hpp"
#include "device/cpu/tiled_attention.hpp"
#include "device/cpu/vector_normalization.hpp"
#include "system/cpu.hpp"
#include "system/monitor.hpp"

namespace hone::device::cpu {
namespace {

using engine::Layout;
using tensor::Precision;

TacticList make_tactics() {
  TacticList list;
  add_tiled_convolution_tactics(list);
  add_grouped_convolution_tactics(list);
  add_convolution_tactics(list);
  add_depthwise_convolution_tactics(list);
  add_matrix_tactics(list);
  add_tiled_matrix_tactics(list);
  add_attention_tactics(list);
  add_tiled_attention_tactics(list);
  add_pooling_tactics(list);
  add_row_pooling_tactics(list);
  add_elementwise_tactics(list);
  add_map_tactics(list);
  add_cast_tactics(list);
  add_concat_tactics(list);
  add_movement_tactics(list);
  add_interpolation_tactics(list);
  add_grid_sample_tactics(list);
  add_indexing_tactics(list);
  add_top_k_tactics(list);
  add_cumulative_sum_tactics(list);
  add_softmax_tactics(list);
  add_normalization_tactics(list);
  add_row_normalization_tactics(list);
  add_group_normalization_tactics(list);
  add_vector_normalization_tactics(list);
  add_squeeze_excite_tactics(list);
  add_reduction_tactics(list);
  add_quantization_tactics(list);
  add_integer_tactics(list);
  add_integer_sums_tactics(list);
  add_quantized_product_tactics(list);
  add_quantized_map_tactics(list);
  add_quantized_pool_tactics(list);
  add_recurrent_tactics(list);
  add_tiled_recurrent_tactics(list);
  add_reorder_tactics(list);
  add_roi_align_tactics(list);
  add_generation_tactics(list);
  return list;
}

std::string cpu_model() {
  // CPUID leaves 0x80000002-4 hold the brand string.
  unsigned words[12] = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* w = words + 4 * i;
    __asm__ volatile("cpuid" : "=a"(w[0]), "=b"(w[1]), "=c"(w[2]), "=d"(w[3]) : "a"(0x80000002u + i), "c"(0));
  }
  std::string brand(reinterpret_cast<const char*>(words), sizeof words);
  brand.resize(brand.find('\0') == std::string::npos ? brand.size() : brand.find('\0'));
  while (!brand.empty() && brand.back() == ' ') brand.pop_back();
  return brand;
}

/// The fingerprint of an engine that runs on every CPU with the level's instructions.
std::string portable_fingerprint(Level level) {
  return fmt::format("cpu; {} or above; oneDNN {}", level_name(level), onednn_version());
}

/// The level of a portable engine with oneDNN as it is here.
std::optional<Level> level_of(std::string_view fingerprint) {
  for (const Level level :
       {Level::kAvx2, Level::kAvx512, Level::kAvx512Vnni, Level::kAvx512Bf16, Level::kAmx}) {
    if (fingerprint == portable_fingerprint(level)) return level;
  }
  return std::nullopt;
}

bool has_fast_bf16() { return has_amx_bf16() || has_fast_avx512_bf16(); }

class CpuDevice final : public engine::Device {
 public:
  CpuDevice() : tactics_(make_tactics()) {}

  std::string_view name() const override { return "cpu"; }

  /// Any processor with these instructions runs the engine; how fast its steps are is another matter.
  std::string fingerprint() const override {
    if (const auto level = narrowed_level()) return portable_fingerprint(*level);
    return fmt::format("cpu; {}; oneDNN {}", instructions_text(), onednn_version());
  }

  /// The results of a search on another processor, or among other tactics, are no choice here.
  std::string timing_fingerprint() const override {
    uLong names = 0;
    for (const engine::Tactic& tactic : tactics_)
      names = ::crc32_z(names, reinterpret_cast<const Bytef*>(tactic.name.c_str()), tactic.name.size() + 1);
    return fmt::format("cpu; {}; {}; oneDNN {}; tactics {:08x}", cpu_model(), instructions_text(),
                       onednn_version(), names);
  }

  std::vector<Layout> image_layouts(Precision) const override {
    return {has_avx512() ? Layout::kBlocked16 : Layout::kBlocked8, Layout::kChannelsLast};
  }

  std::vector<std::string> passes(Precision, int64_t) const override {
    std::vector<std::string> passes = {"gated_product_splitting", "row_lifting",        "mean_of_squares",
                                       "squeeze_excite_fusion",   "projection_packing", "attention_fusion",
                                       "normalization_fusion"};
    if (multiplies_bytes()) {
      for (const char* name :
           {"quantized_lowering", "quantized_movement", "quantized_weights", "quantized_fusion"})
        passes.emplace_back(name);
    }
    return passes;
  }

  std::vector<const engine::Tactic*> tactics(const graph::Node& node) const override {
    return engine::tactics_for(tactics_, node);
  }

  std::shared_ptr<const engine::Kernel> make_reorder(const engine::TensorDesc& from,
                                                     const engine::TensorDesc& to) const override {
    return make_reorder_kernel(from, to);
  }

  std::shared_ptr<const engine::Kernel> make_rounding(
      std::shared_ptr<const engine::Kernel> kernel, std::vector<engine::TensorDesc> outputs) const override {
    return make_rounding_kernel(std::move(kernel), std::move(outputs));
  }

  void set_threads(int threads) const override { omp_set_num_threads(threads); }

  engine::OthersUse others_use() const override {
    const system::CpuCounters seen = system::read_cpu_counters(system::kNoWorker);
    return {seen.busy_s - seen.own_s + seen.steal_s, seen.wall_s * system::usable_cores()};
  }

  bool computes_in(Precision precision) const override {
    // oneDNN computes in bfloat16 from AVX-512 on (emulated in registers where the instructions are missing).
    return precision == Precision::kFp32 || (precision == Precision::kBf16 && has_avx512());
  }

  std::vector<engine::NumericPolicy> finer_policies(Precision precision) const override {
    if (precision != Precision::kBf16 || !computes_in(precision) || has_fast_bf16()) return {};
    return {engine::policy_of(Precision::kFp32)};
  }

  std::vector<std::string> notes(const engine::NumericPolicy& policy) const override {
    if (policy.is_emulated()) {
      return {
          "bf16 is emulated: this CPU has no AVX-512, so arithmetic is in fp32 and results are rounded to "
          "bf16"};
    }
    if (policy.storage != tensor::DType::kBFloat16) return {};
    if (!has_avx512_bf16()) {
      return {"this CPU has no bf16 instructions: oneDNN widens to fp32 in registers"};
    }
    if (!has_fast_bf16())
      return {"this CPU multiplies bf16 more slowly than fp32: steps are in either, whichever is faster"};
    return {};
  }

 private:
  TacticList tactics_;
};

}  // namespace

Refusal refuse_engine(std::string_view built_for) {
  const std::string own = cpu_device().fingerprint();
  if (built_for == own) return {};
  const std::optional<Level> needed = level_of(built_for);
  if (!needed) {
    return fmt::format(
        "the engine was built for '{}', this is '{}'; build it again here, or for several kinds of CPUs with "
        "--portable LEVEL",
        built_for, own);
  }
  if (has_level(*needed)) return {};
  const auto highest = highest_level();
  return fmt::format("the engine needs a CPU with {}, this one has {}{}", level_name(*needed),
                     instructions_text(),
                     highest ? fmt::format("; build it again with --portable {}", level_name(*highest)) : "");
}

const engine::Device& cpu_device() {
  static const CpuDevice kDevice;
  return kDevice;
}

}  // namespace hone::device::cpu
