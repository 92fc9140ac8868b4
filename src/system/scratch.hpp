// A folder for the files of one sweep (inputs, outputs, the workers' messages), removed with the object.
#pragma once

#include <filesystem>

namespace hone::system {

class Scratch {
 public:
  /// Environment error if no folder can be created in the system's temporary folder.
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  /// Creates a folder inside.
  std::filesystem::path make_folder(const std::string& name) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace hone::system
