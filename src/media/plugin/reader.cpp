// Reads videos and streams with FFmpeg: every frame once, in order of time, with its own colour format,
// rotated as it is to be shown. Damaged frames are counted and skipped.
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "media/plugin/camera.hpp"
#include "media/plugin/damage_log.hpp"
#include "media/plugin/gpu_decoder.hpp"
#include "media/plugin/patience.hpp"
#include "media/plugin/pictures.hpp"
#include "media/plugin/pipe_input.hpp"
#include "media/plugin/transport_stream.hpp"
#include "media/source.hpp"
#include "system/interruption.hpp"

namespace hone::media {
namespace {

/// Limit on pixels; a larger picture is probably an attempt to exhaust memory.
constexpr int64_t kMaxPixels = int64_t{1} << 26;
/// After this number of consecutive errors without a frame, a decoder that is being drained is given up.
constexpr int kMaxErrorsAtEnd = 1000;

/// The rotation from the stored picture to the shown picture.
struct Orientation {
  bool mirrored = false;
  int degrees = 0;   ///< clockwise, after mirroring
  bool odd = false;  ///< by an angle other than 90, 180 and 270
};

/// A matrix (a b; c d) takes the point x, y to a x + c y, b x + d y.
Orientation orientation_of(const int32_t* matrix) {
  Orientation result;
  if (matrix == nullptr) return result;
  double a = matrix[0];
  double b = matrix[1];
  const double c = matrix[3];
  const double d = matrix[4];
  result.mirrored = a * d - b * c < 0;
  if (result.mirrored) a = -a, b = -b;
  constexpr double kDegrees = 57.295779513082320876798;
  const double angle = std::atan2(b, a) * kDegrees;
  const int quarter = static_cast<int>(std::lround(angle / 90));
  result.odd = std::abs(angle - 90 * quarter) > 1;
  result.degrees = result.odd ? 0 : (quarter + 4) % 4 * 90;
  return result;
}

/// True if each packet gives exactly one frame, so that the difference is the number of lost frames. Other
/// codecs have packets with hidden frames.
bool is_one_for_one(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG1VIDEO ||
         codec == AV_CODEC_ID_MPEG2VIDEO || codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_PNG;
}

bool is_still(AVCodecID codec) {
  return codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_BMP ||
         codec == AV_CODEC_ID_TIFF || codec == AV_CODEC_ID_PGM || codec == AV_CODEC_ID_WEBP;
}

class VideoSource : public FrameSource {
 public:
  VideoSource(const std::string& input, const SourceOptions& options)
      : input_(input),
        options_(options),
        kind_(kind_of(input)),
        patience_(options, kind_ != Kind::kFile),
        packet_(av_packet_alloc()),
        picture_(av_frame_alloc()) {
    open();
    choose_stream();
    open_decoder();
    describe();
  }

  const SourceInfo& info() const override { return info_; }

  bool next(Frame* frame) override {
    while (!patience_.stopped()) {
      const int code = avcodec_receive_frame(decoder_.get(), picture_.get());
      if (code == 0) {
        if (take(frame)) return true;
        continue;
      }
      if (code == AVERROR_EOF) return false;
      if (code != AVERROR(EAGAIN)) {
        ++losses_.damaged;
        ++refused_;
        if (draining_ && ++errors_at_end_ > kMaxErrorsAtEnd) return false;
        continue;
      }
      feed();
    }
    return false;
  }

  void decode_on(const std::shared_ptr<DecodingDevice>& device) override {
    const AVCodec& codec = *decoder_->codec;
    const Orientation orientation = orientation_of(matrix_);
    gpu_ = std::make_unique<GpuDecoder>(device, codec, orientation.mirrored || orientation.degrees != 0);
    if (!gpu_->refusal()) start_decoder(codec);
  }

  std::string decoding() const override {
    return gpu_ == nullptr ? FrameSource::decoding() : gpu_->text(by_gpu_, frames_);
  }

