// The bytes of a file of any size, one piece after another, unpacked when it is compressed with gzip.
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
  /// Bad input when the file is not there or is no regular file, environment error when it may not be read.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The next bytes; fewer than the buffer takes only where the file ends or is damaged.
  size_t read(std::span<char> buffer);
  /// True if the file is compressed.
  bool packed() const { return inflater_ != nullptr; }
  /// Why the bytes end where they do, when that is not the end of a whole file; else empty.
  const std::string& damage() const { return damage_; }

 private:
  size_t read_plain(std::span<char> buffer);
  size_t inflate_into(std::span<char> buffer);
  bool refill();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<z_stream_s> inflater_;  // none when the file is not compressed
  std::vector<unsigned char> packed_;
  std::string damage_;
  bool between_members_ = false;  // a gzip file may be several, one after another
  bool finished_ = false;
};

}  // namespace hone::trace
