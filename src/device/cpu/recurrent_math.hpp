// The arithmetic in the cells of recurrent layers, element by element, compiled for several instruction sets.
#pragma once

#include <cstddef>

#include "graph/recurrent.hpp"

namespace hone::device::cpu {

/// x[i] = activation(x[i]), of values clipped to [-clip, clip] where clip > 0.
void activate(const graph::RecurrentActivation& activation, float clip, float* x, size_t n);
/// sum[i] += x[i] * y[i].
void add_products(const float* x, const float* y, float* sum, size_t n);
/// to[i] = x[i] * y[i].
void multiply(const float* x, const float* y, float* to, size_t n);
/// to[i] = 1 - x[i].
void complement(const float* x, float* to, size_t n);
/// c[i] = forget[i] * c[i] + input[i] * cell[i].
void update_cell(const float* input, const float* forget, const float* cell, float* c, size_t n);
/// h[i] = (1 - update[i]) * candidate[i] + update[i] * h[i].
void mix(const float* update, const float* candidate, float* h, size_t n);

}  // namespace hone::device::cpu
