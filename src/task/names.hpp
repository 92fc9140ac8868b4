// Names of classes, from a model's metadata or from a file with one name per line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "import/model.hpp"

namespace hone::task {

/// Reads the entry "labels" (one name per line) or "names" (a Python dictionary or list, as Ultralytics
/// writes it); empty if both are missing. Bad input for a "names" that is neither.
std::vector<std::string> names_from(const importer::Metadata& metadata);

/// Accepts all line endings and ignores empty lines at the end. Bad input for an empty file, and for a file
/// that contains zero bytes and so is not text in UTF-8.
std::vector<std::string> read_names(const std::filesystem::path& file);

/// Returns "dog", or "class 17" if the class has no name.
std::string name_of(const std::vector<std::string>& names, int64_t label);

/// Returns COCO's id of a class. COCO's 80 classes have ids from 1 to 90 with gaps; other classes have ids
/// from 1 without gaps.
int64_t coco_category(const std::vector<std::string>& names, int64_t label);

/// "it has 1 name, the network 2 classes"
std::string other_count_text(size_t names, int64_t classes);

}  // namespace hone::task
