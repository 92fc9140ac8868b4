// See pm_sampler.hpp. The order of calls is that of cupti_pmsampling.h of CUDA 13.0.
#include "trace/collect/plugin/pm_sampler.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "trace/collect/plugin/capture.hpp"
#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;
constexpr size_t kHardwareBufferBytes = size_t{64} << 20;
constexpr uint32_t kSamplesAtOnce = 1024;

/// All of these fit into one pass on GH100; the names are those of GH100.
constexpr std::array<CounterMetric, 8> kMetrics = {{
    {"GR active", "%", "gr__cycles_active.avg.pct_of_peak_sustained_elapsed", false},
    {"SMs active", "%", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", false},
    {"SM warp occupancy", "%", "sm__warps_active.avg.pct_of_peak_sustained_elapsed", false},
    {"Tensor active", "%", "sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed", false},
    {"DRAM read", "GB/s", "dram__bytes_read.sum", true},
    {"DRAM write", "GB/s", "dram__bytes_write.sum", true},
    {"PCIe read", "GB/s", "pcie__read_bytes.sum", true},
    {"PCIe write", "GB/s", "pcie__write_bytes.sum", true},
}};

}  // namespace

PmSampler::~PmSampler() {
  if (sampling_ == nullptr) return;
  // The destructor can report no error, and there is nothing else to try.
  stop_sampling();
  auto params = HONE_PARAMS(CUpti_PmSampling_Disable);
  params.pPmSamplingObject = sampling_;
  counter_functions().cuptiPmSamplingDisable(&params);
}

size_t PmSampler::configure(const std::vector<CounterMetric>& metrics) {
  std::vector<std::string> names;
  for (const CounterMetric& metric : metrics) names.emplace_back(metric.metric);
  return host_->configure(std::move(names));
}

void PmSampler::choose_metrics() {
  const CounterFunctions& f = counter_functions();
  auto available = HONE_PARAMS(CUpti_PmSampling_GetCounterAvailability);
  available.deviceIndex = device_;
  std::string chip = chip_name(device_);
  std::vector<uint8_t> availability;
  for (int i = 0; i < 2; ++i) {  // first the size, then the image
    check(f.cuptiPmSamplingGetCounterAvailability(&available), "looking for counters");
    availability.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
  }
  host_ = std::make_unique<ProfilerHost>(CUPTI_PROFILER_TYPE_PM_SAMPLING, std::move(chip),
                                         std::move(availability));
  for (const CounterMetric& metric : kMetrics) {
    std::vector<CounterMetric> more = metrics_;
    more.push_back(metric);
    std::string problem = "it does not fit into one pass with the others";
    try {
      if (configure(more) == 1) {
        metrics_ = std::move(more);
        continue;
      }
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
    report_loss(kLoss, "counters", std::string(metric.name) + " is not recorded: " + problem, 0);
  }
  if (metrics_.empty()) throw std::runtime_error("the GPU has none of the counters");
  configure(metrics_);
}

void PmSampler::set_config(uint64_t interval_ns) {
  const CounterFunctions& f = counter_functions();
  auto enable = HONE_PARAMS(CUpti_PmSampling_Enable);
  enable.deviceIndex = device_;
  check(f.cuptiPmSamplingEnable(&enable), "sampling counters");
  sampling_ = enable.pPmSamplingObject;
  auto config = HONE_PARAMS(CUpti_PmSampling_SetConfig);
  config.pPmSamplingObject = sampling_;
  config.configSize = host_->config().size();
  config.pConfig = host_->config().data();
  config.hardwareBufferSize = kHardwareBufferBytes;
  config.samplingInterval = interval_ns;
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  check(f.cuptiPmSamplingSetConfig(&config), "sampling counters");
  auto size = HONE_PARAMS(CUpti_PmSampling_GetCounterDataSize);
  size.pPmSamplingObject = sampling_;
  std::vector<const char*> names = host_->names();
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxSamples = kSamplesAtOnce;
  check(f.cuptiPmSamplingGetCounterDataSize(&size), "sampling counters");
  data_.assign(size.counterDataSize, 0);
  reset_data();
}

void PmSampler::reset_data() {
  auto params = HONE_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize);
  params.pPmSamplingObject = sampling_;
  params.counterDataSize = data_.size();
  params.pCounterData = data_.data();
  check(counter_functions().cuptiPmSamplingCounterDataImageInitialize(&params), "sampling counters");
}

