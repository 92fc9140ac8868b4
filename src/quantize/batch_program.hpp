// A program of the user that writes files to calibrate with, one at a time.
#pragma once

#include <optional>
#include <string>

#include "system/process.hpp"
#include "system/scratch.hpp"

namespace hone::quantize {

/// It prints the name of each file that it has written on a line of its own. When the file has been read, it
/// is sent the line "next". At the end of its data it exits with 0.
class BatchProgram {
 public:
  /// `command` is for the shell.
  explicit BatchProgram(const std::string& command);
  /// The name of the next file; nullopt at the end. Bad input with the last line that it wrote to its
  /// standard error when it failed, environment error when it writes nothing for ten minutes.
  std::optional<std::string> next();

 private:
  std::string command_;
  system::Scratch scratch_;
  system::Process process_;
  bool asked_ = true;
};

}  // namespace hone::quantize
