// Constants in the forms of loops of ours, packed once and kept in the weight store.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "device/cpu/onednn.hpp"

namespace hone::device::cpu {

/// Writes the form of a constant into `to`, which holds zeros.
using FillForm = std::function<void(const tensor::Tensor& constant, std::byte* to)>;

/// Input `input` of the step, a constant, in the final form "word" of `bytes` bytes: as the store has it,
/// else as `fill` makes it. Bad input for a stored form of another size; MissingForm where neither the form
/// nor the constant is there.
PackedConstant packed_form(const engine::StepRequest& request, size_t input, const std::string& word,
                           size_t bytes, engine::WeightStore& weights, const FillForm& fill);

}  // namespace hone::device::cpu
