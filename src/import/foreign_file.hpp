// Files of other tools that people give hone: what they are, and the line that makes a model of them that
// hone reads. Nothing of them is unpacked or executed.
#pragma once

#include <filesystem>
#include <string>

namespace hone::importer {

/// A clause for people, as in "…: {}": "these are pickled parameters of PyTorch …: python3 -c '…'". Empty for
/// a file or folder of no known kind, and for one that cannot be opened.
std::string foreign_file(const std::filesystem::path& file);

/// Returns the advice for a file where parameters of a built-in architecture are wanted (--weights).
std::string foreign_weights(const std::filesystem::path& file);

}  // namespace hone::importer
