// Damage that FFmpeg handles by itself and reports only as log lines: demuxers skip broken parts of a file,
// and decoders conceal broken parts of a picture.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "media/plugin/libav.hpp"

namespace hone::media {

/// FFmpeg prints nothing from now on in this process; its lines go to the damage logs.
void redirect_log();

/// One for each source. Decoders log from threads of their own.
class DamageLog {
 public:
  DamageLog();
  ~DamageLog();
  DamageLog(const DamageLog&) = delete;
  DamageLog& operator=(const DamageLog&) = delete;

  /// While it lives, errors that demuxers report in this thread are counted.
  class Listener {
   public:
    explicit Listener(DamageLog* log);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    DamageLog* before_;
  };
  /// Counts the pictures that this decoder conceals, until the log is destroyed. Uses the decoder's `opaque`.
  void watch(AVCodecContext* decoder) { decoder->opaque = this; }

  int64_t demuxer_errors() const { return demuxer_errors_; }
  int64_t concealed() const { return concealed_; }
  /// A clause about the errors of demuxers, with the text of the first; empty if there are none.
  std::string container_text() const;

  void add_demuxer_error(const char* text);
  void add_concealed() { ++concealed_; }

 private:
  int64_t demuxer_errors_ = 0;
  std::string first_;
  std::atomic<int64_t> concealed_ = 0;
};

}  // namespace hone::media
