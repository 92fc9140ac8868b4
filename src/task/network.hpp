// A network that sees images: an engine, or a model on a backend, with the input that images go to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "base/progress.hpp"
#include "engine/engine.hpp"
#include "import/load.hpp"
#include "task/device_frames.hpp"
#include "tensor/tensor.hpp"

namespace hone::task {

struct NetworkOptions {
  std::string model;  ///< a file, an engine file or a built-in architecture
  importer::LoadModelOptions load;
  std::string backend = std::string(backend::kOwnBackend);
  /// Empty: the CPU, or an engine file's own.
  std::string device;
  std::string precision = "fp32";
  /// Threads of one stream.
  int threads = 1;
  /// Runs side by side, each in a context of its own over the same weights.
  int streams = 1;
  /// Images a run; absent: what the model fixes, else 1.
  std::optional<int64_t> batch;
  /// Absent: what the model fixes or its metadata say.
  std::optional<int64_t> width;
  std::optional<int64_t> height;
  /// The width and height where nothing states them.
  int64_t usual_side = 640;
  /// Binds the network to the device that fills its input from frames; empty: the host fills it.
  BindFrames bind_frames = task::bind_frames;
  /// Called now and then while a model is built; an exception that it throws ends that. Empty: not called.
  std::function<void(const base::Progress&)> progress = {};
};

/// The input of a network, as it will be run.
struct ImageInput {
  size_t index = 0;
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  int64_t batch = 1;
  int64_t channels = 3;
  int64_t height = 0;
  int64_t width = 0;
  bool channels_last = false;
  bool has_batch = true;  ///< false: one image without a dimension for a batch

  tensor::Shape shape() const;
};

/// Each stream is used by one thread at a time.
class Network {
 public:
  /// Bad input for a model without an input for images, or with one that nothing here can fill; usage error
  /// for a batch or a size that the model does not take, and for streams that the backend does not have.
  explicit Network(const NetworkOptions& options);

  const importer::Model& model() const { return model_; }
  const ImageInput& input() const { return input_; }
  /// The place of the network.
  tensor::Place place() const { return place_; }
  size_t streams() const { return executables_.size(); }
  std::vector<std::string> input_names() const;
  std::vector<std::string> output_names() const;

  struct Size {
    int64_t width = 0;
    int64_t height = 0;
  };
  /// `images`: of input().shape(), as float32, and converted to the network's type. `sizes`: of the images
  /// before they were fitted, for networks that ask for them.
  std::vector<tensor::Tensor> run(const tensor::Tensor& images, std::span<const Size> sizes,
                                  size_t stream = 0);
  /// Runs of each stream whose input the network's device fills from frames. The network outlives them.
  std::vector<FrameBinding> bind_frames(const engine::FrameTarget& target);
  /// Notes for readers of its results.
  std::vector<std::string> notes() const;

 private:
  void find_input(const NetworkOptions& options);
  void make_mask();
  int64_t choose_side(const NetworkOptions& options, bool is_width, size_t dimension);
  void load(const NetworkOptions& options, std::shared_ptr<const engine::Engine> engine);
  void add_streams(const NetworkOptions& options);
  Refusal frames_refusal() const;

  importer::Model model_;
  ImageInput input_;
  std::optional<size_t> size_input_;
  /// The input by which DETR's exports learn the margins of images in a batch: its index, and a one for every
  /// pixel.
  std::optional<size_t> mask_input_;
  tensor::Tensor mask_;
  std::vector<std::unique_ptr<backend::Executable>> executables_;  ///< one for each stream
  tensor::Place place_;
  BindFrames bind_frames_;
  std::vector<std::string> notes_;
};

}  // namespace hone::task
