// `hone devices`: lists the devices of this machine that engines can be built for, and the abilities of each.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "device/device_list.hpp"
#include "report/terminal/sheet.hpp"

namespace hone::cli {
namespace {

constexpr double kGiga = 1e9;

void print_device(const device::DeviceSummary& device) {
  const std::string name = tensor::place_text(device.place);
  if (!device.unavailable.empty()) {
    fmt::print("{:<8} not available: {}\n", name, device.unavailable);
    return;
  }
  fmt::print("{:<8} {}\n", name, report::printable(device.model));
  fmt::print("{:<8} memory {:.1f} GB, {:.1f} GB free\n", "", static_cast<double>(device.total_memory) / kGiga,
             static_cast<double>(device.free_memory) / kGiga);
  fmt::print("{:<8} precisions {}\n", "", fmt::join(device.precisions, ", "));
  fmt::print("{:<8} {}\n", "", report::printable(device.details));
}

}  // namespace

void add_devices_command(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("devices", "List the CPU and the GPUs that engines can be built for");
  command->callback([] {
    for (const device::DeviceSummary& device : device::list_devices()) print_device(device);
  });
}

}  // namespace hone::cli
