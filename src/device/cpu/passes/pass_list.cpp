// Adds the CPU's passes to the list of all, in the order they run. CpuDevice::passes() says which of them it
// wants.
#include "device/cpu/passes/pass_list.hpp"

#include "transform/device_passes.hpp"

namespace hone::device::cpu {
namespace {

const transform::RegisteredPasses kReductions({
    .device = "cpu",
    .after = "row_lifting",
    .passes = {{"mean_of_squares", "Replaces means of squares with sums of squares, for the CPU",
                mean_of_squares, false}},
});

}  // namespace
}  // namespace hone::device::cpu
