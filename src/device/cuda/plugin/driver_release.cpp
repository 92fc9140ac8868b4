// See driver_release.hpp.
#include "device/cuda/plugin/driver_release.hpp"

#include <fstream>
#include <iterator>
#include <regex>

namespace hone::device::cuda {

std::string driver_release(std::string_view text) {
  static const std::regex release(R"(\s(\d+\.\d+(\.\d+)?)\s)");
  std::match_results<std::string_view::const_iterator> found;
  return std::regex_search(text.begin(), text.end(), found, release) ? found[1].str() : "";
}

std::string driver_release() {
  std::ifstream file("/proc/driver/nvidia/version");
  return driver_release(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace hone::device::cuda
