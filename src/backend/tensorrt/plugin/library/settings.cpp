// See settings.hpp.
#include "backend/tensorrt/plugin/library/settings.hpp"

#include <NvInfer.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>

#include "base/error.hpp"

namespace hone::backend::tensorrt {
namespace {

int64_t number(const std::string& name, const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    fail_usage("{} is '{}', expected {} to {}", name, text, least, most);
  return value;
}

struct Source {
  std::string_view name;
  nvinfer1::TacticSource source;
};

constexpr Source kSources[] = {
#if NV_TENSORRT_MAJOR < 11
    {"cublas", nvinfer1::TacticSource::kCUBLAS},
    {"cublaslt", nvinfer1::TacticSource::kCUBLAS_LT},
    {"cudnn", nvinfer1::TacticSource::kCUDNN},
#endif
    {"edge", nvinfer1::TacticSource::kEDGE_MASK_CONVOLUTIONS},
    {"jit", nvinfer1::TacticSource::kJIT_CONVOLUTIONS},
};

constexpr int64_t kMostThreads = 1024;

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

Calibrator calibrator_of(const std::string& name) {
  if (name.empty() || name == "hone") return Calibrator::kHone;
  if (name == "entropy") return Calibrator::kEntropy;
  if (name == "minmax") return Calibrator::kMinmax;
  fail_usage("--tensorrt-calibrator is '{}', expected hone, entropy or minmax", name);
}

void check_calibration(const Settings& settings, Precision precision) {
  const bool own = settings.calibrator != Calibrator::kHone;
  const bool given = !settings.calibration_data.empty() || !settings.calibration_cache.empty() ||
                     !settings.calibration_output.empty();
  if (given && !own)
    fail_usage(
        "--tensorrt-calibrate, --tensorrt-calib and --tensorrt-calib-output are for TensorRT's own "
        "calibrators: add --tensorrt-calibrator entropy or minmax");
  if (!own) return;
  if (NV_TENSORRT_MAJOR >= 11)
    fail_usage("TensorRT {} has no calibrators: leave --tensorrt-calibrator away, and hone writes Q/DQ",
               NV_TENSORRT_MAJOR);
  if (precision != Precision::kInt8)
    fail_usage("--tensorrt-calibrator is for int8, not for {}", precision_name(precision));
  if (settings.strong)
    fail_usage("TensorRT's calibrators work where it chooses the types: leave --tensorrt-typing strong away");
  if (!settings.calibration_data.empty() && !settings.calibration_cache.empty())
    fail_usage("give either --tensorrt-calibrate with data or --tensorrt-calib with a calibration cache");
  if (!settings.calibration_output.empty() && !settings.calibration_cache.empty())
    fail_usage("--tensorrt-calib-output is for data; --tensorrt-calib {} is a cache already",
               settings.calibration_cache);
}

}  // namespace

Settings settings_of(const LoadOptions& options) {
  Settings settings;
  settings.timing_cache = options.timing_cache;
  const auto find = [&](const std::string& name) {
    const auto found = options.settings.find("tensorrt." + name);
    return found == options.settings.end() ? std::string() : found->second;
  };
  if (const std::string level = find("level"); !level.empty())
    settings.level = static_cast<int>(number("--tensorrt-level", level, 0, 5));
  constexpr int64_t kMostMegabytes = 1 << 20;
  if (const std::string workspace = find("workspace"); !workspace.empty())
    settings.workspace = number("--tensorrt-workspace", workspace, 1, kMostMegabytes) * 1'000'000;
  settings.tactics = find("tactics");
  if (const std::string threads = find("threads"); !threads.empty())
    settings.threads = static_cast<int>(number("--tensorrt-threads", threads, 1, kMostThreads));
  settings.strong = find("typing") == "strong" || NV_TENSORRT_MAJOR >= 11;
  settings.trust = find("trust") == "1";
  settings.calibrator = calibrator_of(find("calibrator"));
  settings.calibration_data = split(find("calibrate"));
  settings.calibration_cache = find("calib");
  settings.calibration_output = find("calib_output");
  check_calibration(settings, options.precision);
  return settings;
}

uint32_t tactic_mask(const std::string& names) {
  uint32_t mask = 0;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    bool known = false;
    for (const Source& source : kSources) {
      if (source.name != name) continue;
      known = true;
      mask |= 1u << static_cast<uint32_t>(source.source);
    }
    if (!known) {
      std::string all;
      for (const Source& source : kSources) all += (all.empty() ? "" : ", ") + std::string(source.name);
      fail_usage("--tensorrt-tactics: TensorRT {} has no source '{}' ({})", NV_TENSORRT_MAJOR, name, all);
    }
  }
  return mask;
}

bool names_external_library(const std::string& names) {
  const std::vector<std::string> sources = split(names);
  return std::any_of(sources.begin(), sources.end(),
                     [](const std::string& name) { return name.starts_with("cu"); });
}

}  // namespace hone::backend::tensorrt
