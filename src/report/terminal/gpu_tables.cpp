// Tables of GPU utilization; see trace_tables.hpp.
#include <fmt/format.h>

#include "base/units.hpp"
#include "report/terminal/trace_tables.hpp"

namespace hone::report {
namespace {

using analysis::DeviceUsage;
using analysis::Figure;
using base::share_text;

std::string device_title(const DeviceUsage& device) {
  std::string title = fmt::format("GPU {}", device.device);
  if (!device.name.empty()) title += ": " + device.name;
  if (device.memory_bytes > 0) title += ", " + base::bytes_text(static_cast<double>(device.memory_bytes));
  if (device.compute_major > 0)
    title += fmt::format(", compute capability {}.{}", device.compute_major, device.compute_minor);
  if (device.multiprocessors > 0) title += fmt::format(", {} SMs", device.multiprocessors);
  return title;
}

void add_row(Sheet* sheet, const char* name, const std::optional<Figure>& figure,
             const std::string& meaning) {
  if (!figure) {
    sheet->rows.push_back({text_cell(name), no_cell(), text_cell("not recorded"), text_cell(meaning)});
    return;
  }
  std::string origin(analysis::origin_name(figure->origin));
  if (figure->coverage < 0.995) origin += ", " + share_text(figure->coverage) + " of kernel time";
  sheet->rows.push_back({text_cell(name), share_cell(figure->value), text_cell(origin), text_cell(meaning)});
}

Sheet usage_sheet(const DeviceUsage& device) {
  Sheet sheet{device_title(device),
              {{"Figure", "", false}, {"Value", "%"}, {"Origin", "", false}, {"Of", "", false}},
              {},
              {}};
  sheet.whole = true;
  add_row(&sheet, "GPU Utilization", device.utilization, "time with a kernel / time");
  add_row(&sheet, "Est. SM Efficiency", device.sm_efficiency, "min(blocks / SMs, 1) over all time");
  add_row(&sheet, "Est. Achieved Occupancy", device.occupancy,
          "warps / warps an SM can hold, over kernel time");
  add_row(&sheet, "Tensor Cores", device.tensor_cores, "time of kernels that use them / kernel time");
  if (!device.measured_gr_active && !device.measured_sms_active && !device.measured_warps_active &&
      !device.measured_tensor_active)
    return sheet;
  add_row(&sheet, "GR active", device.measured_gr_active, "all time");
  add_row(&sheet, "SMs active", device.measured_sms_active, "all time");
  add_row(&sheet, "Warp occupancy", device.measured_warps_active, "all time, idle time included");
  add_row(&sheet, "Tensor pipe active", device.measured_tensor_active, "all time, against its peak");
  return sheet;
}

Sheet counter_sheet(const DeviceUsage& device) {
  Sheet sheet{fmt::format("Counters of GPU {}", device.device),
              {{"Mean"}, {"Min"}, {"Max"}, {"Samples"}, {"Unit", "", false}, {"Counter", "", false}},
              {},
              {}};
  for (const analysis::CounterMean& counter : device.counters)
    sheet.rows.push_back({unit_cell(counter.mean, counter.unit), unit_cell(counter.min, counter.unit),
                          unit_cell(counter.max, counter.unit), count_cell(counter.samples),
                          text_cell(counter.unit), text_cell(counter.name)});
  return sheet;
}

}  // namespace

std::vector<Sheet> gpu_sheets(const analysis::GpuUsage& usage) {
  std::vector<Sheet> sheets;
  std::vector<std::string> idle;
  for (const DeviceUsage& device : usage.devices) {
    if (device.kernels == 0 && device.counters.empty()) {
      idle.push_back(device_title(device));
      continue;
    }
    sheets.push_back(usage_sheet(device));
    if (!device.counters.empty()) sheets.push_back(counter_sheet(device));
  }
  if (!idle.empty()) sheets.push_back({"GPUs without a kernel", {}, {}, std::move(idle)});
  if (sheets.empty()) sheets.push_back({"GPU", {}, {}, {"No GPU was recorded."}});
  return sheets;
}

}  // namespace hone::report
