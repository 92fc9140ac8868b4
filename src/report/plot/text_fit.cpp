// See text_fit.hpp.
#include "report/plot/text_fit.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "report/terminal/sheet.hpp"

namespace hone::report {
namespace {

/// No longer text can fit, and measuring long texts takes long.
constexpr size_t kMostCharacters = 600;

/// Number of bytes of the character at `at`; 0 if it is invalid (RFC 3629).
size_t character_length(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return 0;
  }
  // Rejects overlong forms, surrogates, values beyond Unicode, and U+FFFE and U+FFFF, which XML forbids.
  const unsigned second = byte(at + 1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  if (first == 0xef && second == 0xbf && byte(at + 2) >= 0xbe) return 0;
  return length;
}

}  // namespace

std::string drawable_text(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_length(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0) result += '?';
    if (length == 1) result += byte < 0x20 || byte == 0x7f ? ' ' : text[i];
    if (length > 1) result += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return result;
}

std::string fit_text(const std::string& text, double width, double size, bool bold,
                     const TextMeasure& measure) {
  const std::string whole = cut_middle(drawable_text(text), kMostCharacters);
  if (measure(whole, size, bold) <= width) return whole;
  size_t fits = 3;
  for (size_t too_long = kMostCharacters; too_long - fits > 1;) {
    const size_t middle = (fits + too_long) / 2;
    (measure(cut_middle(whole, middle), size, bold) <= width ? fits : too_long) = middle;
  }
  return cut_middle(whole, fits);
}

std::vector<std::string> wrap_text(const std::string& text, double width, double size, size_t most,
                                   const TextMeasure& measure) {
  std::vector<std::string> lines;
  std::istringstream words(cut_middle(drawable_text(text), kMostCharacters));
  std::string line;
  for (std::string word; words >> word;) {
    word = fit_text(word, width, size, false, measure);
    const std::string longer = line.empty() ? word : line + " " + word;
    if (measure(longer, size, false) <= width) {
      line = longer;
      continue;
    }
    lines.push_back(std::exchange(line, word));
  }
  if (!line.empty()) lines.push_back(line);
  if (lines.size() <= most) return lines;
  lines.resize(most);
  if (most > 0) {
    // "…" may have to replace some letters.
    std::string& last = lines.back();
    while (!last.empty() && measure(last + "…", size, false) > width)
      last.resize(last.find_last_of(' ') == std::string::npos ? 0 : last.find_last_of(' '));
    last += "…";
  }
  return lines;
}

}  // namespace hone::report
