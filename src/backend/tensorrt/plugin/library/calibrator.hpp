// TensorRT's own int8 calibrators (8.6 and 10), fed with the data that hone calibrates with.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <string>

#include "backend/tensorrt/plugin/library/settings.hpp"
#include "graph/graph.hpp"
#include "quantize/data.hpp"

#if NV_TENSORRT_MAJOR < 11
namespace hone::backend::tensorrt {

/// Answers the library's questions while it builds. Nothing is thrown into it: an error is kept for
/// rethrow().
class Calibration {
 public:
  virtual ~Calibration() = default;
  virtual nvinfer1::IInt8Calibrator* calibrator() = 0;
  /// The cache that the library wrote; empty where it was given one.
  virtual const std::string& written_cache() const = 0;
  virtual int64_t samples() const = 0;
  /// Throws what went wrong with the data.
  virtual void rethrow() const = 0;
};

/// Runs this graph, whose inputs have the shapes of one run, on data in such runs; with a cache in the
/// settings, it answers from that. The graph outlives it. Bad input for data that do not fit.
std::unique_ptr<Calibration> make_calibration(const graph::Graph& graph, const quantize::DataOptions& data,
                                              const Settings& settings);

}  // namespace hone::backend::tensorrt
#endif
