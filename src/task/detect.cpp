// See detect.hpp.
#include "task/detect.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "system/cpu.hpp"
#include "system/interruption.hpp"
#include "task/draw_detections.hpp"
#include "task/losses.hpp"
#include "task/stage.hpp"
#include "task/tracker.hpp"

namespace hone::task {
namespace {

/// Capacity of the queue between two stages, in batches.
constexpr size_t kPlaces = 4;
/// Threshold for average precision, which also needs detections below the threshold for display.
constexpr float kLowestScore = 0.005f;
constexpr double kProgressSeconds = 0.25;

struct Item {
  media::Frame frame;
  Geometry geometry;
  FrameResult result;
};

struct Batch {
  std::vector<Item> items;
  size_t stream = 0;  ///< the stream that computes it
  /// Either an upload on its way to the network's device, or a tensor that the host has filled.
  std::optional<DeviceFrames::Upload> upload;
  tensor::Tensor input;
  NetworkOutputs outputs;
};

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

DetectorOptions with_low_scores(const DetectRequest& request) {
  DetectorOptions options = request.detector;
  // Average precision and tracking also need detections that are not shown.
  if (!request.ground_truth.empty()) options.threshold = std::min(options.threshold, kLowestScore);
  if (request.track) options.threshold = std::min(options.threshold, Tracker::kLowScore);
  return options;
}

/// Adds the model's file to errors, because this command reads two files.
Detector load_detector(const DetectRequest& request) {
  const std::string& model = request.detector.network.model;
  try {
    return Detector(with_low_scores(request));
  } catch (const Error& error) {
    const bool named = error.where().starts_with(model) || error.where() == request.detector.labels;
    if (error.kind() != ErrorKind::kBadInput || (named && !error.where().empty())) throw;
    throw error.within(model);
  }
}

std::optional<GroundTruth> truth_of(const DetectRequest& request) {
  if (request.ground_truth.empty()) return std::nullopt;
  return read_ground_truth(request.ground_truth);
}

/// The data that the threads of one run share.
class Run {
 public:
  explicit Run(const DetectRequest& request)
      : request_(request),
        begun_(base::Clock::now()),
        source_(media::open_source(request.input, {request.timeout_seconds, request.stop})),
        sink_(request.video.empty() ? nullptr : media::create_video(request.video, encoding())),
        truth_(truth_of(request)),
        detector_(load_detector(request)),
        text_(request.format.value_or(ResultFormat::kJsonLines), detector_.names(),
              truth_ ? truth_->image_ids : ImageIds()) {
    if (request.decode_on_device) ask_for_decoder();
    if (truth_) name_classes(detector_.names(), &*truth_);
    if (request.track) tracker_.emplace(frame_rate());
    for (StageTimes* times : {&decode_times_, &preprocess_times_}) times_.push_back(times);
    for (StageTimes& times : infer_times_) times_.push_back(&times);
    times_.push_back(&postprocess_times_);
    if (draws()) times_.push_back(&draw_times_);
    times_.push_back(&write_times_);
    for (StageTimes* times : times_) times->keeps_spans = request.timeline;
  }

  DetectOutcome run() {
    const double startup = base::seconds_since(begun_);
    const auto start = base::Clock::now();
    const double cpu_before = processor_seconds();
    std::vector<std::thread> threads = start_threads();
    show_progress(start);
    for (std::thread& thread : threads) thread.join();
    failure_.rethrow();
    if (frames_ == 0) refuse_nothing();
    const auto finishing = base::Clock::now();
    if (request_.results) request_.results(text_.end());
    if (sink_ != nullptr) sink_->finish();
    // Adds the time in which the encoder writes its delayed frames and the file's index.
    if (!write_times_.busy_seconds.empty())
      write_times_.busy_seconds.back() += base::seconds_since(finishing);
    return outcome(startup, base::seconds_since(start), processor_seconds() - cpu_before);
  }

 private:
  double frame_rate() const {
    const media::Rational rate = source_->info().frame_rate;
    return rate.num > 0 ? static_cast<double>(rate.num) / static_cast<double>(rate.den) : 25;
  }

