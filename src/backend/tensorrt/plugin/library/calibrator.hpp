// TensorRT's own int8 calibrators (8.6 and 10), which get hone's calibration data.
#pragma once

#include <NvInfer.h>

#include <memory>
#include <string>

#include "backend/tensorrt/plugin/library/settings.hpp"
#include "graph/graph.hpp"
#include "quantize/data.hpp"

#if NV_TENSORRT_MAJOR < 11
namespace hone::backend::tensorrt {

/// Called by the library while it builds. No exception passes
/// through the library: an error is kept for rethrow().
class Calibration {
 public:
  virtual ~Calibration() = default;
  virtual nvinfer1::IInt8Calibrator* calibrator() = 0;
  /// The cache that the library wrote; empty if it was given one.
  virtual const std::string& written_cache() const = 0;
  virtual int64_t samples() const = 0;
  /// Throws the error that occurred with the data, if any.
  virtual void rethrow() const = 0;
};

/// Calibrates with data for this graph, whose inputs have the shapes of one run; or from the cache in the
/// settings, if there is one. The graph must outlive it. Bad input for data that do not fit.
std::unique_ptr<Calibration> make_calibration(const graph::Graph& graph, const quantize::DataOptions& data,
                                              const Settings& settings);

}  // namespace hone::backend::tensorrt
#endif
