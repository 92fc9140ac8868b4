// Cuts a JSON document of any size into pieces small enough to parse: the members of its outermost object,
// and of one member that is an array (a trace's events) each element by itself. It only looks at quotes and
// brackets; whether a piece is valid JSON is for its parser to say. Where the document breaks off, the pieces
// before stay good, and where one is broken, the next line begins afresh.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/format/byte_source.hpp"

namespace hone::trace {

class JsonPieces {
 public:
  /// This many bytes after a piece may be read, though they are not part of it.
  static constexpr size_t kPadding = 64;
  /// Pieces above this are skipped and counted.
  static constexpr size_t kLongestPiece = size_t{16} << 20;

  enum class Kind { kMember, kElement, kEnd };
  struct Piece {
    Kind kind = Kind::kEnd;
    std::string_view key;   ///< of members, without quotes
    std::string_view text;  ///< valid until the next piece is asked for
  };

  /// `array`: the member to be cut into its elements. An outermost array is cut like it.
  JsonPieces(ByteSource& source, std::string_view array);
  Piece next();

  /// True if the array was there, even if empty or cut off.
  bool found_array() const { return found_array_; }
  /// True if it is the outermost value, so that nothing names it.
  bool bare_array() const { return bare_array_; }
  /// True if the document ended where JSON says that it ends.
  bool complete() const { return complete_; }
  size_t oversized() const { return oversized_; }

 private:
  enum class Place { kStart, kMembers, kElements, kEnd };
  Piece start();
  Piece next_member();
  Piece next_element();
  Piece end(bool complete);
  bool more();
  int peek();
  int peek_token();
  bool skip_value();
  bool skip_string();
  bool skip_container();
  bool skip_to(std::string_view stops);
  std::string_view piece_text() const;

  ByteSource& source_;
  std::string array_;
  std::vector<char> buffer_;
  size_t piece_ = 0;  // where the piece begins that must stay in the buffer
  size_t at_ = 0;
  size_t end_ = 0;
  std::string key_;
  Place place_ = Place::kStart;
  bool bare_array_ = false;
  bool found_array_ = false;
  bool complete_ = false;
  bool too_long_ = false;  // of the current piece: its first part is gone
  size_t oversized_ = 0;
};

}  // namespace hone::trace
