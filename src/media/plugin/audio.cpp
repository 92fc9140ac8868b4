// See audio.hpp.
#include "media/plugin/audio.hpp"

#include <fmt/format.h>

namespace hone::media {

AudioCopy::AudioCopy(const std::string& file, AVFormatContext* target, std::vector<std::string>* notes)
    : target_(target), packet_(av_packet_alloc()) {
  AVFormatContext* context = nullptr;
  if (avformat_open_input(&context, locator(file).c_str(), nullptr, nullptr) < 0) return;
  source_.reset(context);
  if (avformat_find_stream_info(context, nullptr) < 0) return;
  for (unsigned i = 0; i < context->nb_streams; ++i) {
    AVStream* from = context->streams[i];
    from->discard = AVDISCARD_ALL;
    if (from->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) continue;
    if (avformat_query_codec(target->oformat, from->codecpar->codec_id, FF_COMPLIANCE_NORMAL) == 0) {
      notes->push_back(fmt::format("its sound ({}) has no place in {} and was left out",
                                   avcodec_get_name(from->codecpar->codec_id), target->oformat->name));
      continue;
    }
    AVStream* to = avformat_new_stream(target, nullptr);
    if (to == nullptr || avcodec_parameters_copy(to->codecpar, from->codecpar) < 0) continue;
    to->codecpar->codec_tag = 0;
    to->time_base = from->time_base;
    from->discard = AVDISCARD_DEFAULT;
    streams_[from->index] = to->index;
  }
}

double AudioCopy::packet_seconds() const {
  const AVStream* from = source_->streams[packet_->stream_index];
  const int64_t ticks = packet_->dts == AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
  if (ticks == AV_NOPTS_VALUE) return 0;
  const double start =
      source_->start_time == AV_NOPTS_VALUE ? 0 : static_cast<double>(source_->start_time) / AV_TIME_BASE;
  return static_cast<double>(ticks) * av_q2d(from->time_base) - start;
}

bool AudioCopy::read() {
  while (!waiting_) {
    if (av_read_frame(source_.get(), packet_.get()) < 0) return false;
    waiting_ = streams_.contains(packet_->stream_index);
    if (!waiting_) av_packet_unref(packet_.get());
  }
  return true;
}

int AudioCopy::write_until(double seconds) {
  if (streams_.empty()) return 0;
  while (read() && packet_seconds() < seconds) {
    waiting_ = false;
    const AVStream* from = source_->streams[packet_->stream_index];
    AVStream* to = target_->streams[streams_.at(packet_->stream_index)];
    if (source_->start_time != AV_NOPTS_VALUE) {
      const int64_t start = av_rescale_q(source_->start_time, AVRational{1, AV_TIME_BASE}, from->time_base);
      if (packet_->pts != AV_NOPTS_VALUE) packet_->pts -= start;
      if (packet_->dts != AV_NOPTS_VALUE) packet_->dts -= start;
    }
    av_packet_rescale_ts(packet_.get(), from->time_base, to->time_base);
    packet_->stream_index = to->index;
    packet_->pos = -1;
    const int code = av_interleaved_write_frame(target_, packet_.get());
    if (code < 0) return code;
  }
  return 0;
}

}  // namespace hone::media
