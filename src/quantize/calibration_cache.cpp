// See calibration_cache.hpp.
#include "quantize/calibration_cache.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/read_described.hpp"
#include "quantize/calibration_schema.hpp"

namespace hone::quantize {
namespace {

constexpr std::string_view kFormat = "hone calibration";
constexpr int64_t kVersion = 1;

CacheTensor to_file(const TensorStatistics& tensor) {
  CacheTensor result;
  int first = 0;
  result.min = tensor.histogram.min();
  result.max = tensor.histogram.max();
  result.exponent = tensor.histogram.exponent();
  result.bins = tensor.histogram.counts(&first);
  result.first_bin = first;
  result.channel_axis = tensor.channel_axis;
  result.channel_count = tensor.channel_count;
  result.channel_sums = tensor.channel_sums;
  for (const auto& growth : tensor.growth) result.growth.push_back({growth.samples, growth.amax});
  return result;
}

int checked_int(int64_t value, const char* field) {
  if (!std::in_range<int>(value)) fail_bad_input("the field {} is {}", field, value);
  return static_cast<int>(value);
}

TensorStatistics from_file(const std::string& name, const CacheTensor& tensor) {
  TensorStatistics result;
  result.name = name;
  result.histogram =
      Histogram::restore(checked_int(tensor.exponent, "exponent"), checked_int(tensor.first_bin, "first_bin"),
                         tensor.bins, tensor.min, tensor.max);
  result.channel_axis = tensor.channel_axis;
  result.channel_count = tensor.channel_count;
  result.channel_sums = tensor.channel_sums;
  for (const CacheGrowth& growth : tensor.growth) result.growth.push_back({growth.samples, growth.amax});
  return result;
}

ChosenRange from_file(const CacheRange& range) {
  for (const Calibrator calibrator : kCalibrators) {
    if (calibrator_name(calibrator) != range.calibrator) continue;
    const bool fits =
        std::isfinite(range.low) && std::isfinite(range.high) && range.low <= 0 && range.high >= 0;
    if (!fits) fail_bad_input("the range {} to {} is none around 0", range.low, range.high);
    return {calibrator, {range.low, range.high}};
  }
  fail_bad_input("the field range.calibrator is '{}', which is none", range.calibrator);
}

CachedCalibration from_file(const CacheFile& file) {
  if (file.format != kFormat) fail_bad_input("it is no calibration cache of hone");
  if (file.version != kVersion)
    fail_bad_input(
        "it is a calibration cache of version {}, and this program reads version {}: calibrate again",
        file.version, kVersion);
  CachedCalibration result;
  Calibration& calibration = result.calibration;
  calibration.model = file.fingerprint;
  calibration.preprocessing = file.preprocessing;
  calibration.sources = file.sources;
  calibration.samples = file.samples;
  calibration.finished = file.finished;
  calibration.image_metadata = {file.image_metadata.begin(), file.image_metadata.end()};
  for (const auto& [name, factors] : file.equalization) calibration.equalization.push_back({name, factors});
  for (const auto& [name, tensor] : file.tensors) {
    try {
      calibration.tensors.push_back(from_file(name, tensor));
      if (tensor.range) result.ranges.push_back(from_file(*tensor.range));
    } catch (const Error& error) {
      throw error.within(fmt::format("tensor '{}'", name));
    }
  }
  if (!result.ranges.empty() && result.ranges.size() != calibration.tensors.size())
    fail_bad_input("only some of its tensors have ranges");
  return result;
}

}  // namespace

void write_calibration(const std::filesystem::path& file, const CachedCalibration& cached) {
  const Calibration& calibration = cached.calibration;
  CacheFile content{std::string(kFormat),
                    kVersion,
                    calibration.model,
                    calibration.preprocessing,
                    calibration.sources,
                    calibration.samples,
                    calibration.finished,
                    {calibration.image_metadata.begin(), calibration.image_metadata.end()},
                    {},
                    {}};
  for (const EqualizedValue& value : calibration.equalization)
    content.equalization.emplace_back(value.name, value.factors);
  for (size_t i = 0; i < calibration.tensors.size(); ++i) {
    content.tensors.emplace_back(calibration.tensors[i].name, to_file(calibration.tensors[i]));
    if (cached.ranges.empty()) continue;
    const ChosenRange& range = cached.ranges[i];
    content.tensors.back().second.range =
        CacheRange{std::string(calibrator_name(range.calibrator)), range.range.low, range.range.high};
  }
  const Json json = base::described_json(content);
  base::write_file_atomic(file, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

CachedCalibration read_calibration(const std::filesystem::path& file) {
  const std::string text = base::read_file(file);
  try {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("format")) fail_bad_input("it is no calibration cache of hone");
    return from_file(base::read_described<CacheFile>(json));
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

void check_belongs(const std::filesystem::path& file, const Calibration& cached,
                   const Calibration& expected) {
  if (cached.model != expected.model) {
    fail_bad_input(
        "{}: it was calibrated for another model (fingerprint {}, this one has {}): calibrate again",
        file.string(), cached.model, expected.model);
  }
  const auto is_same = [](const TensorStatistics& a, const TensorStatistics& b) {
    return a.name == b.name && a.channel_axis == b.channel_axis;
  };
  // The cache may contain further tensors after the quantized ones.
  const bool same =
      cached.tensors.size() >= expected.tensors.size() &&
      std::equal(expected.tensors.begin(), expected.tensors.end(), cached.tensors.begin(), is_same);
  if (!same)
    fail_bad_input("{}: its tensors are not those that this program quantizes: calibrate again",
                   file.string());
}

}  // namespace hone::quantize
