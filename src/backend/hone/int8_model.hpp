// The int8 part of a build: a model in floating point becomes one with Q/DQ before its engine is built.
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

/// The source of the ranges of a model with int8: one of the three. A model that is quantized already needs
/// none of them.
struct Int8Request {
  /// Real inputs; none where there are no sources. Images become the input as the model's metadata say.
  quantize::DataOptions data;
  /// A calibration cache of hone or of TensorRT; empty for none.
  std::filesystem::path cache;
  /// Seeded inputs, for measuring speed where no data are at hand. They say nothing of accuracy.
  bool generated = false;
};

/// The key under which an engine's metadata say what of it is in int8, and where the ranges come from.
inline constexpr const char* kQuantizationNote = "quantization";
/// Marks an engine in floating point of a model that has Q/DQ of its own.
inline constexpr const char* kOwnQuantizationNote = "own_quantization";
/// The share of the multiply-adds that either multiplies as integers, as a number from 0 to 1.
inline constexpr const char* kInt8Share = "int8_share";
/// The source of the ranges of a model with Q/DQ.
inline constexpr const char* kQuantizedByModel = "quantized by the model";

/// A model with Q/DQ.
struct Int8Model {
  importer::Model model;
  Int8Source source;
};

/// The calibration data of a request: its files, read as the model's metadata say, or else generated samples
/// of the graph's inputs.
quantize::DataOptions calibration_data(const Int8Request& request, const importer::Metadata& metadata,
                                       const graph::Graph& graph,
                                       const std::map<std::string, engine::ShapeProfile>& shapes);

/// The model with Q/DQ for this device, or for another system's kernels. Usage error where the model is in
/// floating point and nothing of the request is given, and where it is quantized and data or a cache are. Bad
/// input as the calibration has it. `shapes` gives the sizes, by input name, of generated inputs that the
/// model leaves open.
Int8Model with_int8(const importer::Model& model, const Int8Request& request,
                    const std::map<std::string, engine::ShapeProfile>& shapes, const engine::Device& device,
                    int threads, const std::function<void(const base::Progress&)>& progress,
                    std::optional<quantize::Target> target = std::nullopt);

}  // namespace hone::backend
