// Cuts a JSON document of any size into pieces that are small enough to parse: the members of its outermost
// object, and the single elements of one member that is an array (the events of a trace). It looks only at
// quotes and brackets; the parser checks whether a piece is valid JSON. If the document ends early, the
// pieces before the end stay valid; after a broken piece, reading continues on the next line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/format/byte_source.hpp"

namespace hone::trace {

class JsonPieces {
 public:
  /// This many bytes after a piece may be read, although they are not part of it.
  static constexpr size_t kPadding = 64;
  /// Longer pieces are skipped and counted.
  static constexpr size_t kLongestPiece = size_t{16} << 20;

  enum class Kind { kMember, kElement, kEnd };
  struct Piece {
    Kind kind = Kind::kEnd;
    std::string_view key;   ///< name of a member, without quotes
    std::string_view text;  ///< valid until the next piece is read
  };

  /// `array`: the member that is cut into its elements. If the outermost value is an array, it is cut in the
  /// same way.
  JsonPieces(ByteSource& source, std::string_view array);
  Piece next();

  /// True if the array was found, even if it is empty or incomplete.
  bool found_array() const { return found_array_; }
  /// True if the array is the outermost value and therefore has no name.
  bool bare_array() const { return bare_array_; }
  /// True if the document is complete.
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
  size_t piece_ = 0;  // begin of the piece that must stay in the buffer
  size_t at_ = 0;
  size_t end_ = 0;
  std::string key_;
  Place place_ = Place::kStart;
  bool bare_array_ = false;
  bool found_array_ = false;
  bool complete_ = false;
  bool too_long_ = false;  // the current piece is too long: its first part has been dropped
  size_t oversized_ = 0;
};

}  // namespace hone::trace
