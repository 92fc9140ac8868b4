// GPUs that are not here, and the tactics of ours that each of them would have.
#pragma once

#include "device/cuda/plugin/gpu.hpp"
#include "device/cuda/plugin/tactics/quantized_tactics.hpp"
#include "device/cuda/plugin/tactics/tactics.hpp"

namespace hone::device::cuda::test_support {

/// As NVIDIA's tables of compute capabilities have them.
inline DeviceProperties gpu(int major, int minor, int multiprocessors, int shared_memory) {
  DeviceProperties device;
  device.major = major;
  device.minor = minor;
  device.multiprocessors = multiprocessors;
  device.shared_memory = shared_memory;
  set_capabilities(device);
  return device;
}

inline Gpu absent_gpus[] = {Gpu(gpu(9, 0, 132, 232448)), Gpu(gpu(8, 0, 108, 166912)),
                            Gpu(gpu(7, 5, 40, 65536))};

/// All but those of libraries, which are asked for what only they know; that takes a GPU.
inline TacticList own_tactics(Gpu& device) {
  TacticList list;
  add_byte_quantization_tactics(list);
  for (const auto add :
       {add_stem_tactics, add_gemm_tactics, add_stationary_convolution_tactics,
        add_direct_convolution_tactics, add_row_product_tactics, add_layer_tactics,
        add_sum_convolution_tactics, add_global_pooled_convolution_tactics, add_bottleneck_tactics,
        add_squeeze_excite_tactics, add_attention_tactics, add_cached_attention_tactics,
        add_pointwise_tactics, add_resize_tactics, add_byte_product_tactics, add_byte_sum_tactics})
    add(list, device);
  for (const auto add : {add_transposed_convolution_tactics, add_pooling_tactics, add_normalization_tactics,
                         add_movement_tactics, add_indexing_tactics, add_scatter_tactics, add_ranking_tactics,
                         add_sampling_tactics, add_reduction_tactics, add_columns_to_image_tactics,
                         add_strided_product_tactics})
    add(list);
  add_pooled_convolution_tactics(list);
  add_byte_pool_tactics(list);
  return list;
}

}  // namespace hone::device::cuda::test_support
