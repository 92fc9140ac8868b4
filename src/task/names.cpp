// See names.hpp.
#include "task/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/file.hpp"

namespace hone::task {
namespace {

constexpr uint64_t kLongestFile = uint64_t{1} << 24;
/// The limit on classes, because the number of a class is an index into memory.
constexpr int64_t kMostClasses = 1'000'000;

/// Parses the part of Python's literals that is needed: dictionaries of numbers and texts, and lists of
/// texts.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  /// Returns false if the text is something else.
  bool read(std::vector<std::string>* names) {
    skip();
    const bool dictionary = take('{');
    if (!dictionary && !take('[')) return false;
    const char close = dictionary ? '}' : ']';
    while (true) {
      skip();
      if (take(close)) return rest_is_empty();
      if (!read_entry(dictionary, names)) return false;
      skip();
      if (!take(',')) return skip(), take(close) && rest_is_empty();
    }
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool rest_is_empty() {
    skip();
    return at_ == text_.size();
  }

  bool read_entry(bool dictionary, std::vector<std::string>* names) {
    auto index = static_cast<int64_t>(names->size());
    if (dictionary) {
      const auto key = number();
      skip();
      if (!key || !take(':')) return false;
      index = *key;
      skip();
    }
    const auto name = string();
    if (!name || index < 0 || index >= kMostClasses) return false;
    if (static_cast<size_t>(index) >= names->size()) names->resize(static_cast<size_t>(index) + 1);
    (*names)[static_cast<size_t>(index)] = *name;
    return true;
  }

  /// The number may also be in quotes, like the keys of objects in JSON.
  std::optional<int64_t> number() {
    const bool quoted = take('"') || take('\'');
    int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    if (quoted && !take('"') && !take('\'')) return std::nullopt;
    return value;
  }

  std::optional<std::string> string() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return std::nullopt;
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return value;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    lines.push_back(line);
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

std::vector<std::string> names_from(const importer::Metadata& metadata) {
  if (const auto labels = metadata.find("labels"); labels != metadata.end()) return lines_of(labels->second);
  const auto told = metadata.find("names");
  if (told == metadata.end()) return {};
  std::vector<std::string> names;
  if (!Literal(told->second).read(&names))
    fail_bad_input("the model's metadata entry 'names' is no dictionary and no list of texts");
  return names;
}

std::vector<std::string> read_names(const std::filesystem::path& file) {
  const std::string text = base::read_file(file, kLongestFile);
  if (text.find('\0') != std::string::npos) {
    throw Error(ErrorKind::kBadInput, "the file of labels is no text; give one name a line, as UTF-8",
                file.string());
  }
  auto names = lines_of(text);
  if (names.empty()) throw Error(ErrorKind::kBadInput, "the file of labels is empty", file.string());
  return names;
}

std::string name_of(const std::vector<std::string>& names, int64_t label) {
  const auto index = static_cast<size_t>(label);
  if (label >= 0 && index < names.size() && !names[index].empty()) return names[index];
  return fmt::format("class {}", label);
}

int64_t coco_category(const std::vector<std::string>& names, int64_t label) {
  constexpr size_t kClasses = 80;
  // Ids that COCO defined but never used.
  constexpr std::array<int64_t, 10> kGaps{12, 26, 29, 30, 45, 66, 68, 69, 71, 83};
  const bool is_coco = names.size() == kClasses && names.front() == "person" && names.back() == "toothbrush";
  int64_t id = label + 1;
  for (size_t i = 0; is_coco && i < kGaps.size() && kGaps[i] <= id; ++i) ++id;
  return id;
}

std::string other_count_text(size_t names, int64_t classes) {
  return fmt::format("it has {} name{}, the network {} class{}", names, names == 1 ? "" : "s", classes,
                     classes == 1 ? "" : "es");
}

}  // namespace hone::task
