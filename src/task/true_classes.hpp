// The true classes of images, from the names of their folders or from a file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "quantize/labels.hpp"

namespace hone::task {

/// The images of a classification with their true classes.
class TrueClasses {
 public:
  /// `source` is "folders" if the images are in sub-folders of `input`, one for each class; else it is a
  /// file, in a format of quantize::read_labels(), for the images in the folder `input`. Bad input if there
  /// are none.
  TrueClasses(const std::string& source, const std::string& input);

  /// Files in the order in which they are read.
  const std::vector<std::string>& files() const { return files_; }
  /// Assigns classes to sub-folders: by their names in `names`, else by their names as numbers, else (if
  /// there is one sub-folder for each class) by their alphabetical order. Bad input for sub-folders and
  /// labels that are not classes of the network.
  void settle(const std::vector<std::string>& names, int64_t classes);
  /// Describes for people how sub-folders became classes; empty for a file.
  const std::string& note() const { return note_; }
  /// The class of one of files(); call settle() first.
  int64_t class_of(const std::string& file) const { return classes_.at(file); }

 private:
  /// The class of each sub-folder.
  std::map<std::string, int64_t> folder_classes(const std::vector<std::string>& names, int64_t classes);

  std::string input_;
  std::vector<std::string> files_;
  /// The sub-folder of each image, if the source is "folders".
  std::vector<std::string> folders_;
  quantize::Labels labels_;
  std::map<std::string, int64_t> classes_;
  std::string note_;
};

}  // namespace hone::task
