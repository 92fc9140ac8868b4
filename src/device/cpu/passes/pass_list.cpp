// Adds the CPU's passes to the list of all, in the order they run. CpuDevice::passes() says which of them it
// wants.
#include "device/cpu/passes/pass_list.hpp"

#include "transform/device_passes.hpp"

namespace hone::device::cpu {
namespace {

const transform::RegisteredPasses kProducts({
    .device = "cpu",
    .after = "batch_norm_lowering",
    .passes = {{"gated_product_splitting",
                "Replaces a product that elementwise operators read in parts with one product for each part, "
                "for the CPU",
                gated_product_splitting, false}},
});

const transform::RegisteredPasses kReductions({
    .device = "cpu",
    .after = "row_lifting",
    .passes = {{"mean_of_squares", "Replaces means of squares with sums of squares, for the CPU",
                mean_of_squares, false}},
});

}  // namespace
}  // namespace hone::device::cpu
