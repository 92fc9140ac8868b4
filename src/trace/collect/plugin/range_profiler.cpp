// See range_profiler.hpp. The order of calls is that of cupti_range_profiler.h of CUDA 13.0.
#include "trace/collect/plugin/range_profiler.hpp"

#include <stdexcept>
#include <utility>

#include "trace/collect/plugin/raw_writer.hpp"

namespace hone::trace::inject {
namespace {

constexpr uint32_t kLoss = 2;
/// Ranges between begin() and end(); a launch is one range.
constexpr size_t kMostRanges = 8;

std::vector<uint8_t> availability_of(CUcontext context) {
  std::vector<uint8_t> image;
  auto params = HONE_PARAMS(CUpti_Profiler_GetCounterAvailability);
  params.ctx = context;
  for (int i = 0; i < 2; ++i) {  // first the size, then the image
    check(counter_functions().cuptiProfilerGetCounterAvailability(&params), "looking for counters");
    image.resize(params.counterAvailabilityImageSize);
    params.pCounterAvailabilityImage = image.data();
  }
  return image;
}

}  // namespace

RangeProfiler::RangeProfiler(CUcontext context, uint32_t device, const std::vector<std::string>& metrics)
    : device_(device) {
  auto initialize = HONE_PARAMS(CUpti_Profiler_Initialize);
  check(counter_functions().cuptiProfilerInitialize(&initialize), "starting counters");
  host_ = std::make_unique<ProfilerHost>(CUPTI_PROFILER_TYPE_RANGE_PROFILER, chip_name(device),
                                         availability_of(context));
  choose(metrics);
  enable(context);
  set_config();
}

RangeProfiler::~RangeProfiler() {
  if (profiler_ == nullptr) return;
  auto params = HONE_PARAMS(CUpti_RangeProfiler_Disable);
  params.pRangeProfilerObject = profiler_;
  counter_functions().cuptiRangeProfilerDisable(&params);
}

void RangeProfiler::choose(const std::vector<std::string>& metrics) {
  for (const std::string& metric : metrics) {
    try {
      host_->configure({metric});
      metrics_.push_back(metric);
    } catch (const std::runtime_error& error) {
      report_loss(kLoss, "metrics", metric + " is not measured: " + error.what(), 0);
    }
  }
  if (metrics_.empty()) throw std::runtime_error("the GPU has none of the metrics");
  host_->configure(metrics_);
}

void RangeProfiler::enable(CUcontext context) {
  auto params = HONE_PARAMS(CUpti_RangeProfiler_Enable);
  params.ctx = context;
  check(counter_functions().cuptiRangeProfilerEnable(&params), "measuring kernels");
  profiler_ = params.pRangeProfilerObject;
}

void RangeProfiler::set_config() {
  const CounterFunctions& f = counter_functions();
  std::vector<const char*> names = host_->names();
  auto size = HONE_PARAMS(CUpti_RangeProfiler_GetCounterDataSize);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = kMostRanges;
  size.maxNumRangeTreeNodes = kMostRanges;
  check(f.cuptiRangeProfilerGetCounterDataSize(&size), "preparing to measure kernels");
  data_.assign(size.counterDataSize, 0);
  reset_data();
  auto config = HONE_PARAMS(CUpti_RangeProfiler_SetConfig);
  config.pRangeProfilerObject = profiler_;
  config.configSize = host_->config().size();
  config.pConfig = host_->config().data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_KernelReplay;
  config.maxRangesPerPass = kMostRanges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 1;
  check(f.cuptiRangeProfilerSetConfig(&config), "preparing to measure kernels");
}

void RangeProfiler::reset_data() {
  auto params = HONE_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = data_.size();
  params.pCounterData = data_.data();
  check(counter_functions().cuptiRangeProfilerCounterDataImageInitialize(&params), "measuring kernels");
}

void RangeProfiler::begin() {
  auto params = HONE_PARAMS(CUpti_RangeProfiler_Start);
  params.pRangeProfilerObject = profiler_;
  check(counter_functions().cuptiRangeProfilerStart(&params), "measuring a kernel");
}

std::vector<std::vector<double>> RangeProfiler::end() {
  const CounterFunctions& f = counter_functions();
  auto stop = HONE_PARAMS(CUpti_RangeProfiler_Stop);
  stop.pRangeProfilerObject = profiler_;
  check(f.cuptiRangeProfilerStop(&stop), "measuring a kernel");
  if (stop.isAllPassSubmitted == 0) throw std::runtime_error("a kernel was not run for all passes");
  auto decode = HONE_PARAMS(CUpti_RangeProfiler_DecodeData);
  decode.pRangeProfilerObject = profiler_;
  check(f.cuptiRangeProfilerDecodeData(&decode), "reading metrics");
  auto info = HONE_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  check(f.cuptiRangeProfilerGetCounterDataInfo(&info), "reading metrics");
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < info.numTotalRanges; ++i) values.push_back(host_->evaluate(data_, i));
  reset_data();
  return values;
}

}  // namespace hone::trace::inject
