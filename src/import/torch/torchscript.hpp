// TorchScript archives, as torch.jit.save writes them.
#pragma once

#include "import/load.hpp"

namespace hone::importer {

/// Returns a model without a graph, because libtorch reads the archive later. libtorch checks less, so sizes,
/// checksums and the unpacked sizes of records are checked here. Throws bad input for other files, in
/// particular old pickles.
Model load_torchscript(const std::string& file, const LoadModelOptions& options);

}  // namespace hone::importer
