// See classify.hpp.
#include "task/classify.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "media/planar.hpp"
#include "task/class_scores.hpp"
#include "task/frame_feed.hpp"
#include "task/losses.hpp"
#include "task/names.hpp"
#include "task/preprocess.hpp"
#include "task/stage.hpp"
#include "task/true_classes.hpp"

namespace hone::task {
namespace {

const std::vector<float> kImageNetMean{0.485f, 0.456f, 0.406f};
const std::vector<float> kImageNetStd{0.229f, 0.224f, 0.225f};
/// Side of the centre crop as a share of the resized image's shorter side, as is usual in evaluation.
constexpr double kCropShare = 0.875;

bool tells_preprocessing(const importer::Metadata& metadata) {
  return std::any_of(metadata.begin(), metadata.end(),
                     [](const auto& entry) { return entry.first.starts_with("image."); });
}

/// True if the network was trained on values of 0..1 without a mean, and without a crop of the shorter side.
bool is_plain(const importer::Metadata& metadata) {
  return metadata.contains("task") || metadata.contains("darknet.width");
}

/// Converts the frame to an image, with one channel if the network's input is grey.
importer::Image image_of(const media::Frame& frame, int64_t channels) {
  const media::PlanarImage image = media::to_rgb(frame);
  if (channels == 3) return media::interleaved(image);
  importer::Image result{image.width, image.height, 1, {}};
  for (size_t i = 0; i < image.planes[0].size(); ++i)
    result.pixels.push_back(static_cast<uint8_t>(
        (299 * image.planes[0][i] + 587 * image.planes[1][i] + 114 * image.planes[2][i] + 500) / 1000));
  return result;
}

/// Images that go through the network in one run.
struct Batch {
  std::vector<media::Frame> frames;
  std::vector<ImageClasses> results;
  size_t stream = 0;  ///< the stream that computes it
  /// Either an upload on its way to the network's device, or a tensor that the host has filled.
  std::optional<DeviceFrames::Upload> upload;
  tensor::Tensor input;
  tensor::Tensor scores;
};

/// prepare(), run() of each stream, and name_classes() may each be called from a different thread.
class Classifier {
 public:
  explicit Classifier(const ClassifyRequest& request)
      : request_(request), network_(with_usual_side(request.network)) {
    choose_preprocessing();
    Refusal refusal = input_refusal(input());
    feed_ = refusal ? FrameFeed(std::move(refusal)) : FrameFeed(network_.bind_frames(target()));
    names_ = request.labels.empty() ? names_from(network_.model().metadata) : read_names(request.labels);
  }

  const ImageInput& input() const { return network_.input(); }
  size_t streams() const { return network_.streams(); }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes = network_.notes();
    notes.push_back(assumed_);
    if (network_.place().kind != tensor::PlaceKind::kCpu)
      notes.push_back("images were preprocessed " + feed_.text());
    return notes;
  }

  /// Fills the input of the batch's stream from the frames, and releases the frames.
  void prepare(Batch* batch) {
    std::vector<const media::Frame*> pointers;
    for (const media::Frame& frame : batch->frames) pointers.push_back(&frame);
    batch->upload =
        feed_.upload(batch->stream, pointers, [&](size_t i) { return form_of(batch->frames[i]); });
    if (!batch->upload) {
      std::vector<importer::Image> images;
      for (const media::Frame& frame : batch->frames) images.push_back(image_of(frame, input().channels));
      batch->input = tensor_of(images);
    }
    batch->frames.clear();
  }

  void run(Batch* batch) {
    const std::vector<Network::Size> sizes(batch->results.size());
    batch->scores = (batch->upload ? feed_.run(batch->stream, *batch->upload).tensors
                                   : network_.run(batch->input, sizes, batch->stream))
                        .at(0);
    batch->upload.reset();
    batch->input = {};
  }

  /// Fills in the classes of each image.
  void name_classes(const tensor::Tensor& scores, TrueClasses* truth, std::vector<ImageClasses>* results) {
    const auto rows = static_cast<size_t>(input().batch);
    const auto values = scores.to_double();
    const tensor::Shape& shape = scores.shape();
    const bool sound = !values.empty() && values.size() % rows == 0 &&
                       (scores.rank() <= 1 || shape[0] == input().batch) &&
                       std::count_if(shape.begin() + (scores.rank() <= 1 ? 0 : 1), shape.end(),
                                     [](int64_t side) { return side != 1; }) <= 1;
    if (!sound)
      fail_bad_input(
          "its first output [{}] is no row of class scores for each image; hone run -o FILE.npz writes "
          "outputs of every shape",
          tensor::shape_text(shape));
    const size_t width = values.size() / rows;
    if (!request_.labels.empty() && names_.size() != width)
      throw Error(ErrorKind::kBadInput, other_count_text(names_.size(), static_cast<int64_t>(width)),
                  request_.labels);
    if (truth != nullptr && width_ == 0) truth->settle(names_, static_cast<int64_t>(width));
    width_ = width;
    for (size_t i = 0; i < results->size(); ++i) {
      const auto row = std::span(values).subspan(i * width, width);
      const auto shares = probabilities(row);
      for (const size_t index : likeliest(row, request_.top)) {
        const auto label = static_cast<int64_t>(index);
        (*results)[i].classes.push_back({label, name_of(names_, label), shares[index], row[index]});
      }
      if (truth != nullptr) judge(row, shares, truth, &(*results)[i]);
    }
  }

