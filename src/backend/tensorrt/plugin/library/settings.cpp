// See settings.hpp.
#include "backend/tensorrt/plugin/library/settings.hpp"

#include <NvInfer.h>

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
  settings.strong = find("typing") == "strong" || NV_TENSORRT_MAJOR >= 11;
  settings.trust = find("trust") == "1";
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

}  // namespace hone::backend::tensorrt
