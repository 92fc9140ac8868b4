// Names of classes: from a model's metadata or from a file with one in each line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "import/model.hpp"

namespace hone::task {

/// The entries "labels" (one a line) or "names" (a Python dictionary or list, as Ultralytics writes it);
/// empty where there are none. Bad input for an entry "names" that is neither.
std::vector<std::string> names_from(const importer::Metadata& metadata);

/// Ends of lines of any kind; empty lines at the end do not count. Bad input for an empty file and one
/// that holds zeros, as no text in UTF-8 does.
std::vector<std::string> read_names(const std::filesystem::path& file);

/// "dog", or "class 17" where nobody has given it a name.
std::string name_of(const std::vector<std::string>& names, int64_t label);

/// The ids that COCO gives its 80 classes, which leave gaps in 1..90; from 1 without gaps for other classes.
int64_t coco_category(const std::vector<std::string>& names, int64_t label);

/// "it has 1 name, the network 2 classes"
std::string other_count_text(size_t names, int64_t classes);

}  // namespace hone::task
