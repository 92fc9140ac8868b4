// Input of a fuzz target whose subject reads files: a file in memory, written anew for each input.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>

/// The file is removed at the end of the program.
class InputFile {
 public:
  InputFile() {
    std::filesystem::path folder = "/dev/shm";
    if (!std::filesystem::is_directory(folder)) folder = std::filesystem::temp_directory_path();
    path_ = folder / fmt::format("hone-fuzz-{}", getpid());
  }
  ~InputFile() { std::filesystem::remove(path_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& write(const uint8_t* data, size_t size) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    return path_;
  }

 private:
  std::filesystem::path path_;
};
