// A program of the user that writes files with calibration data, one at a time.
#pragma once

#include <optional>
#include <string>

#include "system/process.hpp"
#include "system/scratch.hpp"

namespace hone::quantize {

/// The program prints the name of each file that it has written on a line of its own. After the file has been
/// read, the program receives the line "next". It exits with 0 at the end of its data.
class BatchProgram {
 public:
  /// The shell runs `command`.
  explicit BatchProgram(const std::string& command);
  /// Returns the name of the next file; nullopt at the end. If the program failed, bad input with the last
  /// line of its standard error; environment error if it writes nothing for ten minutes.
  std::optional<std::string> next();

 private:
  std::string command_;
  system::Scratch scratch_;
  system::Process process_;
  bool asked_ = true;
};

}  // namespace hone::quantize
