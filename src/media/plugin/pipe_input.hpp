// Reads a pipe for FFmpeg. FFmpeg's own reader blocks in open() and read(), where neither the time-out nor
// Ctrl-C reaches it.
#pragma once

#include <string>

#include "media/plugin/patience.hpp"

namespace hone::media {

/// True for standard input (kStandardInput) unless it is a file, and for a path of a named pipe.
bool is_pipe(const std::string& input);

class PipeInput {
 public:
  /// Bad input if the pipe cannot be opened or is a terminal.
  PipeInput(const std::string& input, Patience* patience);
  ~PipeInput();
  PipeInput(const PipeInput&) = delete;
  PipeInput& operator=(const PipeInput&) = delete;

  AVIOContext* context() const { return context_; }

 private:
  int read(uint8_t* bytes, int size);

  Patience* patience_;
  int file_ = -1;
  AVIOContext* context_ = nullptr;
};

}  // namespace hone::media