  Losses losses() const override {
    Losses result = losses_;
    // In interlaced video, the two fields may come in separate packets.
    if (draining_ && is_one_for_one(decoder_->codec_id) && !interlaced_)
      result.skipped = std::max<int64_t>(0, packets_ - frames_ - refused_);
    result.container = log_.container_text();
    // A frame that a thread of the decoder conceals late has no flag.
    result.corrupt = std::max(result.corrupt, std::min(log_.concealed(), frames_));
    // A gap in time counts as a loss only if something was damaged, because frame rates can vary.
    const bool damaged = result.damaged > 0 || result.corrupt > 0 || log_.demuxer_errors() > 0;
    if (damaged) result.missing = std::max<int64_t>(0, gaps_ - result.skipped);
    add_promise(&result);
    add_duration(damaged, &result);
    const bool is_transport_stream = std::string_view(format_->iformat->name) == "mpegts";
    if (draining_ && is_transport_stream && info_.is_file && result.ended_early.empty() &&
        ends_within_packet(input_))
      result.ended_early = "the file ends within a packet";
    return result;
  }

 private:
  enum class Kind { kFile, kNetwork, kPipe, kCamera };
  static Kind kind_of(const std::string& input) {
    if (input.starts_with(kCameras)) return Kind::kCamera;
    if (is_pipe(input)) return Kind::kPipe;
    const bool is_url = input.find("://") != std::string::npos && !input.starts_with("file://");
    return is_url ? Kind::kNetwork : Kind::kFile;
  }

  /// Counts frames that the header claims but the file does not contain.
  void add_promise(Losses* result) const {
    if (!draining_ || patience_.stopped() || stream_->nb_frames <= all_packets_) return;
    const std::string sentence =
        fmt::format("the file's header promises {} frames, {} were there", stream_->nb_frames, all_packets_);
    // AVI and similar formats write the header before the number is known.
    const bool has_index = std::string_view(format_->iformat->name).find("mp4") != std::string_view::npos;
    if (has_index && result->ended_early.empty())
      result->ended_early = sentence;
    else
      result->sentences.push_back(sentence);
  }

  /// Compares the end of the last frame with the duration in the file's header, if the file has no other
  /// stream. In a file without gaps, the last frame cannot be so much longer than the others.
  void add_duration(bool damaged, Losses* result) const {
    const bool is_told = format_->nb_streams == 1 && stream_->nb_frames <= 0 &&
                         format_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM;
    if (!draining_ || patience_.stopped() || kind_ != Kind::kFile || !is_told || frames_ == 0) return;
    const double told = static_cast<double>(format_->duration) / AV_TIME_BASE;
    const double end = static_cast<double>(last_ticks_ + last_duration_) * av_q2d(stream_->time_base);
    const double frame = static_cast<double>(last_duration_) * av_q2d(stream_->time_base);
    // Headers may count the delay of frames that are reordered.
    constexpr double kFramesOfDelay = 5;
    if (told - end <= kFramesOfDelay * frame) return;
    const std::string sentence =
        fmt::format("the file's header promises {:.2f} s, and its last frame ends at {:.2f} s", told, end);
    if ((damaged || gaps_ == 0) && result->ended_early.empty())
      result->ended_early = sentence;
    else
      result->sentences.push_back(sentence);
  }

  [[noreturn]] void refuse(const std::string& sentence) const {
    throw Error(ErrorKind::kBadInput, sentence, shown_name());
  }
  [[noreturn]] void time_out() const {
    throw Error(ErrorKind::kEnvironment,
                fmt::format("it gave no frame for {:g} s (--timeout changes that)", options_.timeout_seconds),
                shown_name());
  }
  /// The input in messages.
  std::string shown_name() const { return input_ == kStandardInput ? "standard input" : input_; }

