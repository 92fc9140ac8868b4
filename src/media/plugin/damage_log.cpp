// See damage_log.hpp.
#include "media/plugin/damage_log.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>

namespace hone::media {
namespace {

thread_local DamageLog* listening = nullptr;

/// The logs that exist. Other users of a decoder's `opaque` are not among them.
struct LiveLogs {
  std::mutex mutex;
  std::set<const void*> logs;
};

LiveLogs& live_logs() {
  static LiveLogs logs;
  return logs;
}

void keep_decoder_line(const AVCodecContext& decoder, std::string_view format) {
  // The line of libavcodec's error concealment, of which there is one for each picture.
  if (!format.starts_with("concealing ")) return;
  LiveLogs& live = live_logs();
  const std::lock_guard lock(live.mutex);
  if (live.logs.contains(decoder.opaque)) static_cast<DamageLog*>(decoder.opaque)->add_concealed();
}

void keep(void* context, int level, const char* format, va_list arguments) {
  if (context == nullptr || level > AV_LOG_INFO) return;
  const AVClass* kind = *static_cast<AVClass**>(context);
  if (kind == nullptr) return;
  const std::string_view name = kind->class_name;
  if (name == "AVCodecContext") return keep_decoder_line(*static_cast<AVCodecContext*>(context), format);
  if (listening == nullptr || level > AV_LOG_ERROR || name != "AVFormatContext") return;
  std::array<char, 256> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  listening->add_demuxer_error(text.data());
}

}  // namespace

void redirect_log() { av_log_set_callback(keep); }

DamageLog::DamageLog() {
  redirect_log();
  const std::lock_guard lock(live_logs().mutex);
  live_logs().logs.insert(this);
}

DamageLog::~DamageLog() {
  const std::lock_guard lock(live_logs().mutex);
  live_logs().logs.erase(this);
}

DamageLog::Listener::Listener(DamageLog* log) : before_(listening) { listening = log; }
DamageLog::Listener::~Listener() { listening = before_; }

void DamageLog::add_demuxer_error(const char* text) {
  if (demuxer_errors_++ > 0) return;
  first_ = text;
  while (!first_.empty() && (first_.back() == '\n' || first_.back() == '.' || first_.back() == '!'))
    first_.pop_back();
}

std::string DamageLog::container_text() const {
  if (demuxer_errors_ == 0) return "";
  if (demuxer_errors_ == 1) return fmt::format("the file is damaged: {}", first_);
  return fmt::format("the file is damaged in {} places: {}, …", demuxer_errors_, first_);
}

}  // namespace hone::media
