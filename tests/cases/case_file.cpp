// See case_file.hpp.
#include "cases/case_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace hone::test {
namespace {

constexpr std::string_view kCaseMark = "=== ";
constexpr std::string_view kSectionMark = "--- ";
constexpr std::array<std::string_view, 11> kKeys = {
    "shows", "pass", "passes", "optimize", "import", "opset", "note", "refused", "error", "symbols", "shape"};
constexpr std::array<std::string_view, 5> kSections = {"before", "after", "unchanged", "onnx", "graph"};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream stream(base::read_file(file));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_word(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Reads the lines of a file one after the other into its cases.
class Reader {
 public:
  Reader(const std::filesystem::path& file, const std::string& folder) : file_(file), folder_(folder) {}

  std::vector<Case> read() {
    for (const std::string& line : lines_of(file_)) {
      take(line);
      ++number_;
    }
    return std::move(cases_);
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw Error(ErrorKind::kBadInput, sentence, fmt::format("{}:{}", file_.string(), number_ + 1));
  }

  void take(const std::string& line) {
    if (line.starts_with(kCaseMark)) return begin_case(line.substr(kCaseMark.size()));
    if (cases_.empty()) {
      if (!line.empty() && line[0] != '#') fail("a case begins with '=== name'");
      return;
    }
    if (line.starts_with(kSectionMark)) return begin_section(line.substr(kSectionMark.size()));
    if (!cases_.back().sections.empty()) return add_text(line);
    if (!line.empty()) add_key(line);
  }

  void begin_case(const std::string& name) {
    if (!is_word(name)) fail("the name of a case is of a-z, 0-9 and _");
    cases_.push_back({.file = file_, .line = static_cast<int>(number_) + 1, .folder = folder_, .name = name});
  }

  void begin_section(const std::string& name) {
    if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
      fail(fmt::format("section '{}' is not known", name));
    if (cases_.back().section(name) != nullptr) fail(fmt::format("section '{}' is there twice", name));
    cases_.back().sections.push_back({name, {}, number_ + 1, number_ + 1});
  }

  /// Empty lines at the end of a section are not part of it.
  void add_text(const std::string& line) {
    CaseSection& section = cases_.back().sections.back();
    section.text += line + "\n";
    if (!line.empty()) section.end = number_ + 1;
  }

  void add_key(const std::string& line) {
    const size_t colon = line.find(':');
    const std::string key = line.substr(0, colon);
    const bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    if (colon == std::string::npos || !known) fail(fmt::format("'{}' is no line of a header", line));
    cases_.back().header.emplace_back(key, trimmed(line.substr(colon + 1)));
  }

  const std::filesystem::path& file_;
  const std::string& folder_;
  std::vector<Case> cases_;
  size_t number_ = 0;
};

}  // namespace

std::vector<std::string> Case::all(const std::string& key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : header) {
    if (name == key) values.push_back(value);
  }
  return values;
}

std::string Case::get(const std::string& key) const {
  const auto values = all(key);
  if (values.size() > 1) fail(fmt::format("'{}' is there twice", key));
  return values.empty() ? "" : values[0];
}

const CaseSection* Case::section(const std::string& section_name) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const CaseSection& section) { return section.name == section_name; });
  return found == sections.end() ? nullptr : &*found;
}

const CaseSection& Case::need(const std::string& section_name) const {
  const CaseSection* found = section(section_name);
  if (found == nullptr) fail(fmt::format("it has no section '{}'", section_name));
  return *found;
}

std::vector<std::string> Case::passes() const {
  std::vector<std::string> names = all("pass");
  for (const std::string& list : all("passes")) {
    for (const std::string& name : split(list, ' ')) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

std::map<std::string, int64_t> Case::symbols() const {
  std::map<std::string, int64_t> sizes;
  for (const std::string& item : split(get("symbols"), ',')) {
    const auto parts = split(item, '=');
    if (parts.size() != 2) fail(fmt::format("'{}' gives no symbol a size", item));
    sizes[parts[0]] = std::stoll(parts[1]);
  }
  return sizes;
}

std::map<std::string, tensor::Shape> Case::shapes() const {
  std::map<std::string, tensor::Shape> result;
  for (const std::string& item : all("shape")) {
    const auto parts = split(item, '=');
    if (parts.size() != 2) fail(fmt::format("'{}' gives no input a shape", item));
    for (const std::string& size : split(parts[1], 'x')) result[parts[0]].push_back(std::stoll(size));
  }
  return result;
}

void Case::fail(const std::string& sentence) const {
  throw Error(ErrorKind::kBadInput, sentence, fmt::format("{}:{}: {}", file.string(), line, name));
}

std::vector<Case> read_cases(const std::filesystem::path& file, const std::string& folder) {
  return Reader(file, folder).read();
}

CaseWriter::CaseWriter() {
  const char* wish = std::getenv("HONE_WRITE_CASES");
  wanted_ = wish != nullptr && std::string(wish) == "1";
}

CaseWriter& CaseWriter::get() {
  static CaseWriter writer;
  return writer;
}

void CaseWriter::replace(const Case& test, const CaseSection& section, const std::string& text) {
  replacements_[test.file][section.begin] = {section.end, text};
}

void CaseWriter::finish() {
  for (const auto& [file, replacements] : replacements_) {
    const std::vector<std::string> lines = lines_of(file);
    std::string text;
    size_t next = 0;
    const auto keep_until = [&](size_t end) {
      for (; next < end; ++next) text += lines[next] + "\n";
    };
    for (const auto& [begin, replacement] : replacements) {
      keep_until(begin);
      text += replacement.text;
      next = replacement.end;
    }
    keep_until(lines.size());
    base::write_file_atomic(file, text);
  }
}

}  // namespace hone::test