  media::WriteOptions encoding() const {
    media::WriteOptions options = request_.encoding;
    options.time_base = source_->info().time_base;
    options.frame_rate = source_->info().frame_rate;
    // The sound is read by opening the input a second time.
    const bool is_named =
        source_->info().is_video && !source_->info().live && request_.input != media::kStandardInput;
    if (is_named && !request_.realtime && request_.keep_sound) options.audio_from = request_.input;
    return options;
  }

  [[noreturn]] void refuse_nothing() const {
    if (stopped()) throw system::Interrupted{};
    DetectOutcome outcome;
    say_losses(source_->losses(), &outcome);
    std::string why;
    for (const std::string& loss : outcome.losses) why += (why.empty() ? ": " : ", ") + loss;
    throw Error(ErrorKind::kBadInput, "no frame could be read" + why, request_.input);
  }

  void ask_for_decoder() {
    const auto device = detector_.decoding_device();
    if (device != nullptr)
      source_->decode_on(device);
    else
      no_decoder_ = detector_.preprocessing();
  }

  bool draws() const { return sink_ != nullptr || request_.show; }
  bool stopped() const { return request_.stop != nullptr && *request_.stop; }

  /// The streams share the places between two stages.
  size_t lane_places() const { return std::max<size_t>(1, kPlaces / detector_.streams()); }

  std::vector<std::thread> start_threads() {
    std::vector<std::thread> threads;
    const auto begin = [&](StageTimes* times, auto work) {
      {
        const std::lock_guard lock(mutex_);
        ++running_;
      }
      threads.emplace_back([this, times, work] {
        times->thread = ::gettid();
        try {
          work();
        } catch (...) {
          failure_.keep(std::current_exception());
          for (BoundedQueue<Batch>* queue : {&read_, &decoded_, &drawn_}) queue->give_up();
          for (Lanes<Batch>* lanes : {&filled_, &inferred_}) lanes->give_up();
        }
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_all();
      });
    };
    begin(&decode_times_, [this] { decode(); });
    begin(&preprocess_times_, [this] {
      run_stage<Batch>(&preprocess_times_, read_, &filled_, [this](Batch* batch) { preprocess(batch); });
    });
    for (size_t i = 0; i < infer_times_.size(); ++i)
      begin(&infer_times_[i], [this, i] {
        run_stage<Batch>(&infer_times_[i], filled_.lane(i), &inferred_.lane(i),
                         [this](Batch* batch) { infer(batch); });
      });
    BoundedQueue<Batch>& last = draws() ? drawn_ : decoded_;
    begin(&postprocess_times_, [this] {
      run_stage<Batch>(&postprocess_times_, inferred_, &decoded_,
                       [this](Batch* batch) { postprocess(batch); });
    });
    if (draws())
      begin(&draw_times_, [this] {
        run_stage<Batch>(&draw_times_, decoded_, &drawn_, [this](Batch* batch) { draw(batch); });
      });
    begin(&write_times_, [this, &last] {
      run_stage<Batch>(&write_times_, last, static_cast<BoundedQueue<Batch>*>(nullptr),
                       [this](Batch* batch) { write(batch); });
    });
    return threads;
  }

  /// With --realtime on a file, waits until the time at which a camera would have delivered the frame.
  /// Network streams have their own pace. Returns at once if the run is being stopped.
  void keep_pace(const media::Frame& frame, base::Clock::time_point start) {
    if (!request_.realtime || !source_->info().is_file) return;
    // Damaged files may contain any time.
    constexpr double kLongest = 1e8;
    const std::chrono::duration<double> after(std::clamp(frame.seconds, 0.0, kLongest));
    const auto due = start + std::chrono::duration_cast<base::Clock::duration>(after);
    constexpr auto kSlice = std::chrono::milliseconds(50);
    while (!stopped()) {
      const auto now = base::Clock::now();
      if (now >= due || read_.is_given_up_by(std::min(due, now + kSlice))) return;
    }
  }