  void open() {
    if (kind_ == Kind::kPipe) pipe_ = std::make_unique<PipeInput>(input_, &patience_);
    const AVInputFormat* const camera = kind_ == Kind::kCamera ? camera_format(input_) : nullptr;
    const std::string address =
        camera != nullptr ? input_ : locator(input_ == kStandardInput ? "/dev/stdin" : input_);
    AVFormatContext* context = avformat_alloc_context();
    context->interrupt_callback = patience_.callback();
    if (pipe_ != nullptr) context->pb = pipe_->context();
    if (camera != nullptr) context->flags |= AVFMT_FLAG_NONBLOCK;
    AVDictionary* settings = nullptr;
    // A playlist in an untrusted file must not open network addresses.
    if (kind_ != Kind::kNetwork) av_dict_set(&settings, "protocol_whitelist", "file,crypto,data", 0);
    patience_.begin();
    const int code = avformat_open_input(&context, address.c_str(), camera, &settings);
    av_dict_free(&settings);
    if (code < 0) fail_to_open(code);
    format_.reset(context);
    patience_.begin();
    const DamageLog::Listener listener(&log_);
    const int found = avformat_find_stream_info(format_.get(), nullptr);
    if (found < 0) fail_to_open(found);
  }

  [[noreturn]] void fail_to_open(int code) const {
    if (patience_.timed_out()) time_out();
    if (patience_.stopped()) throw system::Interrupted{};
    const bool invalid = code == AVERROR_INVALIDDATA || code == AVERROR_EOF;
    if (invalid) refuse("this is no video that FFmpeg knows, or its beginning or index is missing");
    const bool is_remote = kind_ == Kind::kNetwork || kind_ == Kind::kCamera;
    throw Error(is_remote ? ErrorKind::kEnvironment : ErrorKind::kBadInput,
                fmt::format("FFmpeg cannot open it: {}", error_text(code)), shown_name());
  }

