// A network with an image input: an engine, or a model on a backend.
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
  std::string model;  ///< a model file, an engine file or a built-in architecture
  importer::LoadModelOptions load;
  std::string backend = std::string(backend::kOwnBackend);
  /// Empty: the CPU, or the device of the engine file.
  std::string device;
  std::string precision = "fp32";
  /// Threads of each stream.
  int threads = 1;
  /// Number of concurrent runs, each with its own context and with shared weights.
  int streams = 1;
  /// Images per run; absent: the batch that the model fixes, else 1.
  std::optional<int64_t> batch;
  /// Absent: the size that the model fixes or that its metadata state.
  std::optional<int64_t> width;
  std::optional<int64_t> height;
  /// The width and height if nothing else states them.
  int64_t usual_side = 640;
  /// Binds the network to the device that fills its input from frames; empty: the host fills it.
  BindFrames bind_frames = task::bind_frames;
  /// Called from time to time while a model is built; an exception that it throws cancels the build. Empty:
  /// not called.
  std::function<void(const base::Progress&)> progress = {};
};

/// The image input of a network, with the sizes with which it will run.
struct ImageInput {
  size_t index = 0;
  std::string name;
  tensor::DType dtype = tensor::DType::kFloat32;
  int64_t batch = 1;
  int64_t channels = 3;
  int64_t height = 0;
  int64_t width = 0;
  bool channels_last = false;
  bool has_batch = true;  ///< false: the input is one image without a batch dimension

  tensor::Shape shape() const;
};

/// Each stream may be used by one thread at a time.
class Network {
 public:
  /// Bad input for a model without an image input, or with an input that cannot be filled here. Usage error
  /// for a batch or a size that the model does not accept, and for several streams if the backend does not
  /// support them.
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
  /// `images` has the shape of input(), as float32; it is converted to the network's type. `sizes` are those
  /// of the images before fitting, for networks that take them as an input.
  std::vector<tensor::Tensor> run(const tensor::Tensor& images, std::span<const Size> sizes,
                                  size_t stream = 0);
  /// Returns runs of each stream whose input the network's device fills from frames. The network must outlive
  /// them.
  std::vector<FrameBinding> bind_frames(const engine::FrameTarget& target);
  /// Notes for readers of the network's results.
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
  /// Index of the mask input with which DETR's exports mark the padding of images in a batch, and its value:
  /// a one for every pixel.
  std::optional<size_t> mask_input_;
  tensor::Tensor mask_;
  std::vector<std::unique_ptr<backend::Executable>> executables_;  ///< one for each stream
  tensor::Place place_;
  BindFrames bind_frames_;
  std::vector<std::string> notes_;
};

}  // namespace hone::task