void PmSampler::start(uint64_t interval_ns) {
  auto initialize = HONE_PARAMS(CUpti_Profiler_Initialize);
  check(counter_functions().cuptiProfilerInitialize(&initialize), "starting counters");
  choose_metrics();
  set_config(interval_ns);
  for (const CounterMetric& metric : metrics_) {
    texts_.push_back(text_id(metric.name));
    units_.push_back(text_id(metric.unit));
  }
  auto params = HONE_PARAMS(CUpti_PmSampling_Start);
  params.pPmSamplingObject = sampling_;
  check(counter_functions().cuptiPmSamplingStart(&params), "sampling counters");
  started_ = true;
}

void PmSampler::write_samples() {
  const CounterFunctions& f = counter_functions();
  auto info = HONE_PARAMS(CUpti_PmSampling_GetCounterDataInfo);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  check(f.cuptiPmSamplingGetCounterDataInfo(&info), "reading counters");
  Batch batch;
  for (size_t i = 0; i < info.numCompletedSamples; ++i) {
    auto sample = HONE_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo);
    sample.pPmSamplingObject = sampling_;
    sample.pCounterDataImage = data_.data();
    sample.counterDataImageSize = data_.size();
    sample.sampleIndex = i;
    check(f.cuptiPmSamplingCounterDataGetSampleInfo(&sample), "reading counters");
    const std::vector<double> values = host_->evaluate(data_, i);
    // The first sample begins when sampling was enabled, so it is skipped.
    if (std::exchange(is_first_, false) || sample.endTimestamp <= sample.startTimestamp) continue;
    if (!is_captured(sample.startTimestamp, sample.endTimestamp)) continue;
    const auto nanoseconds = static_cast<double>(sample.endTimestamp - sample.startTimestamp);
    for (size_t m = 0; m < metrics_.size(); ++m) {
      if (!std::isfinite(values[m])) continue;
      raw::Counter record;
      record.name = texts_[m];
      record.unit = units_[m];
      record.device = device_;
      record.time = sample.endTimestamp;
      record.value = metrics_[m].bytes ? values[m] / nanoseconds : values[m];
      batch.add(record);
    }
  }
  append(batch);
}

bool PmSampler::decode() {
  auto params = HONE_PARAMS(CUpti_PmSampling_DecodeData);
  params.pPmSamplingObject = sampling_;
  params.pCounterDataImage = data_.data();
  params.counterDataImageSize = data_.size();
  check(counter_functions().cuptiPmSamplingDecodeData(&params), "reading counters");
  if (params.overflow != 0 && !std::exchange(overflowed_, true))
    report_loss(kLoss, "counters", "samples were overwritten before they were read: a lower rate keeps them",
                0);
  write_samples();
  reset_data();
  return params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
}

void PmSampler::drain() {
  // Limits the loop on a GPU that samples faster than this thread reads.
  constexpr int kMostDecodes = 256;
  bool drained = false;
  for (int i = 0; i < kMostDecodes && !drained; ++i) drained = decode();
}

CUptiResult PmSampler::stop_sampling() {
  if (!std::exchange(started_, false)) return CUPTI_SUCCESS;
  auto params = HONE_PARAMS(CUpti_PmSampling_Stop);
  params.pPmSamplingObject = sampling_;
  return counter_functions().cuptiPmSamplingStop(&params);
}

void PmSampler::stop() {
  check(stop_sampling(), "ending counters");
  drain();
}

}  // namespace hone::trace::inject
