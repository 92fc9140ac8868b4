// See lexer.hpp.
#include "graph/text/lexer.hpp"

#include <algorithm>
#include <array>

namespace hone::graph {
namespace {

constexpr size_t kShownBytes = 60;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// True for the bytes of a UTF-8 character after its first one.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

bool is_word_start(char c) { return is_letter(c) || c == '_'; }
bool is_word_part(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '.'; }
bool is_name_part(char c) { return is_word_part(c) || c == '/'; }

std::string Token::shown() const {
  if (kind == Kind::kEnd) return "the end of the text";
  const bool cut = text.size() > kShownBytes;
  return fmt::format("'{}{}{}'", kind == Kind::kValue ? "%" : "", text.substr(0, kShownBytes),
                     cut ? "…" : "");
}

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text.size() > kMaxTextBytes)
    fail_bad_input("the text has {} bytes, the limit is {}", text.size(), kMaxTextBytes);
  advance();
}

Token Lexer::take() {
  Token token = std::move(next_);
  advance();
  return token;
}

bool Lexer::accept(std::string_view mark_or_word) {
  if (!next_.is(mark_or_word)) return false;
  advance();
  return true;
}

void Lexer::expect(std::string_view mark_or_word) {
  if (!accept(mark_or_word)) next_.fail("'{}' is expected, not {}", mark_or_word, next_.shown());
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (next_.kind != kind) next_.fail("{} is expected, not {}", what, next_.shown());
  return take();
}

void Lexer::move(size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if (!continues_character(c)) {
      ++column_;
    }
  }
}

void Lexer::skip_blanks() {
  constexpr std::string_view kBlanks = " \t\r\n";
  while (at_ < text_.size()) {
    if (kBlanks.find(at()) != std::string_view::npos) {
      move(1);
    } else if (at() == '#' || starts("//")) {
      move(std::min(text_.find('\n', at_), text_.size()) - at_);
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  next_ = {Token::Kind::kEnd, {}, line_, column_};
  if (at_ == text_.size()) return;
  const char c = at();
  if (c == '"') return read_string();
  if (c == '%') return read_value();
  if (is_digit(c) || (c == '-' && (is_letter(at(1)) || is_digit(at(1)) || at(1) == '.')))
    return read_number();
  if (is_word_start(c)) {
    next_.kind = Token::Kind::kWord;
    const size_t begin = at_;
    while (is_word_part(at())) move(1);
    next_.text = text_.substr(begin, at_ - begin);
    return;
  }
  constexpr std::array<std::string_view, 13> kMarks = {"->", "...", "(", ")", "{", "}", "[",
                                                       "]",  ",",   ":", "=", "*", "?"};
  const auto mark = std::find_if(kMarks.begin(), kMarks.end(), [&](auto text) { return starts(text); });
  if (mark == kMarks.end()) fail_character();
  next_.kind = Token::Kind::kMark;
  next_.text = *mark;
  move(mark->size());
}

void Lexer::fail_character() {
  size_t bytes = 1;
  while (continues_character(at(bytes))) ++bytes;
  next_.fail("character '{}' begins nothing", text_.substr(at_, bytes));
}

void Lexer::read_string() {
  move(1);
  while (at() != '"') {
    if (at_ == text_.size() || at() == '\n') next_.fail("this string has no closing quote in its line");
    next_.text += at() == '\\' ? read_escape() : at();
    move(1);
  }
  move(1);
  next_.kind = Token::Kind::kString;
}

/// Returns the character of an escape sequence that begins with a backslash, and consumes all of its bytes
/// except the last.
char Lexer::read_escape() {
  move(1);
  switch (at()) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '"':
    case '\\': return at();
    default: break;
  }
  const int high = hex_digit(at(1));
  const int low = high < 0 ? -1 : hex_digit(at(2));
  if (at() != 'x' || low < 0)
    next_.fail("this string has an unknown escape: known are \\n \\t \\r \\\" \\\\ \\x1b");
  move(2);
  return static_cast<char>(high * 16 + low);
}

void Lexer::read_value() {
  move(1);
  if (at() == '"') {
    read_string();
  } else {
    const size_t begin = at_;
    while (is_name_part(at()) && !starts("//")) move(1);
    next_.text = text_.substr(begin, at_ - begin);
  }
  if (next_.text.empty()) next_.fail("a name is expected after %");
  next_.kind = Token::Kind::kValue;
}

void Lexer::read_number() {
  const size_t begin = at_;
  move(1);
  const bool hexadecimal = starts("x");
  const auto is_sign = [&] {
    const char before = text_[at_ - 1];
    return (at() == '-' || at() == '+') && (before == 'e' || before == 'E') && !hexadecimal;
  };
  while (is_letter(at()) || is_digit(at()) || at() == '.' || is_sign()) move(1);
  next_.text = text_.substr(begin, at_ - begin);
  next_.kind = Token::Kind::kNumber;
}

}  // namespace hone::graph
