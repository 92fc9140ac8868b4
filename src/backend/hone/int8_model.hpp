// The int8 part of a build: a floating-point model gets Q/DQ before its engine is built.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/hone/int8_engine.hpp"
#include "base/progress.hpp"
#include "engine/engine.hpp"
#include "import/model.hpp"
#include "quantize/data.hpp"
#include "quantize/qdq.hpp"

namespace hone::backend {

/// One of three sources for the ranges of an int8 model. A
/// model that is already quantized needs none.
struct Int8Request {
  /// Real inputs, if there are sources. Images are converted to the input as the model's metadata specify.
  quantize::DataOptions data;
  /// A calibration cache of hone or of TensorRT; empty for none.
  std::filesystem::path cache;
  /// Generated inputs with a fixed seed, to measure speed without data. They say nothing about accuracy.
  bool generated = false;
};

/// The key in an engine's metadata for the part that is in int8 and the origin of the ranges.
inline constexpr const char* kQuantizationNote = "quantization";
/// The corresponding key for a floating-point engine of a model that has its own Q/DQ.
inline constexpr const char* kOwnQuantizationNote = "own_quantization";
/// The share of the multiply-adds that either engine executes on integers, from 0 to 1.
inline constexpr const char* kInt8Share = "int8_share";
/// The origin of the ranges of a model that already has Q/DQ.
inline constexpr const char* kQuantizedByModel = "quantized by the model";

/// A model with Q/DQ.
struct Int8Model {
  importer::Model model;
  Int8Source source;
};

/// The calibration data of a request: its files, read as the model's metadata specify; otherwise generated
/// samples of the graph's inputs.
quantize::DataOptions calibration_data(const Int8Request& request, const importer::Metadata& metadata,
                                       const graph::Graph& graph,
                                       const std::map<std::string, engine::ShapeProfile>& shapes);

/// The model with Q/DQ for this device, or for another system's kernels. Usage
/// error if the model is in floating point and the request has no source, or if it
/// is quantized and the request has data or a cache. Other errors are those of the
/// calibration. `shapes` gives the open sizes of generated inputs, by input name.
Int8Model with_int8(const importer::Model& model, const Int8Request& request,
                    const std::map<std::string, engine::ShapeProfile>& shapes, const engine::Device& device,
                    int threads, const std::function<void(const base::Progress&)>& progress,
                    std::optional<quantize::Target> target = std::nullopt);

}  // namespace hone::backend
