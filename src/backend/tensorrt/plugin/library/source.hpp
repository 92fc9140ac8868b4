// Writes a model for TensorRT's parser: an ONNX file with operators and types that this major supports.
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

/// Writes a graph whose shapes are known as far as possible, and returns the graph that was written. Bad
/// input, naming the node, if it cannot be written for this major version.
graph::Graph write_for_parser(const std::filesystem::path& file, const graph::Graph& graph);

class Source {
 public:
  /// Bad input, naming the node, if it cannot be written for
  /// this major; for int8 also errors of the calibration.
  Source(const importer::Model& model, const LoadOptions& options, const Settings& settings,
         std::vector<std::map<std::string, tensor::Shape>> profiles);

  const std::filesystem::path& file() const { return file_; }
  /// The graph that was written.
  const graph::Graph& graph() const { return graph_; }
  /// Shapes of the inputs by name, one set for each optimization profile. If there is only one profile, the
  /// file has its shapes.
  const std::vector<std::map<std::string, tensor::Shape>>& profiles() const { return profiles_; }
  /// The hash of the file and the profiles.
  std::string hash() const;
  /// For each written node, by name, the model's nodes from which it was made.
  std::map<std::string, std::vector<std::string>> sources() const;
  /// Data for TensorRT's own calibrator.
  const quantize::DataOptions& calibration_data() const { return calibration_data_; }
  /// Notes for readers of its figures, such as how it was quantized.
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
