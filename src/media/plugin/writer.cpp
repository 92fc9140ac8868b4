// Writes videos with FFmpeg: encodes on the CPU with the times, pixel shape and colours of the input, under a
// temporary name until the file is complete.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/pending_file.hpp"
#include "media/plugin/audio.hpp"
#include "media/plugin/damage_log.hpp"
#include "media/plugin/pictures.hpp"
#include "media/video.hpp"

namespace hone::media {
namespace {

struct FreeOutput {
  void operator()(AVFormatContext* context) const {
    if (context->pb != nullptr) avio_closep(&context->pb);
    avformat_free_context(context);
  }
};
using OutputPointer = std::unique_ptr<AVFormatContext, FreeOutput>;

/// Formats without a list of codecs, such as MPEG-TS, cannot answer, so they are tried.
bool may_hold(const AVOutputFormat& format, AVCodecID codec) {
  return avformat_query_codec(&format, codec, FF_COMPLIANCE_NORMAL) != 0;
}

/// Prefers x264, because its files play everywhere.
const AVCodec* choose_encoder(const std::string& wanted, const AVOutputFormat& format) {
  if (!wanted.empty()) {
    const AVCodec* codec = avcodec_find_encoder_by_name(wanted.c_str());
    if (codec == nullptr || codec->type != AVMEDIA_TYPE_VIDEO)
      fail_usage("this FFmpeg has no encoder of videos named {}", wanted);
    if (!may_hold(format, codec->id))
      fail_usage("{} makes no video that has a place in {}", wanted, format.name);
    return codec;
  }
  for (const char* name : {"libx264", "libvpx-vp9", "mpeg4", "mpeg2video"}) {
    const AVCodec* codec = avcodec_find_encoder_by_name(name);
    if (codec != nullptr && may_hold(format, codec->id)) return codec;
  }
  const AVCodec* codec = avcodec_find_encoder(format.video_codec);
  if (codec == nullptr) fail_usage("this FFmpeg has no encoder for {}", format.name);
  return codec;
}

/// True for formats whose times follow only from the frame rate and the order of packets.
bool knows_only_rates(const AVOutputFormat& format) { return std::string_view(format.name) == "avi"; }

/// Returns a note if an MP4 file will not play in browsers, else an empty text.
std::string note_on_browsers(const AVOutputFormat& format, const AVCodec& codec) {
  if (std::string_view(format.name) != "mp4") return {};
  switch (codec.id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
    case AV_CODEC_ID_AV1: return {};
    case AV_CODEC_ID_HEVC: return "not all browsers play hevc: all play H.264, VP8, VP9 and AV1";
    default:
      return fmt::format("browsers do not play {}: they play H.264, VP8, VP9 and AV1",
                         avcodec_get_name(codec.id));
  }
}

bool takes_420(const AVCodec& codec) {
  const AVPixelFormat* format = codec.pix_fmts;
  if (format == nullptr) return true;
  while (*format != AV_PIX_FMT_NONE && *format != AV_PIX_FMT_YUV420P) ++format;
  return *format == AV_PIX_FMT_YUV420P;
}

class VideoSink : public FrameSink {
 public:
  VideoSink(const std::string& file, const WriteOptions& options)
      : file_(file), options_(options), packet_(av_packet_alloc()) {
    redirect_log();
    AVFormatContext* context = nullptr;
    if (avformat_alloc_output_context2(&context, nullptr, nullptr, file.c_str()) < 0)
      fail_usage("{}: FFmpeg knows no file of videos that is named so", file);
    format_.reset(context);
    codec_ = choose_encoder(options.encoder, *format_->oformat);
    if (!takes_420(*codec_)) fail_usage("{} takes no pictures of 4:2:0 with 8 bits", codec_->name);
    const std::string note = note_on_browsers(*format_->oformat, *codec_);
    if (!note.empty()) notes_.push_back(note);
    pending_ = std::make_unique<base::PendingFile>(file, base::PendingFile::Name::kFromTheStart);
  }

  std::string codec() const override { return codec_->name; }
  std::vector<std::string> notes() const override { return notes_; }

  void write(const Frame& frame) override {
    if (encoder_ == nullptr) start(frame);
    if (!scaled_ && (frame.width != width_ || frame.height != height_)) {
      scaled_ = true;
      notes_.push_back(fmt::format("frames change from {} x {} to {} x {}: the file keeps the first size",
                                   width_, height_, frame.width, frame.height));
    }
    const FramePointer picture = maker_->make(frame);
    picture->pts = std::max(last_pts_ + 1, ticks_of(frame.seconds));
    last_pts_ = picture->pts;
    last_seconds_ = frame.seconds;
    picture->sample_aspect_ratio = encoder_->sample_aspect_ratio;
    check(avcodec_send_frame(encoder_.get(), picture.get()), "encode");
    drain();
    if (audio_ != nullptr) check(audio_->write_until(frame.seconds), "write the sound of");
  }

  void finish() override {
    if (encoder_ == nullptr) fail_bad_input("there is no frame to write to {}", file_);
    check(avcodec_send_frame(encoder_.get(), nullptr), "encode");
    drain();
    // Seconds of audio that are written while the last frame is shown.
    constexpr double kLastFrame = 0.5;
    if (audio_ != nullptr) check(audio_->write_until(last_seconds_ + kLastFrame), "write the sound of");
    check(av_write_trailer(format_.get()), "write");
    avio_flush(format_->pb);
    check(format_->pb->error, "write");
    check(avio_closep(&format_->pb), "write");
    pending_->publish();
  }

 private:
  void check(int code, const char* what) const {
    if (code < 0) fail_environment("cannot {} {}: {}", what, file_, error_text(code));
  }

