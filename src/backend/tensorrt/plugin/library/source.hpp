// A model as TensorRT's parser takes it: an ONNX file of operators and types that this major knows.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/tensorrt/plugin/library/settings.hpp"
#include "import/model.hpp"
#include "quantize/data.hpp"
#include "system/scratch.hpp"

namespace hone::backend::tensorrt {

/// Writes a graph whose shapes are known as far as they will be. Bad input naming the node that cannot be
/// written for this major; the result is what was written.
graph::Graph write_for_parser(const std::filesystem::path& file, const graph::Graph& graph);

class Source {
 public:
  /// Bad input naming the node that cannot be written for this major; for int8 as the calibration has it.
  Source(const importer::Model& model, const LoadOptions& options, const Settings& settings,
         std::vector<std::map<std::string, tensor::Shape>> profiles);

  const std::filesystem::path& file() const { return file_; }
  /// The graph that was written.
  const graph::Graph& graph() const { return graph_; }
  /// Shapes of the inputs by their names, one set for each optimization profile; the file has those of the
  /// only one.
  const std::vector<std::map<std::string, tensor::Shape>>& profiles() const { return profiles_; }
  /// The hash of the file and the profiles.
  std::string hash() const;
  /// The model's nodes for which each written node stands, by their names.
  std::map<std::string, std::vector<std::string>> sources() const;
  /// Data for TensorRT's own calibrator.
  const quantize::DataOptions& calibration_data() const { return calibration_data_; }
  /// Notes for readers of its figures: how it was quantized.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void prepare_calibration(const importer::Model& model, const Settings& settings);

  system::Scratch scratch_;
  std::filesystem::path file_;
  graph::Graph graph_;
  std::vector<std::map<std::string, tensor::Shape>> profiles_;
  quantize::DataOptions calibration_data_;
  std::vector<std::string> notes_;
};

}  // namespace hone::backend::tensorrt
