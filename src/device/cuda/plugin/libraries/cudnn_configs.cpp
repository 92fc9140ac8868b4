// Engine configurations of cuDNN: those that its heuristics recommend, and others that its engines support.
#include <algorithm>
#include <array>
#include <map>

#include "device/cuda/plugin/libraries/cudnn.hpp"
#include "device/cuda/plugin/libraries/cudnn_errors.hpp"
#include "device/cuda/plugin/libraries/cudnn_knobs.hpp"

namespace hone::device::cuda {
namespace {

using tensor::Precision;

constexpr int64_t kMostRecommended = 32;
/// Limits of a sweep: the engines whose knobs are varied, the values of a knob, and all configurations.
constexpr size_t kMostSweptEngines = 4;
constexpr int64_t kMostKnobValues = 12;
constexpr size_t kMostSwept = 192;

/// The descriptors of an attribute; empty if cuDNN does not return them.
std::vector<CudnnDescriptor> read_descriptors(const CudnnDescriptor& from, cudnnBackendAttributeName_t name,
                                              cudnnBackendDescriptorType_t type, int64_t most) {
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (int64_t i = 0; i < most; ++i) pointers.push_back(found.emplace_back(type).get());
  int64_t count = 0;
  const cudnnStatus_t status = cudnnBackendGetAttribute(from.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                                                        &count, static_cast<void*>(pointers.data()));
  if (!is_accepted(status, "reading an attribute")) count = 0;
  found.erase(found.begin() + std::clamp<int64_t>(count, 0, most), found.end());
  return found;
}

template <class T = int64_t>
T read_value(const CudnnDescriptor& from, cudnnBackendAttributeName_t name,
             cudnnBackendAttributeType_t type = CUDNN_TYPE_INT64) {
  T value{};
  int64_t count = 0;
  check(cudnnBackendGetAttribute(from.get(), name, type, 1, &count, &value), "reading an attribute");
  return value;
}

bool has_note(const CudnnDescriptor& engine, cudnnBackendNumericalNote_t wanted) {
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  int64_t count = 0;
  if (cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                               CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
                               notes.data()) != CUDNN_STATUS_SUCCESS) {
    return false;
  }
  return std::find(notes.begin(), notes.begin() + count, wanted) != notes.begin() + count;
}

/// True if an engine keeps the requested precision.
bool is_precise(const CudnnDescriptor& engine, Precision precision) {
  if (precision == Precision::kFp32 && has_note(engine, CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) return false;
  if (precision == Precision::kFp32 && has_note(engine, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS))
    return false;
  if (has_note(engine, CUDNN_NUMERICAL_NOTE_FFT) || has_note(engine, CUDNN_NUMERICAL_NOTE_WINOGRAD))
    return false;
  return !has_note(engine, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
}

int64_t engine_index(const CudnnDescriptor& engine) {
  return read_value(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
}

/// True if an engine uses much more device memory than the workspace that it requests. In fp32, engine 8 took
/// 1.4 to 6.6 GB at the first run of each 3x3 convolution of ResNet-18 (cuDNN 9.19), and kept it.
bool takes_hidden_memory(int64_t engine, Precision precision) {
  return precision == Precision::kFp32 && engine == 8;
}

bool is_wanted(const CudnnDescriptor& engine, Precision precision) {
  return is_precise(engine, precision) && !takes_hidden_memory(engine_index(engine), precision);
}

CudnnConfig read_config(const CudnnDescriptor& config, const CudnnDescriptor& engine) {
  CudnnConfig result{engine_index(engine), {}};
  for (const CudnnDescriptor& choice :
       read_descriptors(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                        CUDNN_KNOB_TYPE_COUNTS)) {
    const auto knob =
        read_value<cudnnBackendKnobType_t>(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    result.knobs.emplace_back(knob, read_value(choice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
  }
  return result;
}

std::vector<CudnnKnobRange> knob_ranges(const CudnnDescriptor& engine) {
  std::vector<CudnnKnobRange> result;
  for (const CudnnDescriptor& info : read_descriptors(
           engine, CUDNN_ATTR_ENGINE_KNOB_INFO, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS)) {
    const auto knob =
        read_value<cudnnBackendKnobType_t>(info, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE);
    result.push_back({knob, read_value(info, CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE),
                      read_value(info, CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE),
                      read_value(info, CUDNN_ATTR_KNOB_INFO_STRIDE)});
  }
  return result;
}

/// The engines that accept the graph in the requested precision, with their knobs.
std::map<int64_t, std::vector<CudnnKnobRange>> find_engines(const CudnnDescriptor& graph,
                                                            Precision precision) {
  std::map<int64_t, std::vector<CudnnKnobRange>> engines;
  const int64_t count = read_value(graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (int64_t index = 0; index < count; ++index) {
    CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
    if (!is_accepted(cudnnBackendFinalize(engine.get()), "asking for an engine")) continue;
    if (is_wanted(engine, precision)) engines[index] = knob_ranges(engine);
  }
  return engines;
}

std::vector<CudnnConfig> recommend(const CudnnDescriptor& graph, Precision precision) {
  std::vector<CudnnConfig> result;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK}) {
    if (mode == CUDNN_HEUR_MODE_FALLBACK && !result.empty()) break;
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (!is_accepted(cudnnBackendFinalize(heuristics.get()), "asking for advice")) continue;
    for (const CudnnDescriptor& config :
         read_descriptors(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                          kMostRecommended)) {
      const auto engine =
          read_descriptors(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
      if (engine.empty() || !is_wanted(engine.front(), precision)) continue;
      CudnnConfig found = read_config(config, engine.front());
      if (std::find(result.begin(), result.end(), found) == result.end()) result.push_back(std::move(found));
    }
  }
  return result;
}

std::vector<std::string> texts(const std::vector<CudnnConfig>& configs) {
  std::vector<std::string> result;
  for (const CudnnConfig& config : configs) result.push_back(config_text(config));
  return result;
}

}  // namespace

std::vector<std::string> CudnnGraph::recommended() const { return texts(recommend(graph_, precision_)); }

std::vector<std::string> CudnnGraph::swept() const {
  std::vector<CudnnConfig> result = recommend(graph_, precision_);
  const auto engines = find_engines(graph_, precision_);
  const auto add = [&result](const CudnnConfig& config) {
    if (std::find(result.begin(), result.end(), config) == result.end()) result.push_back(config);
  };
  // The best configuration of an engine is the one recommended first.
  std::vector<CudnnConfig> best;
  for (const CudnnConfig& config : result) {
    const bool known = std::any_of(best.begin(), best.end(),
                                   [&](const CudnnConfig& other) { return other.engine == config.engine; });
    if (!known && best.size() < kMostSweptEngines) best.push_back(config);
  }
  for (const auto& [index, ranges] : engines) add({index, {}});
  for (const CudnnConfig& config : best) {
    const auto found = engines.find(config.engine);
    if (found == engines.end()) continue;
    for (const CudnnConfig& changed : sweep_knobs(config, found->second, kMostKnobValues)) add(changed);
  }
  if (result.size() > kMostSwept) result.resize(kMostSwept);
  return texts(result);
}

}  // namespace hone::device::cuda