  void decode() {
    const auto start = base::Clock::now();
    int64_t number = 0;
    bool more = true;
    while (more && !stopped() && !read_.is_given_up()) {
      Batch batch;
      while (static_cast<int64_t>(batch.items.size()) < detector_.batch()) {
        const auto asked = base::Clock::now();
        Item item;
        more = number < request_.most_frames.value_or(INT64_MAX) && source_->next(&item.frame);
        if (!more) break;
        count_busy(number, 1, asked, base::Clock::now(), &decode_times_);
        item.result.frame = number++;
        item.result.name = source_->name();
        item.result.seconds = item.frame.seconds;
        item.result.width = item.frame.width;
        item.result.height = item.frame.height;
        keep_pace(item.frame, start);
        batch.items.push_back(std::move(item));
      }
      if (batch.items.empty()) break;
      const auto done = base::Clock::now();
      if (request_.realtime) {
        if (const auto lost = read_.push_over(std::move(batch)))
          dropped_ += static_cast<int64_t>(lost->items.size());
      } else if (!read_.push(std::move(batch))) {
        return;
      }
      decode_times_.waits_output += base::seconds_since(done);
    }
    read_.close();
  }

  void preprocess(Batch* batch) {
    std::vector<const media::Frame*> frames;
    std::vector<Geometry> geometries;
    for (Item& item : batch->items) {
      item.geometry = detector_.place(item.frame.width, item.frame.height);
      frames.push_back(&item.frame);
      geometries.push_back(item.geometry);
    }
    batch->stream = filled_.turn();
    batch->upload = detector_.upload(batch->stream, frames, geometries);
    if (!batch->upload) fill_on_host(batch);
    // Releases frames on which nothing is drawn.
    if (draws()) return;
    for (Item& item : batch->items) item.frame = {};
  }

  void fill_on_host(Batch* batch) {
    batch->input = detector_.make_input();
    for (Item& item : batch->items) item.frame = detector_.on_host(item.frame);
    for (size_t row = 0; row < static_cast<size_t>(detector_.batch()); ++row) {
      // The last image fills a partial batch.
      const Item& item = batch->items[std::min(row, batch->items.size() - 1)];
      detector_.fill(item.frame, item.geometry, static_cast<int64_t>(row), &batch->input);
    }
  }

  void infer(Batch* batch) {
    std::vector<Geometry> geometries;
    for (const Item& item : batch->items) geometries.push_back(item.geometry);
    batch->outputs = batch->upload ? detector_.run(batch->stream, *batch->upload)
                                   : detector_.run(batch->stream, batch->input, geometries);
    batch->upload.reset();
    batch->input = {};
  }

  void postprocess(Batch* batch) {
    for (size_t i = 0; i < batch->items.size(); ++i) {
      FrameResult& result = batch->items[i].result;
      result.detections = detector_.decode(batch->outputs, static_cast<int64_t>(i), batch->items[i].geometry);
      if (truth_) judged_.push_back(result);
      if (tracker_) tracker_->follow(&result.detections);
      const float threshold = request_.detector.threshold;
      std::erase_if(result.detections, [&](const Detection& found) { return !(found.score > threshold); });
    }
    batch->outputs = {};
  }

  void draw(Batch* batch) {
    for (Item& item : batch->items) {
      item.frame = draw_detections(detector_.on_host(item.frame), item.result.detections, detector_.names());
      if (request_.show) request_.show(item.frame);
    }
  }

  void write(Batch* batch) {
    for (Item& item : batch->items) {
      if (request_.results) request_.results(text_.of(item.result));
      if (sink_ != nullptr) sink_->write(item.frame);
      found_ += static_cast<int64_t>(item.result.detections.size());
      ++frames_;
    }
  }

  void show_progress(base::Clock::time_point start) {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return running_ == 0; };
    while (!ended_.wait_for(lock, std::chrono::duration<double>(kProgressSeconds), is_over)) {
      if (!request_.progress) continue;
      base::Progress progress;
      progress.done_seconds = base::seconds_since(start);
      const auto frames = static_cast<double>(frames_.load());
      auto claimed = source_->info().frames_claimed;
      if (request_.most_frames) claimed = std::min(claimed.value_or(INT64_MAX), *request_.most_frames);
      const double rate = frames / progress.done_seconds;
      progress.left_seconds = claimed && frames > 0
                                  ? std::max(0.0, static_cast<double>(*claimed) - frames) / rate
                                  : std::numeric_limits<double>::infinity();
      progress.doing = fmt::format("frame {}{}, {:.1f} FPS", frames_.load(),
                                   claimed ? fmt::format(" of {}", *claimed) : "", rate);
      request_.progress(progress);
    }
  }

