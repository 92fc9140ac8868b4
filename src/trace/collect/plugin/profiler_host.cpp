// See profiler_host.hpp. The order of calls is that of cupti_profiler_host.h of CUDA 13.0.
#include "trace/collect/plugin/profiler_host.hpp"

#include <utility>

namespace hone::trace::inject {

ProfilerHost::ProfilerHost(CUpti_ProfilerType type, std::string chip, std::vector<uint8_t> availability)
    : type_(type), chip_(std::move(chip)), availability_(std::move(availability)) {
  open();
}

ProfilerHost::~ProfilerHost() { close(); }

void ProfilerHost::open() {
  auto params = HONE_PARAMS(CUpti_Profiler_Host_Initialize);
  params.profilerType = type_;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  check(counter_functions().cuptiProfilerHostInitialize(&params), "preparing counters");
  host_ = params.pHostObject;
}

void ProfilerHost::close() {
  if (host_ == nullptr) return;
  auto params = HONE_PARAMS(CUpti_Profiler_Host_Deinitialize);
  params.pHostObject = std::exchange(host_, nullptr);
  counter_functions().cuptiProfilerHostDeinitialize(&params);
}

size_t ProfilerHost::configure(std::vector<std::string> names) {
  const CounterFunctions& f = counter_functions();
  close();  // metrics can be added to an object, but not taken away
  open();
  texts_ = std::move(names);
  names_.clear();
  for (const std::string& name : texts_) names_.push_back(name.c_str());
  auto add = HONE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  check(f.cuptiProfilerHostConfigAddMetrics(&add), "choosing counters");
  auto size = HONE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize);
  size.pHostObject = host_;
  check(f.cuptiProfilerHostGetConfigImageSize(&size), "configuring counters");
  config_.assign(size.configImageSize, 0);
  auto get = HONE_PARAMS(CUpti_Profiler_Host_GetConfigImage);
  get.pHostObject = host_;
  get.configImageSize = config_.size();
  get.pConfigImage = config_.data();
  check(f.cuptiProfilerHostGetConfigImage(&get), "configuring counters");
  auto count = HONE_PARAMS(CUpti_Profiler_Host_GetNumOfPasses);
  count.configImageSize = config_.size();
  count.pConfigImage = config_.data();
  check(f.cuptiProfilerHostGetNumOfPasses(&count), "counting passes of counters");
  return count.numOfPasses;
}

std::vector<double> ProfilerHost::evaluate(const std::vector<uint8_t>& data, size_t index) const {
  std::vector<const char*> names = names_;
  std::vector<double> values(names.size());
  auto params = HONE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues);
  params.pHostObject = host_;
  params.pCounterDataImage = data.data();
  params.counterDataImageSize = data.size();
  params.rangeIndex = index;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  check(counter_functions().cuptiProfilerHostEvaluateToGpuValues(&params), "reading counters");
  return values;
}

std::string chip_name(uint32_t device) {
  auto params = HONE_PARAMS(CUpti_Device_GetChipName);
  params.deviceIndex = device;
  check(counter_functions().cuptiDeviceGetChipName(&params), "asking for the chip");
  return params.pChipName == nullptr ? "" : params.pChipName;
}

}  // namespace hone::trace::inject