 private:
  void judge(std::span<const double> row, const std::vector<double>& shares, const TrueClasses* truth,
             ImageClasses* image) const {
    const int64_t label = truth->class_of(image->file);
    const auto index = static_cast<size_t>(label);
    image->truth = ClassScore{label, name_of(names_, label), shares[index], row[index]};
    image->truth_rank = 1;
    // If scores are equal, the lower index comes first, as in likeliest().
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] > row[index] || (row[i] == row[index] && i < index)) ++image->truth_rank;
    }
  }

  static NetworkOptions with_usual_side(NetworkOptions options) {
    options.usual_side = 224;
    return options;
  }

  void choose_preprocessing() {
    const importer::Metadata& metadata = network_.model().metadata;
    preprocessing_ = importer::preprocessing_from(metadata);
    const int64_t side = std::min(input().width, input().height);
    assumed_ = "images are fitted as the model's metadata say";
    if (!tells_preprocessing(metadata)) {
      const bool plain = is_plain(metadata) || input().channels == 1;
      preprocessing_.resize = plain ? side : std::lround(static_cast<double>(side) / kCropShare);
      preprocessing_.crop = side;
      if (!plain) preprocessing_.mean = kImageNetMean, preprocessing_.std = kImageNetStd;
      assumed_ = fmt::format("assumed: the shorter side becomes {}, the middle of {} is taken, {}",
                             preprocessing_.resize, side,
                             plain ? "values are 0..1" : "less ImageNet's mean, by its standard deviation");
    }
    const auto& flags = request_.preprocess;
    preprocessing_.resize = flags.resize.value_or(preprocessing_.resize);
    preprocessing_.crop = flags.crop.value_or(preprocessing_.crop);
    preprocessing_.scale = flags.scale.value_or(preprocessing_.scale);
    if (!flags.mean.empty()) preprocessing_.mean = flags.mean;
    if (!flags.std.empty()) preprocessing_.std = flags.std;
    if (flags.crop) preprocessing_.fault.crop = ErrorKind::kUsage;
    if (!flags.mean.empty()) preprocessing_.fault.mean = ErrorKind::kUsage;
    if (!flags.std.empty()) preprocessing_.fault.std = ErrorKind::kUsage;
    // A square centre crop cannot fill an input that is not square.
    if (input().width == input().height) return;
    if (!flags.resize && !flags.crop) preprocessing_.resize = preprocessing_.crop = 0;
  }

  bool takes_whole_images() const { return preprocessing_.resize == 0 && preprocessing_.crop == 0; }

  engine::FrameTarget target() const {
    engine::FrameTarget target = target_of(input());
    for (size_t c = 0; c < 3; ++c)
      target.levels[c] = importer::level_values(preprocessing_, static_cast<int64_t>(c), 3);
    return target;
  }

  /// Describes for a device what tensor_of() does on the host.
  FrameForm form_of(const media::Frame& frame) const {
    if (takes_whole_images())
      return antialiased_form(frame, {input().width, 0, input().width}, {input().height, 0, input().height},
                              0, 0);
    const importer::ImageCut cut = importer::cut_of(preprocessing_, frame.width, frame.height);
    ImageInput found = input();
    found.width = cut.part_width;
    found.height = cut.part_height;
    require_shape(found.shape());
    return antialiased_form(frame, {cut.width, cut.left, cut.part_width},
                            {cut.height, cut.top, cut.part_height}, 0, 0);
  }

  void require_shape(const tensor::Shape& found) const {
    if (found != input().shape())
      fail_usage("images become {}, the input is {}: --resize and --crop decide", tensor::shape_text(found),
                 tensor::shape_text(input().shape()));
  }

  /// Repeats the last image to fill a partial batch.
  tensor::Tensor tensor_of(const std::vector<importer::Image>& images) const {
    std::vector<importer::Image> all;
    const ImageInput& form = input();
    for (size_t i = 0; i < static_cast<size_t>(form.batch); ++i) {
      const importer::Image& image = images[std::min(i, images.size() - 1)];
      all.push_back(takes_whole_images() ? importer::resize_image(image, form.width, form.height) : image);
    }
    const auto layout = form.channels_last ? importer::Layout::kNhwc : importer::Layout::kNchw;
    tensor::Tensor tensor = importer::images_to_tensor(all, preprocessing_, layout);
    tensor::Shape found = tensor.shape();
    if (!form.has_batch) found.erase(found.begin());
    require_shape(found);
    return tensor.reshaped(found);
  }

  const ClassifyRequest& request_;
  Network network_;
  importer::Preprocessing preprocessing_;
  std::vector<std::string> names_;
  std::string assumed_;
  FrameFeed feed_;
  size_t width_ = 0;  ///< number of classes, known after the first outputs
};

