// Splits a graph's text into tokens, each with its line and column.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hone::graph {

struct Token {
  /// kWord: a keyword, an operator, an attribute, a symbol. kValue: %name. kMark: punctuation.
  enum class Kind { kEnd, kWord, kValue, kString, kNumber, kMark };
  Kind kind = Kind::kEnd;
  std::string text;  ///< without % and quotes, escapes resolved
  int line = 1;
  int column = 1;  ///< in characters, from 1

  bool is(std::string_view mark_or_word) const {
    return (kind == Kind::kMark || kind == Kind::kWord) && text == mark_or_word;
  }
  /// "line 3, column 7", for errors.
  std::string where() const { return fmt::format("line {}, column {}", line, column); }
  /// The token's name in messages: "'Conv'", "the end of the text".
  std::string shown() const;

  /// Throws bad input: "line 3, column 7: <sentence>".
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorKind::kBadInput, fmt::format(format, std::forward<Args>(args)...), where());
  }
};

/// Comments begin with # or // and end with their line. The text must outlive the lexer.
class Lexer {
 public:
  /// Throws bad input if the text is longer than kMaxTextBytes or does not begin with a token.
  explicit Lexer(std::string_view text);

  /// The next token, which is not consumed.
  const Token& next() const { return next_; }
  Token take();
  /// Consumes the next token if it is this mark or word.
  bool accept(std::string_view mark_or_word);
  /// Consumes this mark or word; bad input for any other token.
  void expect(std::string_view mark_or_word);
  /// Consumes a token of this kind; for any other, throws bad input that names `what` as expected.
  Token expect(Token::Kind kind, std::string_view what);

 private:
  void advance();
  void skip_blanks();
  char at(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }
  void move(size_t bytes);
  [[noreturn]] void fail_character();
  void read_string();
  char read_escape();
  void read_value();
  void read_number();

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  Token next_;
};

inline constexpr size_t kMaxTextBytes = size_t{64} << 20;

// Characters of names without quotes: the first and the later ones of words, and those of value names after
// %.
bool is_word_start(char c);
bool is_word_part(char c);
bool is_name_part(char c);

}  // namespace hone::graph
