// The executables of both backends: what turns hone's tensors into PyTorch's and back around a runner.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/torch/plugin/runner.hpp"
#include "import/model.hpp"

namespace hone::backend::aten {

/// For models with a graph.
std::unique_ptr<Executable> make_graph_executable(const importer::Model& model, const LoadOptions& options,
                                                  MakeRunner make_runner);
/// For a user's own TorchScript archive.
std::unique_ptr<Executable> make_archive_executable(const importer::Model& model, const LoadOptions& options);

/// Sets PyTorch's number of threads, if it differs.
void use_threads(int threads);
/// What a reader of bf16 numbers from this CPU must know.
std::vector<std::string> precision_notes(Precision precision);

}  // namespace hone::backend::aten
