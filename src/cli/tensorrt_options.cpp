// See tensorrt_options.hpp.
#include "cli/tensorrt_options.hpp"

#include <algorithm>

namespace hone::cli {
namespace {

/// Settings are named as the systems name them.
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
  add("workspace", "MB that a tactic of TensorRT may take for scratch (default: all that the GPU has)")
      ->check(CLI::Range(1, 1 << 20));
  add("tactics",
      "Sources of TensorRT's tactics, of jit,edge,cublas,cublaslt,cudnn (default: TensorRT's own)");
  add("min-block-size", "Fewest operators of an engine of the peer torch_tensorrt (default: 5)")
      ->check(CLI::Range(1, 1 << 20));
  add("typing",
      "Who chooses the types of TensorRT's layers: weak: TensorRT, strong: hone's graph (default: weak, "
      "strong from 11 on)")
      ->check(CLI::IsMember({"weak", "strong"}));
  add("calibrator",
      "Who finds the ranges of TensorRT's int8: hone, or entropy and minmax, calibrators of TensorRT 8.6 and "
      "10 (default: hone)")
      ->check(CLI::IsMember({"hone", "entropy", "minmax"}));
  add("calibrate",
      "Data for TensorRT's calibrator, as hone quantize --calibrate takes them, between commas (default: "
      "generated)");
  add("calib", "A calibration cache of TensorRT for its calibrator, instead of data");
  add("calib-output", "File for the calibration cache that TensorRT's calibrator writes");
}

}  // namespace hone::cli
