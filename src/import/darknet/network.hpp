// Converts the sections of a cfg file to layers: their shapes, the layers that each reads, its parameters in
// the order of the weights file, and the function that writes it as nodes. All of this is known and checked
// before any weight is read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "import/darknet/options.hpp"
#include "import/zoo/builder.hpp"

namespace hone::importer::darknet {

/// The size of a section's output for one image.
struct Volume {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;

  int64_t size() const { return channels * height * width; }
  bool same_plane(const Volume& other) const { return height == other.height && width == other.width; }
  bool operator==(const Volume&) const = default;
  /// "64x13x13".
  std::string text() const;
};

/// The program whose rules are followed if the two differ.
enum class Rules { kAlexeyAb, kPjreddie };

/// Everything that is needed to write a layer as nodes.
struct Emission {
  GraphBuilder& net;
  /// The name of the layer's last node: "layer_3". Other nodes are named name.part.
  const std::string& name;
  /// The output of the previous section.
  ValueId x;
  /// The layers of Layer::reads, in this order.
  std::vector<ValueId> reads;
  /// One value for each of Layer::parameters.
  std::vector<ValueId> parameters;

  std::string part(const char* suffix) const { return name + "." + suffix; }
  ValueId ints(const char* suffix, const std::vector<int64_t>& values);
  ValueId number(const char* suffix, float value);
  ValueId reshape(const char* suffix, ValueId value, const std::vector<int64_t>& shape);
  /// Channels [begin, end).
  ValueId channels(const std::string& suffix, ValueId value, int64_t begin, int64_t end);
};

/// Entries for the metadata of the model (docs/DARKNET.md), by key.
using HeadFacts = std::map<std::string, std::string>;

struct Layer {
  std::string type;
  int line = 0;
  Volume in;
  Volume out;
  /// Sections that this one names; the previous section is also read unless `reads_previous` is false.
  std::vector<size_t> reads;
  bool reads_previous = true;
  /// True for a cost section, which counts neither as an output nor as a reader.
  bool is_cost = false;
  std::vector<ParameterSpec> parameters;
  /// Not empty for a detection head.
  HeadFacts head;
  std::function<ValueId(Emission&)> emit;

  /// "line 12: [convolutional] (layer 3)".
  std::string where(size_t index) const;
};

struct Network {
  Volume input;
  /// True if images keep their aspect.
  bool letter_box = false;
  /// True if resizing keeps the centres of the corner pixels in place.
  bool resize_corners = false;
  std::vector<Layer> layers;
};

/// The data that the function of a section can use; it fills in `layer`, whose `in` is set.
struct SectionContext {
  Options& options;
  const std::vector<Layer>& before;
  Volume input;
  Rules rules;
  bool transposed;
  std::vector<std::string>& warnings;

  size_t index() const { return before.size(); }
  /// The index of a section by its number; negative numbers are relative to this section. Throws bad input if
  /// the section is not an earlier one.
  size_t layer_index(int number) const;
  const Volume& out_of(size_t layer) const { return before[layer].out; }
};

/// Reads a section into the layer; throws bad input for invalid options.
using ReadSection = void (*)(SectionContext& context, Layer* layer);

struct SectionKind {
  std::string_view name;
  ReadSection read;
};

/// One list for each file of sections/.
std::vector<SectionKind> convolution_sections();
std::vector<SectionKind> pool_sections();
std::vector<SectionKind> joining_sections();
std::vector<SectionKind> plain_sections();
std::vector<SectionKind> head_sections();

/// Returns checked layers. `transposed` comes from the header of the weights. Throws bad input that names
/// line, section and layer.
Network read_network(const std::vector<Section>& sections, Rules rules, bool transposed,
                     std::vector<std::string>* warnings);

/// Throws bad input unless the value is in [least, most].
void require_between(std::string_view what, int64_t value, int64_t least, int64_t most);
/// Throws bad input unless the input of the layer is an image.
void require_image(const Layer& layer);
/// Sets Layer::out; throws bad input for a volume that is empty or beyond kMaxVolume.
void set_out(Layer* layer, int64_t channels, int64_t height, int64_t width);
/// A parameter named layer_I.suffix.
void add_parameter(const SectionContext& context, Layer* layer, const char* suffix, tensor::Shape shape,
                   Role role, float gain = 1.0f);

}  // namespace hone::importer::darknet
