// See pipe_input.hpp.
#include "media/plugin/pipe_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace hone::media {
namespace {

constexpr int kBufferBytes = 1 << 16;
constexpr int kSliceMilliseconds = 50;

bool is_stdin(const std::string& input) { return input == kStandardInput; }

int open_pipe(const std::string& input) {
  // Without O_NONBLOCK, open() waits for a writer.
  const int file = is_stdin(input) ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                   : ::open(input.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    throw Error(ErrorKind::kBadInput, fmt::format("it cannot be opened: {}", std::strerror(errno)), input);
  return file;
}

}  // namespace

bool is_pipe(const std::string& input) {
  struct stat status {};
  const int code = is_stdin(input) ? ::fstat(STDIN_FILENO, &status) : ::stat(input.c_str(), &status);
  return code == 0 && (is_stdin(input) ? !S_ISREG(status.st_mode) : S_ISFIFO(status.st_mode));
}

PipeInput::PipeInput(const std::string& input, Patience* patience)
    : patience_(patience), file_(open_pipe(input)) {
  if (::isatty(file_) != 0) {
    ::close(file_);
    throw Error(ErrorKind::kBadInput, "standard input is a terminal: pipe a video into it, or name a file");
  }
  const auto read_more = [](void* self, uint8_t* bytes, int size) {
    return static_cast<PipeInput*>(self)->read(bytes, size);
  };
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, read_more, nullptr, nullptr);
  context_->seekable = 0;
}

PipeInput::~PipeInput() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
  ::close(file_);
}

int PipeInput::read(uint8_t* bytes, int size) {
  while (!patience_->is_over()) {
    pollfd waiting{file_, POLLIN, 0};
    // A named pipe that no writer has opened yet has no event.
    if (::poll(&waiting, 1, kSliceMilliseconds) <= 0) continue;
    const ssize_t count = ::read(file_, bytes, static_cast<size_t>(size));
    if (count > 0) return static_cast<int>(count);
    if (count == 0) return AVERROR_EOF;
    if (errno != EAGAIN && errno != EINTR) return AVERROR(errno);
  }
  return AVERROR_EXIT;
}

}  // namespace hone::media
