// Registers CUDA's passes in the order in which they run. CudaDevice::passes() selects those that a GPU
// needs.
#include "device/cuda/passes/pass_list.hpp"

#include "transform/device_passes.hpp"

namespace hone::device::cuda {
namespace {

using transform::RegisteredPasses;

const RegisteredPasses kTransformers({
    .device = "cuda",
    .after = "division_by_root",
    .passes = {{"rms_norm_fusion",
                "Fuses a normalization by the root of the mean of squares with its scale, for CUDA",
                rms_norm_fusion, false},
               {"rotary_fusion", "Fuses rotary positions that turn the halves of rows, for CUDA",
                rotary_fusion, false},
               {"row_product_splitting",
                "Replaces a product of few rows whose columns are split by a product for each part, for CUDA",
                row_product_splitting, false}},
});

const RegisteredPasses kRowProducts({
    .device = "cuda",
    .after = "matmul_fusion",
    .passes = {{"row_product_fusion",
                "Fuses products of few rows with constant matrices, and the normalization of these rows, for "
                "CUDA",
                row_product_fusion, false},
               {"cached_attention_fusion",
                "Fuses the attention of one token with what appends it to the caches, for CUDA",
                cached_attention_fusion, false}},
});

const RegisteredPasses kFusions({
    .device = "cuda",
    .after = "convolution_fusion",
    .passes =
        {
            {"concatenated_convolution_fusion",
             "Merges convolutions of one image whose results are concatenated into one, for CUDA where an "
             "engine is for one image",
             concatenated_convolution_fusion, false},
            {"pool_fusion", "Fuses the convolution that reads an image with the max pool after it, for CUDA",
             pool_fusion, false},
            {"stem_fusion",
             "Fuses an image's convolution and its max pool with the convolution of 1 x 1 after them, for "
             "CUDA where an engine is for few images",
             stem_fusion, false},
            {"bottleneck_fusion",
             "Fuses a bottleneck's last two convolutions and the next one's first, for CUDA",
             bottleneck_fusion, false},
            {"cluster_bottleneck_fusion",
             "Fuses a bottleneck of 128 or 256 channels, whose filters the blocks of a cluster share, for "
             "CUDA where an "
             "engine is for one image",
             cluster_bottleneck_fusion, false},
            {"convolution_sum_fusion", "Fuses two convolutions whose results are added, for CUDA",
             convolution_sum_fusion, false},
        },
});

// If a pool begins a squeeze and excitation, that region takes it.
const RegisteredPasses kPools({
    .device = "cuda",
    .after = "squeeze_excite_fusion",
    .passes = {{"global_pool_fusion",
                "Fuses a convolution of small images with the global average pool after it, for CUDA",
                global_pool_fusion, false}},
});

const RegisteredPasses kBytes({
    .device = "cuda",
    .after = "quantized_fusion",
    .passes = {{"quantized_sum_fusion", "Fuses two convolutions of bytes whose results are added, for CUDA",
                quantized_sum_fusion, false}},
});

}  // namespace
}  // namespace hone::device::cuda
