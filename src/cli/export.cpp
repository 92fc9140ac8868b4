// `hone export`: writes a model as an ONNX file that other tools read.
#include <fmt/core.h>

#include <memory>
#include <optional>

#include "base/file.hpp"
#include "cli/command.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "engine/source_model.hpp"
#include "import/onnx/export.hpp"

namespace hone::cli {
namespace {

struct Options {
  std::string model;
  importer::LoadModelOptions load;
  std::string output;
  std::optional<int64_t> batch_size;
  bool dynamic_batch = false;
  std::optional<int> opset;
};

void run(const Options& options) {
  refuse_overwriting(options.output, {options.model, options.load.weights});
  base::check_writable(options.output);
  const importer::Model model = engine::load_source_model(options.model, options.load);
  if (model.graph == nullptr) {
    fail_bad_input("{} is a TorchScript archive, which cannot be written as ONNX", model.name);
  }
  refuse_other_kind(options.output, ".onnx", "model");
  const bool bind = options.batch_size || options.dynamic_batch;
  const auto graph = bind ? importer::with_batch(*model.graph, options.batch_size) : *model.graph;
  const int opset = options.opset.value_or(importer::usual_opset(graph));
  const auto bytes = importer::export_onnx(options.output, graph, opset, model.metadata);
  fmt::print("{}: {} nodes, opset {}, {:.1f} MB\n", options.output, graph.nodes.size(), opset,
             static_cast<double>(bytes.model) / 1e6);
  if (bytes.external > 0) {
    fmt::print("{}: its weights, {:.1f} MB, which must stay in the same folder\n",
               importer::external_path(options.output).string(), static_cast<double>(bytes.external) / 1e6);
  }
}

}  // namespace

void add_export_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("export", "Write a model as an ONNX file");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("model", options->model, "An ONNX file, a darknet .cfg file, or a built-in architecture")
      ->required();
  command->add_option("-o,--output", options->output, "The ONNX file to write")->required();
  auto* fixed = command->add_option("--batch-size", options->batch_size, "Fix the batch of every input")
                    ->check(CLI::Range(int64_t{1}, int64_t{65536}));
  command->add_flag("--dynamic-batch", options->dynamic_batch, "Leave the batch open, under the name 'batch'")
      ->excludes(fixed);
  command
      ->add_option(
          "--opset", options->opset,
          "Version of the operators, 13 to 22 (default: 17, or the first that has all of the model's)")
      ->check(CLI::Range(importer::kMinExportOpset, importer::kMaxExportOpset));
  add_model_options(*command, options->load);
  command->callback([options] { run(*options); });
}

}  // namespace hone::cli