  DetectOutcome outcome(double startup, double wall, double cpu) {
    DetectOutcome outcome;
    PipelineReport& report = outcome.report;
    const NetworkOptions& network = request_.detector.network;
    report.model = network.model;
    report.backend = network.backend;
    report.device = network.device;
    report.precision = network.precision;
    report.input = request_.input;
    report.input_width = detector_.input().width;
    report.input_height = detector_.input().height;
    report.batch = detector_.batch();
    report.streams = static_cast<int64_t>(detector_.streams());
    const media::Losses losses = source_->losses();
    report.frames = frames_;
    report.dropped = dropped_;
    report.damaged = losses.damaged;
    report.corrupt = losses.corrupt;
    report.skipped = losses.skipped;
    report.missing = losses.missing;
    report.detections = found_;
    report.startup_seconds = startup;
    report.wall_seconds = wall;
    report.cpu_seconds_a_frame = cpu / static_cast<double>(report.frames);
    std::vector<StageTimes> times;
    for (const StageTimes* stage : times_) times.push_back(*stage);
    judge_stages(times, system::usable_cores(), &report);
    if (request_.timeline) outcome.timeline = std::move(times);
    if (truth_)
      outcome.accuracy = measure_accuracy(*truth_, judged_, detector_.names(), request_.detector.threshold);
    outcome.stopped = stopped();
    say_losses(losses, &outcome);
    outcome.decoding = no_decoder_.empty() ? source_->decoding() : no_decoder_;
    outcome.preprocessing = detector_.preprocessing();
    report.transfers = report_transfers(detector_.traffic(), report.frames);
    outcome.notes = detector_.notes();
    if (outcome.accuracy)
      for (const std::string& note : outcome.accuracy->notes) outcome.notes.push_back(note);
    outcome.notes.push_back("frames are " + source_->info().format);
    if (truth_)
      for (const std::string& text : truth_->assumed) outcome.notes.push_back("ground truth: " + text);
    if (sink_ != nullptr) {
      outcome.notes.push_back(fmt::format("{} was encoded by {}", request_.video, sink_->codec()));
      for (const std::string& note : sink_->notes()) outcome.notes.push_back(note);
    }
    for (const std::string& sentence : losses.sentences) outcome.notes.push_back(sentence);
    return outcome;
  }

  void say_losses(const media::Losses& losses, DetectOutcome* outcome) const {
    outcome->losses = loss_texts(losses, source_->info().is_video);
    add_loss(dropped_, "frame was", "frames were", "dropped because the pipeline was behind (--realtime)",
             &outcome->losses);
  }

  const DetectRequest& request_;
  base::Clock::time_point begun_;
  std::unique_ptr<media::FrameSource> source_;
  /// Opened before the network is loaded, so that errors in them appear early.
  std::unique_ptr<media::FrameSink> sink_;
  std::optional<GroundTruth> truth_;
  Detector detector_;
  ResultText text_;
  std::string no_decoder_;  ///< why no device decodes although it was requested
  std::optional<Tracker> tracker_;

  BoundedQueue<Batch> read_{kPlaces};
  /// Batches that a device fills have a fixed number of places there.
  Lanes<Batch> filled_{detector_.streams(),
                       detector_.feeds_device() ? DeviceFrames::kWaiting : lane_places()};
  Lanes<Batch> inferred_{detector_.streams(), lane_places()};
  BoundedQueue<Batch> decoded_{kPlaces};
  BoundedQueue<Batch> drawn_{kPlaces};
  StageTimes decode_times_{.name = "decode"};
  StageTimes preprocess_times_{.name = "preprocess"};
  std::vector<StageTimes> infer_times_{detector_.streams(), StageTimes{.name = "infer"}};
  StageTimes postprocess_times_{.name = "postprocess"};
  StageTimes draw_times_{.name = "draw"};
  StageTimes write_times_{.name = "write"};
  std::vector<StageTimes*> times_;

  Failure failure_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
  std::atomic<int64_t> frames_ = 0;
  int64_t found_ = 0;
  std::atomic<int64_t> dropped_ = 0;
  std::vector<FrameResult> judged_;
};

}  // namespace

DetectOutcome detect(const DetectRequest& request) { return Run(request).run(); }

}  // namespace hone::task