/// Reads and prepares batches in one thread, computes those of each stream in another thread, and returns
/// them in order.
class Batches {
 public:
  Batches(media::FrameSource& source, Classifier& classifier, const ClassifyRequest& request)
      : source_(source),
        classifier_(classifier),
        most_(request.most_images.value_or(INT64_MAX)),
        stop_(request.stop) {
    threads_.emplace_back([this] { read(); });
    for (size_t i = 0; i < classifier.streams(); ++i) threads_.emplace_back([this, i] { compute(i); });
  }
  ~Batches() { end(); }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  /// Returns nothing at the end. Throws the error of a batch at the place of that batch in the order.
  std::optional<Batch> next() {
    std::optional<Batch> batch = computed_.pop();
    if (batch) return batch;
    end();
    failure_.rethrow();
    return batch;
  }
  /// Drops batches that nobody has taken.
  void end() {
    for (Lanes<Batch>* lanes : {&prepared_, &computed_}) lanes->give_up();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  bool stopped() const { return stop_ != nullptr && *stop_; }

  /// Returns false at the end of the input.
  bool read_batch(Batch* batch) {
    for (media::Frame frame; static_cast<int64_t>(batch->frames.size()) < classifier_.input().batch;) {
      if (images_ == most_ || !source_.next(&frame)) return false;
      batch->results.push_back({images_++, source_.name(), frame.seconds, {}});
      batch->frames.push_back(std::move(frame));
    }
    return true;
  }

  void read() {
    try {
      for (bool more = true; more && !stopped();) {
        Batch batch;
        more = read_batch(&batch);
        if (batch.frames.empty()) break;
        batch.stream = prepared_.turn();
        classifier_.prepare(&batch);
        if (!prepared_.push(std::move(batch))) return;
      }
    } catch (...) {
      failure_.keep(std::current_exception());
    }
    prepared_.close();
  }

  void compute(size_t stream) {
    try {
      while (std::optional<Batch> batch = prepared_.lane(stream).pop()) {
        classifier_.run(&*batch);
        if (!computed_.lane(stream).push(std::move(*batch))) return;
      }
    } catch (...) {
      failure_.keep(std::current_exception());
      prepared_.lane(stream).give_up();
    }
    computed_.lane(stream).close();
  }

  media::FrameSource& source_;
  Classifier& classifier_;
  int64_t most_;
  const std::atomic<bool>* stop_;
  int64_t images_ = 0;
  Lanes<Batch> prepared_{classifier_.streams(), 1};
  Lanes<Batch> computed_{classifier_.streams(), 1};
  Failure failure_;
  std::vector<std::thread> threads_;
};

void count(const ImageClasses& image, TopAccuracy* accuracy) {
  constexpr int64_t kFew = 5;
  ++accuracy->images;
  accuracy->top1 += image.truth_rank == 1 ? 1 : 0;
  accuracy->top5 += image.truth_rank <= kFew ? 1 : 0;
}

}  // namespace

ClassifyOutcome classify(const ClassifyRequest& request,
                         const std::function<void(const ImageClasses&)>& use) {
  const media::SourceOptions reading{request.timeout_seconds, request.stop};
  std::optional<TrueClasses> truth;
  if (!request.ground_truth.empty()) truth.emplace(request.ground_truth, request.input);
  const auto source =
      truth ? media::open_images(truth->files(), reading) : media::open_source(request.input, reading);
  ClassifyOutcome outcome;
  if (truth) outcome.accuracy.emplace();
  const auto stopped = [&] { return request.stop != nullptr && *request.stop; };
  try {
    Classifier classifier(request);
    Batches batches(*source, classifier, request);
    while (!stopped()) {
      std::optional<Batch> batch = batches.next();
      if (!batch) break;
      classifier.name_classes(batch->scores, truth ? &*truth : nullptr, &batch->results);
      for (const ImageClasses& result : batch->results) {
        if (truth) count(result, &*outcome.accuracy);
        use(result);
        ++outcome.images;
      }
    }
    batches.end();
    outcome.notes = classifier.notes();
    if (truth && !truth->note().empty()) outcome.notes.push_back(truth->note());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput || !error.where().empty()) throw;
    throw error.within(request.network.model);
  }
  const media::Losses losses = source->losses();
  outcome.losses = loss_texts(losses, source->info().is_video);
  for (const std::string& sentence : losses.sentences) outcome.notes.push_back(sentence);
  outcome.stopped = stopped();
  if (outcome.images == 0 && !outcome.stopped)
    throw Error(ErrorKind::kBadInput, "no image could be read", request.input);
  return outcome;
}

}  // namespace hone::task
