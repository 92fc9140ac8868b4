// Recognizes files of other tools that users pass to hone, and gives a command that converts them to a model
// that hone can read. Nothing in the files is unpacked or executed.
#pragma once

#include <filesystem>
#include <string>

namespace hone::importer {

/// A clause for a message such as "…: {}": "these are pickled parameters of PyTorch …: python3 -c '…'". Empty
/// for a file or folder of unknown kind, and for one that cannot be opened.
std::string foreign_file(const std::filesystem::path& file);

/// Returns the advice for a file that is given as parameters of a built-in architecture (--weights).
std::string foreign_weights(const std::filesystem::path& file);

}  // namespace hone::importer