  int64_t ticks_of(double seconds) const { return std::llround(seconds / av_q2d(encoder_->time_base)); }

  /// Uses the source's time base, so that times stay exact, or that of the frame rate if a format or codec
  /// stores only rates.
  AVRational choose_time_base() {
    const bool has_rate = options_.frame_rate.num > 0;
    const AVRational rate = has_rate ? AVRational{static_cast<int>(options_.frame_rate.num),
                                                  static_cast<int>(options_.frame_rate.den)}
                                     : AVRational{25, 1};
    const bool by_rate = knows_only_rates(*format_->oformat) || codec_->id == AV_CODEC_ID_MPEG4 ||
                         codec_->id == AV_CODEC_ID_MPEG2VIDEO;
    encoder_->framerate = rate;
    if (by_rate) return av_inv_q(rate);
    return {static_cast<int>(options_.time_base.num), static_cast<int>(options_.time_base.den)};
  }

  void start(const Frame& frame) {
    width_ = frame.width;
    height_ = frame.height;
    const bool rgb = frame.format == PixelFormat::kRgb24;
    constexpr int64_t kHighDefinitionRows = 720;
    const AVColorSpace of_pictures =
        frame.height >= kHighDefinitionRows ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
    const PictureForm form{static_cast<int>(width_), static_cast<int>(height_), !rgb && frame.full_range,
                           rgb ? of_pictures : space_of(frame.matrix)};
    maker_ = std::make_unique<PictureMaker>(form);
    encoder_.reset(avcodec_alloc_context3(codec_));
    AVCodecContext& encoder = *encoder_;
    encoder.width = form.width + form.width % 2;
    encoder.height = form.height + form.height % 2;
    encoder.pix_fmt = AV_PIX_FMT_YUV420P;
    encoder.color_range = form.full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    encoder.colorspace = form.space;
    encoder.sample_aspect_ratio = {static_cast<int>(frame.pixel_aspect.num),
                                   static_cast<int>(frame.pixel_aspect.den)};
    encoder.time_base = choose_time_base();
    if (knows_only_rates(*format_->oformat)) encoder.max_b_frames = 0;
    encoder.thread_count = options_.threads;
    if ((format_->oformat->flags & AVFMT_GLOBALHEADER) != 0) encoder.flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    // Encoders that do not know these options have other ones, which keep their defaults.
    av_opt_set(encoder.priv_data, "preset", options_.preset.c_str(), 0);
    av_opt_set_int(encoder.priv_data, "crf", options_.crf, 0);
    // The default bit rate is too low: it is meant for thumbnails.
    if (codec_->id == AV_CODEC_ID_MPEG4 || codec_->id == AV_CODEC_ID_MPEG2VIDEO) {
      encoder.flags |= AV_CODEC_FLAG_QSCALE;
      encoder.global_quality = 4 * FF_QP2LAMBDA;
    }
    const int opened = avcodec_open2(&encoder, codec_, nullptr);
    if (opened < 0)
      fail_environment("the encoder {} does not start for frames of {} x {}: {}", codec_->name, width_,
                       height_, error_text(opened));
    add_streams();
  }

  void add_streams() {
    stream_ = avformat_new_stream(format_.get(), nullptr);
    if (stream_ == nullptr) fail_environment("out of memory for {}", file_);
    avcodec_parameters_from_context(stream_->codecpar, encoder_.get());
    // The codec tag that Apple's players know; they do not accept FFmpeg's default.
    const std::string_view name = format_->oformat->name;
    if (codec_->id == AV_CODEC_ID_HEVC && (name == "mp4" || name == "mov"))
      stream_->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1');
    stream_->time_base = encoder_->time_base;
    stream_->avg_frame_rate = encoder_->framerate;
    stream_->sample_aspect_ratio = encoder_->sample_aspect_ratio;
    if (!options_.audio_from.empty())
      audio_ = std::make_unique<AudioCopy>(options_.audio_from, format_.get(), &notes_);
    const std::string path = "file:" + pending_->path().string();
    av_freep(&format_->url);
    format_->url = av_strdup(path.c_str());
    check(avio_open(&format_->pb, path.c_str(), AVIO_FLAG_WRITE), "write");
    AVDictionary* settings = nullptr;
    // The index is written first, so that a browser can play before it has the whole file.
    av_dict_set(&settings, "movflags", "+faststart", 0);
    const int code = avformat_write_header(format_.get(), &settings);
    av_dict_free(&settings);
    check(code, "write");
  }

  void drain() {
    while (true) {
      const int code = avcodec_receive_packet(encoder_.get(), packet_.get());
      if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return;
      check(code, "encode");
      av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream_->time_base);
      packet_->stream_index = stream_->index;
      check(av_interleaved_write_frame(format_.get(), packet_.get()), "write");
      check(format_->pb->error, "write");
    }
  }

  std::string file_;
  WriteOptions options_;
  std::unique_ptr<base::PendingFile> pending_;
  OutputPointer format_;
  const AVCodec* codec_ = nullptr;
  CodecPointer encoder_;
  AVStream* stream_ = nullptr;
  PacketPointer packet_;
  std::unique_ptr<PictureMaker> maker_;
  std::unique_ptr<AudioCopy> audio_;
  std::vector<std::string> notes_;
  int64_t width_ = 0;
  int64_t height_ = 0;
  int64_t last_pts_ = -1;
  double last_seconds_ = 0;
  bool scaled_ = false;
};

}  // namespace
}  // namespace hone::media

extern "C" hone::media::FrameSink* hone_create_video(const std::string& file,
                                                     const hone::media::WriteOptions& options) {
  return new hone::media::VideoSink(file, options);
}