  void choose_stream() {
    int best = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (best >= 0 && (format_->streams[best]->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0) best = -1;
    for (unsigned i = 0; best < 0 && i < format_->nb_streams; ++i) {
      const AVStream* stream = format_->streams[i];
      if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
          (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0)
        best = static_cast<int>(i);
    }
    if (best < 0) refuse("it has no video stream");
    stream_ = format_->streams[best];
    for (unsigned i = 0; i < format_->nb_streams; ++i)
      if (static_cast<int>(i) != best) format_->streams[i]->discard = AVDISCARD_ALL;
  }

  void open_decoder() {
    const AVCodecParameters& parameters = *stream_->codecpar;
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (codec == nullptr) {
      char tag[AV_FOURCC_MAX_STRING_SIZE];
      if (parameters.codec_id == AV_CODEC_ID_NONE && parameters.codec_tag == 0)
        refuse("FFmpeg does not find out which codec it has; its beginning may be damaged");
      const std::string codec_name = parameters.codec_id == AV_CODEC_ID_NONE
                                         ? av_fourcc_make_string(tag, parameters.codec_tag)
                                         : avcodec_get_name(parameters.codec_id);
      refuse(fmt::format("this FFmpeg has no decoder for its codec, {}", codec_name));
    }
    start_decoder(*codec);
    reader_ = std::make_unique<PictureReader>(is_still(parameters.codec_id));
    matrix_ = reinterpret_cast<const int32_t*>(
        av_stream_get_side_data(stream_, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
  }

  void start_decoder(const AVCodec& codec) {
    decoder_.reset(avcodec_alloc_context3(&codec));
    avcodec_parameters_to_context(decoder_.get(), stream_->codecpar);
    decoder_->pkt_timebase = stream_->time_base;
    decoder_->thread_count = 0;
    decoder_->max_pixels = kMaxPixels;
    log_.watch(decoder_.get());
    if (gpu_ != nullptr && !gpu_->refusal()) gpu_->attach(decoder_.get());
    const int code = avcodec_open2(decoder_.get(), &codec, nullptr);
    if (code < 0) refuse(fmt::format("the decoder for {} does not start: {}", codec.name, error_text(code)));
  }

  void describe() {
    info_.format = fmt::format("{} in {}", avcodec_get_name(decoder_->codec_id), format_->iformat->name);
    info_.is_video = true;
    info_.live = kind_ == Kind::kCamera || kind_ == Kind::kPipe ||
                 (kind_ == Kind::kNetwork && format_->duration == AV_NOPTS_VALUE);
    std::error_code unknown;
    info_.is_file = kind_ == Kind::kFile && std::filesystem::is_regular_file(input_, unknown);
    info_.time_base = {stream_->time_base.num, stream_->time_base.den};
    const AVRational rate = av_guess_frame_rate(format_.get(), stream_, nullptr);
    if (rate.num > 0 && rate.den > 0) info_.frame_rate = {rate.num, rate.den};
    info_.width = decoder_->width;
    info_.height = decoder_->height;
    if (stream_->nb_frames > 0) {
      info_.frames_claimed = stream_->nb_frames;
    } else if (format_->duration > 0 && rate.num > 0) {
      info_.frames_claimed = av_rescale(format_->duration, rate.num, int64_t{rate.den} * AV_TIME_BASE);
    }
    if (format_->start_time != AV_NOPTS_VALUE)
      start_ticks_ = av_rescale_q(format_->start_time, AVRational{1, AV_TIME_BASE}, stream_->time_base);
  }

  int read_packet() {
    patience_.begin();
    const DamageLog::Listener listener(&log_);
    int code = av_read_frame(format_.get(), packet_.get());
    // A camera that has no frame yet does not wait for one.
    while (kind_ == Kind::kCamera && code == AVERROR(EAGAIN) && !patience_.is_over()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      code = av_read_frame(format_.get(), packet_.get());
    }
    return code;
  }

  /// Sends the next packet of the video, or the end, to the decoder.
  void feed() {
    const int code = read_packet();
    if (code < 0) {
      if (patience_.timed_out()) {
        if (frames_ == 0) time_out();
        losses_.ended_early =
            fmt::format("the stream gave no frame for {:g} s and was ended (--timeout changes that)",
                        options_.timeout_seconds);
      } else if (code != AVERROR_EOF && !patience_.stopped()) {
        losses_.ended_early = fmt::format("reading ended early: {}", error_text(code));
      }
      draining_ = true;
      avcodec_send_packet(decoder_.get(), nullptr);
      return;
    }
    if (packet_->stream_index == stream_->index) {
      ++all_packets_;
      if ((packet_->flags & AV_PKT_FLAG_DISCARD) == 0) ++packets_;
      if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) ++losses_.damaged;
      // The decoder has no more frames to give, so a refusal of the packet is final.
      if (avcodec_send_packet(decoder_.get(), packet_.get()) < 0) ++losses_.damaged, ++refused_;
    }
    av_packet_unref(packet_.get());
  }

  /// Returns false for a picture that cannot be used.
  bool take(Frame* frame) {
    const AVFrame& picture = *picture_;
    if (picture.width <= 0 || picture.height <= 0) return false;
    if (picture.decode_error_flags != 0 || (picture.flags & AV_FRAME_FLAG_CORRUPT) != 0) ++losses_.corrupt;
    if (picture.interlaced_frame != 0 && !interlaced_) {
      interlaced_ = true;
      losses_.sentences.emplace_back(
          "the video is interlaced: its frames are used whole, both fields in one");
    }
    remember_matrix();
    const Orientation orientation = orientation_of(matrix());
    if (orientation.odd && frames_ == 0)
      losses_.sentences.emplace_back(
          "the video is turned by an angle that is no quarter, which is left as it is");
    read(orientation, frame);
    if (orientation.mirrored) *frame = mirrored(*frame);
    *frame = turned(*frame, orientation.degrees);
    set_time(frame);
    ++frames_;
    errors_at_end_ = 0;
    av_frame_unref(picture_.get());
    return true;
  }

  /// Reads the picture without rotation. A picture on a GPU stays there if it needs no rotation.
  void read(const Orientation& orientation, Frame* frame) {
    const AVFrame& picture = *picture_;
    const bool turnable = orientation.degrees % 180 != 0;
    if (!GpuDecoder::holds(picture)) {
      *frame = reader_->read(picture, turnable);
      return;
    }
    ++by_gpu_;
    if (orientation.mirrored || orientation.degrees != 0) {
      *frame = reader_->read(*on_host(picture), turnable);
      return;
    }
    *frame = gpu_->frame_of(picture);
    PictureReader::describe(picture, frame);
  }

  /// The codec gives the orientation with some pictures; it stays valid until a key frame without one.
  void remember_matrix() {
    const AVFrameSideData* data = av_frame_get_side_data(picture_.get(), AV_FRAME_DATA_DISPLAYMATRIX);
    if (data != nullptr) {
      own_matrix_.emplace();
      std::memcpy(own_matrix_->data(), data->data, sizeof(*own_matrix_));
    } else if (picture_->key_frame != 0) {
      own_matrix_.reset();
    }
  }

  /// The container's matrix has priority over the codec's.
  const int32_t* matrix() const {
    if (matrix_ != nullptr) return matrix_;
    return own_matrix_ ? own_matrix_->data() : nullptr;
  }

  /// If a time is missing or does not rise (as in joined files), it is derived from the previous frame.
  void set_time(Frame* frame) {
    int64_t duration = picture_->pkt_duration;
    if (duration <= 0 && info_.frame_rate.num > 0)
      duration = av_rescale_q(
          1, AVRational{static_cast<int>(info_.frame_rate.den), static_cast<int>(info_.frame_rate.num)},
          stream_->time_base);
    duration = std::max<int64_t>(duration, 1);
    int64_t ticks = picture_->best_effort_timestamp;
    ticks = ticks == AV_NOPTS_VALUE ? last_ticks_ + duration : ticks - start_ticks_ + shift_ticks_;
    if (frames_ > 0 && ticks <= last_ticks_) {
      shift_ticks_ += last_ticks_ + duration - ticks;
      ticks = last_ticks_ + duration;
    }
    if (frames_ == 0 && picture_->best_effort_timestamp == AV_NOPTS_VALUE) ticks = 0;
    if (frames_ > 0) gaps_ += std::max<int64_t>(0, (ticks - last_ticks_ + duration / 2) / duration - 1);
    last_ticks_ = ticks;
    last_duration_ = duration;
    frame->ticks = ticks;
    frame->seconds = static_cast<double>(ticks) * av_q2d(stream_->time_base);
  }

  std::string input_;
  SourceOptions options_;
  Kind kind_;
  Patience patience_;
  DamageLog log_;
  std::unique_ptr<PipeInput> pipe_;  ///< outlives format_
  PacketPointer packet_;
  FramePointer picture_;
  InputPointer format_;
  AVStream* stream_ = nullptr;
  std::unique_ptr<GpuDecoder> gpu_;  ///< if a device was offered
  CodecPointer decoder_;
  std::unique_ptr<PictureReader> reader_;
  const int32_t* matrix_ = nullptr;
  std::optional<std::array<int32_t, 9>> own_matrix_;
  SourceInfo info_;
  Losses losses_;
  bool draining_ = false;
  bool interlaced_ = false;
  int errors_at_end_ = 0;
  int64_t all_packets_ = 0;
  int64_t packets_ = 0;  ///< packets of frames that are to be shown
  int64_t refused_ = 0;  ///< packets that the decoder refused
  int64_t gaps_ = 0;     ///< frames that would fill the gaps in time
  int64_t frames_ = 0;
  int64_t by_gpu_ = 0;  ///< frames that the GPU decoded
  int64_t start_ticks_ = 0;
  int64_t shift_ticks_ = 0;
  int64_t last_ticks_ = 0;
  int64_t last_duration_ = 0;
};

}  // namespace
}  // namespace hone::media

extern "C" hone::media::FrameSource* hone_open_video(const std::string& input,
                                                     const hone::media::SourceOptions& options) {
  return new hone::media::VideoSource(input, options);
}
