// The checks of kernels of bytes.
#pragma once

namespace hone::device::cuda::check {

/// All configurations of products on small problems, and pools.
void check_bytes();
void check_byte_pools();
void check_byte_quantization();
/// Products of the sizes that networks have, each by its best guesses.
void check_byte_layers();
/// Sums of two products against these products: all configurations of random problems, sizes that networks
/// have, and launches that overlap.
void check_byte_sum();
void check_byte_sum_layers();
void check_byte_sum_chains();

}  // namespace hone::device::cuda::check
