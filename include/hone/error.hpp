// The only exception type of the project: thrown for every failure that a user or the environment can cause.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace hone {

/// The cause of a failure; the numeric value is the exit code of the program.
enum class ErrorKind {
  kInternal = 1,     ///< a bug in hone
  kUsage = 2,        ///< the command line or an API argument is wrong
  kBadInput = 3,     ///< a file or its content is invalid
  kEnvironment = 4,  ///< a missing library, device, permission, or a full disk
  kThreshold = 5,    ///< a verdict or a regression threshold failed
};

/// One clear sentence, and the place that it refers to ("model.onnx: node 'conv1' (Conv)"), which may be
/// empty.
class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string sentence, std::string where = {});

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& sentence() const noexcept { return sentence_; }
  const std::string& where() const noexcept { return where_; }
  int exit_code() const noexcept { return static_cast<int>(kind_); }
  /// "where: sentence", or only the sentence.
  const char* what() const noexcept override { return text_.c_str(); }
  /// The same error with an outer place as a prefix: "outer: where: sentence".
  Error within(std::string_view outer) const;

 private:
  ErrorKind kind_;
  std::string sentence_;
  std::string where_;
  std::string text_;
};

}  // namespace hone
