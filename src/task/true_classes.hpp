// The right classes of images: their folders name them, or a file does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "quantize/labels.hpp"

namespace hone::task {

/// The images of a classification and what they show.
class TrueClasses {
 public:
  /// `source` is "folders", where the images lie in sub-folders of `input`, one a class, or a file as
  /// quantize::read_labels() has it, for the images of the folder `input`. Bad input where there are none.
  TrueClasses(const std::string& source, const std::string& input);

  /// Files in the order in which they are read.
  const std::vector<std::string>& files() const { return files_; }
  /// Gives sub-folders their classes: those of their names among `names`, else the numbers that they are,
  /// else, where there is one for each class, their places in alphabetical order. Bad input for sub-folders
  /// and labels that are no classes of the network.
  void settle(const std::vector<std::string>& names, int64_t classes);
  /// How sub-folders became classes, for people; empty for a file.
  const std::string& note() const { return note_; }
  /// The class of one of files(); after settle().
  int64_t class_of(const std::string& file) const { return classes_.at(file); }

 private:
  /// The class of each sub-folder.
  std::map<std::string, int64_t> folder_classes(const std::vector<std::string>& names, int64_t classes);

  std::string input_;
  std::vector<std::string> files_;
  /// The sub-folder of each image, for "folders".
  std::vector<std::string> folders_;
  quantize::Labels labels_;
  std::map<std::string, int64_t> classes_;
  std::string note_;
};

}  // namespace hone::task
