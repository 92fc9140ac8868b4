// Lists the devices of this machine, and which of them takes the engine of a precision.
//
// usage: devices [PRECISION]      fp32 when none is named
#include <algorithm>
#include <cstdio>
#include <hone/devices.hpp>
#include <string>

int main(int count, char** arguments) try {
  if (count > 2) {
    std::fprintf(stderr, "usage: devices [PRECISION]\n");
    return 2;
  }
  const std::string precision = count == 2 ? arguments[1] : "fp32";
  constexpr double kGiga = 1e9;
  for (const hone::DeviceInfo& device : hone::devices()) {
    if (!device.unavailable.empty()) {
      std::printf("%s: not available: %s\n", device.name.c_str(), device.unavailable.c_str());
      continue;
    }
    const auto& known = device.precisions;
    const bool fits = std::find(known.begin(), known.end(), precision) != known.end();
    std::printf("%s: %s, %.1f GB, %s %s\n", device.name.c_str(), device.model.c_str(),
                static_cast<double>(device.total_memory) / kGiga, fits ? "runs" : "does not run",
                precision.c_str());
  }
  return 0;
} catch (const hone::Error& error) {
  std::fprintf(stderr, "devices: %s\n", error.what());
  return error.exit_code();
}
