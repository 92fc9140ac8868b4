// TorchScript archives, as torch.jit.save writes them.
#pragma once

#include "import/load.hpp"

namespace hone::importer {

/// A model without a graph: libtorch reads the archive later, and trusts it further than we do, so sizes,
/// checksums and what the records unpack to are checked here. Bad input for anything else, an old pickle
/// above all.
Model load_torchscript(const std::string& file, const LoadModelOptions& options);

}  // namespace hone::importer
