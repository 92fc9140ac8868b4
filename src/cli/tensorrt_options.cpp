// See tensorrt_options.hpp.
#include "cli/tensorrt_options.hpp"

#include <algorithm>

namespace hone::cli {
namespace {

/// The keys of settings are the names that TensorRT uses.
std::string key_of(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

}  // namespace

void add_tensorrt_options(CLI::App& command, std::map<std::string, std::string>& settings) {
  const auto add = [&](const std::string& name, const std::string& text) {
    return command.add_option_function<std::string>(
        "--tensorrt-" + name,
        [&settings, key = "tensorrt." + key_of(name)](const std::string& value) { settings[key] = value; },
        text);
  };
  add("level", "TensorRT's own builderOptimizationLevel (default: 3)")->check(CLI::Range(0, 5));
  add("workspace", "TensorRT's workspace limit in MB (default: all memory of the GPU)")
      ->check(CLI::Range(1, 1 << 20));
  add("tactics",
      "TensorRT's tactic sources, some of jit,edge,cublas,cublaslt,cudnn (default: TensorRT's own)");
  add("threads", "Threads that TensorRT's builder may use (default: 1)")->check(CLI::Range(1, 1024));
  add("min-block-size", "Least number of operators in an engine of the peer torch_tensorrt (default: 5)")
      ->check(CLI::Range(1, 1 << 20));
  add("typing",
      "Who chooses the types of layers: weak: TensorRT, strong: hone's graph (default: weak; from TensorRT "
      "11 on strong)")
      ->check(CLI::IsMember({"weak", "strong"}));
  add("calibrator",
      "Calibrator for TensorRT's int8: hone's own, or entropy or minmax of TensorRT 8.6 and 10 (default: "
      "hone)")
      ->check(CLI::IsMember({"hone", "entropy", "minmax"}));
  add("calibrate",
      "Calibration data for TensorRT's calibrator, separated by commas, as for hone quantize --calibrate "
      "(default: generated)");
  add("calib", "Calibration cache of TensorRT, instead of data");
  add("calib-output", "File to write TensorRT's calibration cache to");
}

}  // namespace hone::cli
