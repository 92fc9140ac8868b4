// Fields of untrusted JSON: absent ones are null, those of another type are bad input, impossible ones
// doubts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace hone::report {

class Fields {
 public:
  /// `path` names the object in sentences: "runs[3]"; empty for the whole file. `doubts` takes what is left
  /// out. Both the JSON and the doubts outlive this. Bad input when `json` is neither an object nor null.
  Fields(const Json& json, std::string path, std::vector<std::string>* doubts);

  std::optional<std::string> text(const char* name) const;
  std::optional<bool> flag(const char* name) const;
  std::optional<int64_t> integer(const char* name) const;
  /// A number above 0, or at least 0; another one is a doubt, and null.
  std::optional<double> positive(const char* name) const;
  std::optional<double> not_negative(const char* name) const;
  /// Without fields where it is absent.
  Fields object(const char* name) const;
  /// Null where it is absent; bad input when it is no list.
  const Json& list(const char* name) const;

  std::string require_text(const char* name) const;
  int64_t require_integer(const char* name) const;
  bool present() const { return json_->is_object(); }
  void doubt(const char* name, const std::string& found) const;

 private:
  const Json& find(const char* name) const;
  std::string place(const char* name) const;
  std::optional<double> number(const char* name) const;
  [[noreturn]] void fail(const char* name, const char* wanted) const;

  const Json* json_;
  std::string path_;
  std::vector<std::string>* doubts_;
};

}  // namespace hone::report
