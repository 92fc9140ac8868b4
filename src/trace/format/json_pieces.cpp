// See json_pieces.hpp.
#include "trace/format/json_pieces.hpp"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace hone::trace {
namespace {

constexpr size_t kFirstBuffer = size_t{64} << 10;
constexpr int kNothing = -1;

bool is_space(int c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Looks for the end of an object or array, starting at its opening bracket.
struct Scan {
  static constexpr int kBlock = 64;
  size_t depth = 0;
  bool in_string = false;
  bool escaped = false;

  bool fast(const char* bytes, size_t& at);
  bool slow(const char* bytes, size_t& at, size_t end);
};

/// The positions of significant characters in 64 bytes: one bit for each byte, the first byte in the lowest
/// bit.
struct Block {
  uint64_t quotes = 0;
  uint64_t brackets = 0;
  uint64_t escapes = 0;
  uint64_t line_ends = 0;
};

uint64_t equal_bits(__m128i bytes, char c, int shift) {
  const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
  return static_cast<uint64_t>(static_cast<unsigned>(found)) << shift;
}

Block look_at(const char* bytes) {
  Block block;
  for (int i = 0; i < Scan::kBlock; i += 16) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    const __m128i folded = _mm_or_si128(part, _mm_set1_epi8(0x20));  // square brackets become curly ones
    block.quotes |= equal_bits(part, '"', i);
    block.brackets |= equal_bits(folded, '{', i) | equal_bits(folded, '}', i);
    block.escapes |= equal_bits(part, '\\', i);
    block.line_ends |= equal_bits(part, '\n', i);
  }
  return block;
}

/// Bit i is set if an odd number of bits is set up to and including bit i. For a mask of quotes, these are
/// the bytes in strings.
uint64_t parity_up_to(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

bool is_open(char c) { return c == '{' || c == '['; }

/// Handles a whole block if nothing in it needs byte-by-byte processing; `at` is then after the block, or
/// after the end that was found.
bool Scan::fast(const char* bytes, size_t& at) {
  const Block block = look_at(bytes + at);
  const uint64_t inside = parity_up_to(block.quotes) ^ (in_string ? ~uint64_t{0} : 0);
  if (escaped || block.escapes != 0 || (block.line_ends & inside) != 0) return slow(bytes, at, at + kBlock);
  for (uint64_t left = block.brackets & ~inside; left != 0; left &= left - 1) {
    const auto place = at + static_cast<size_t>(std::countr_zero(left));
    depth += is_open(bytes[place]) ? 1 : -1;
    if (depth != 0) continue;
    at = place + 1;
    return true;
  }
  in_string = (inside >> 63) != 0;
  at += kBlock;
  return false;
}

/// Processes byte by byte. The end of a line also ends a string: JSON has no line breaks in strings, so a
/// quote is missing, and the next line should still be read correctly.
bool Scan::slow(const char* bytes, size_t& at, size_t end) {
  while (at < end) {
    const char c = bytes[at++];
    if (escaped) {
      escaped = false;
    } else if (in_string) {
      escaped = c == '\\';
      in_string = c != '"' && c != '\n';
    } else if (c == '"') {
      in_string = true;
    } else if (is_open(c)) {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

JsonPieces::JsonPieces(ByteSource& source, std::string_view array)
    : source_(source), array_(array), buffer_(kFirstBuffer + kPadding) {}

JsonPieces::Piece JsonPieces::next() {
  while (true) {
    Piece piece;
    too_long_ = false;
    switch (place_) {
      case Place::kStart: piece = start(); break;
      case Place::kMembers: piece = next_member(); break;
      case Place::kElements: piece = next_element(); break;
      case Place::kEnd: return {};
    }
    if (place_ == Place::kEnd) return {};
    if (too_long_) {
      ++oversized_;
      continue;
    }
    if (piece.kind != Kind::kEnd) return piece;
  }
}

/// Called at the end of the document. Inside this class, Kind::kEnd without Place::kEnd means that reading
/// continues.
JsonPieces::Piece JsonPieces::end(bool complete) {
  place_ = Place::kEnd;
  complete_ = complete;
  return {};
}

JsonPieces::Piece JsonPieces::start() {
  piece_ = at_;
  if (peek() == 0xef) at_ += 3;  // the byte order mark of UTF-8
  at_ = std::min(at_, end_);
  const int first = peek_token();
  if (first != '{' && first != '[') return end(false);
  ++at_;
  bare_array_ = found_array_ = first == '[';
  place_ = bare_array_ ? Place::kElements : Place::kMembers;
  return {};
}

JsonPieces::Piece JsonPieces::next_member() {
  piece_ = at_;
  int token = peek_token();
  while (token == ',') {
    ++at_;
    token = peek_token();
  }
  if (token == '}') return end(true);
  if (token != '"') return end(false);
  piece_ = at_;
  if (!skip_string()) return end(false);
  key_ = piece_text();
  key_ = key_.substr(1, key_.size() - 2);
  if (peek_token() != ':') return end(false);
  ++at_;
  const int first = peek_token();
  if (first == '[' && key_ == array_) {
    ++at_;
    found_array_ = true;
    place_ = Place::kElements;
    return {};
  }
  piece_ = at_;
  if (!skip_value()) return end(false);
  return {Kind::kMember, key_, piece_text()};
}

JsonPieces::Piece JsonPieces::next_element() {
  piece_ = at_;
  int token = peek_token();
  while (token == ',') {
    ++at_;
    piece_ = at_;
    token = peek_token();
  }
  if (token == kNothing) return end(false);
  if (token == ']') {
    ++at_;
    if (bare_array_) return end(true);
    place_ = Place::kMembers;
    return {};
  }
  piece_ = at_;
  // A token that can begin no element (the rest of a broken element) is skipped up to the next possible
  // beginning.
  const bool whole = token == '}' || token == ':' ? skip_to("{]") : skip_value();
  if (!whole) return end(false);
  return {Kind::kElement, {}, piece_text()};
}

std::string_view JsonPieces::piece_text() const { return {buffer_.data() + piece_, at_ - piece_}; }

/// Reads more bytes and keeps the current piece in the buffer; false at the end of the file.
bool JsonPieces::more() {
  if (at_ - piece_ > kLongestPiece) {
    too_long_ = true;
    piece_ = at_;
  }
  const size_t kept = end_ - piece_;
  std::memmove(buffer_.data(), buffer_.data() + piece_, kept);
  at_ -= piece_;
  piece_ = 0;
  end_ = kept;
  if (buffer_.size() - kPadding < 2 * kept) buffer_.resize(2 * buffer_.size());
  const size_t count = source_.read(std::span(buffer_).subspan(end_, buffer_.size() - kPadding - end_));
  end_ += count;
  return count > 0;
}

int JsonPieces::peek() {
  if (at_ >= end_ && !more()) return kNothing;
  return static_cast<unsigned char>(buffer_[at_]);
}

/// The next byte that is no white space.
int JsonPieces::peek_token() {
  int c = peek();
  while (is_space(c)) {
    piece_ = ++at_;  // no piece has begun yet
    c = peek();
  }
  return c;
}

bool JsonPieces::skip_value() {
  const int first = peek();
  if (first == '"') return skip_string();
  if (first == '{' || first == '[') return skip_container();
  return skip_to(",]}: \n\r\t");
}

/// Skips from the opening quote to after the closing quote, or to after the line (see Scan::slow).
bool JsonPieces::skip_string() {
  ++at_;
  for (int c = peek(); c != kNothing; c = peek()) {
    ++at_;
    if (c == '"' || c == '\n') return true;
    if (c == '\\' && peek() != kNothing) ++at_;
  }
  return false;
}

bool JsonPieces::skip_container() {
  Scan scan;
  do {
    while (at_ + Scan::kBlock <= end_) {
      if (scan.fast(buffer_.data(), at_)) return true;
    }
    if (scan.slow(buffer_.data(), at_, end_)) return true;
  } while (more());
  return false;
}

/// Skips to the next of these bytes; false if there is none.
bool JsonPieces::skip_to(std::string_view stops) {
  int c = peek();
  while (c != kNothing && stops.find(static_cast<char>(c)) == std::string_view::npos) {
    ++at_;
    c = peek();
  }
  return c != kNothing;
}

}  // namespace hone::trace
