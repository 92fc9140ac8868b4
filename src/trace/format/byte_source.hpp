// Reads a file of any size piece by piece, and unpacks it if it is compressed with gzip.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct z_stream_s;

namespace hone::trace {

class ByteSource {
 public:
  /// Throws bad input if the file does not exist or is no regular file, and an environment error if it may
  /// not be read.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads the next bytes; fewer than the size of the buffer only if the file ends or is damaged.
  size_t read(std::span<char> buffer);
  /// True if the file is compressed.
  bool packed() const { return inflater_ != nullptr; }
  /// The reason why the bytes end early, if the file is damaged; else empty.
  const std::string& damage() const { return damage_; }

 private:
  size_t read_plain(std::span<char> buffer);
  size_t inflate_into(std::span<char> buffer);
  bool refill();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<z_stream_s> inflater_;  // null if the file is not compressed
  std::vector<unsigned char> packed_;
  std::string damage_;
  bool between_members_ = false;  // a gzip file may have several members, one after another
  bool finished_ = false;
};

}  // namespace hone::trace
