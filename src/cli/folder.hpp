// Where commands put several files.
#pragma once

#include <filesystem>

namespace hone::cli {

/// Makes the folder and those above it, where they are missing. Environment error that names it when it
/// cannot be, because of permissions or of a file in its place.
void make_folder(const std::filesystem::path& folder);

}  // namespace hone::cli
