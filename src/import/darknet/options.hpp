// Typed access to the options of a section, with darknet's rule for each type; remembers which options were
// read.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/darknet/cfg.hpp"

namespace hone::importer::darknet {

/// Returns the value of the first option with the key; the default if the option has no value.
class Options {
 public:
  explicit Options(const Section& section) : section_(section) {}

  const Section& section() const { return section_; }
  int integer(std::string_view key, int otherwise);
  double number(std::string_view key, double otherwise);
  std::string text(std::string_view key, std::string_view otherwise);
  bool has(std::string_view key) { return find(key) != nullptr; }

  /// Numbers separated by commas; empty if the option is absent. Throws bad input if there are too many.
  std::optional<std::vector<int>> integers(std::string_view key);
  std::optional<std::vector<double>> numbers(std::string_view key);
  /// The same, but the list ends at a '#'.
  std::optional<std::vector<int>> integers_before_comment(std::string_view key);
  std::optional<std::vector<double>> numbers_before_comment(std::string_view key);

  /// Adds warnings for options that were not read and do not belong to training.
  void warn_of_unknown(std::vector<std::string>* warnings) const;

 private:
  const std::string* find(std::string_view key);
  enum class Comments { kBelong, kEnd };
  template <class T>
  std::optional<std::vector<T>> list(std::string_view key, T (*parse)(std::string_view), Comments comments);

  const Section& section_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace hone::importer::darknet
