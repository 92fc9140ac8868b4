// See network.hpp.
#include "import/darknet/network.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "import/darknet/limits.hpp"

namespace hone::importer::darknet {
namespace {

const std::vector<SectionKind>& section_kinds() {
  static const std::vector<SectionKind> kinds = [] {
    std::vector<SectionKind> all;
    for (const auto& part :
         {convolution_sections(), pool_sections(), joining_sections(), plain_sections(), head_sections()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return kinds;
}

void read_net(Options& options, Network* network) {
  Volume& input = network->input;
  input = {options.integer("channels", 0), options.integer("height", 0), options.integer("width", 0)};
  const int inputs = options.integer("inputs", 0);
  if (inputs > 0 && (input.channels == 0 || input.height == 0 || input.width == 0)) input = {inputs, 1, 1};
  require_between("width", input.width, 1, kMaxSide);
  require_between("height", input.height, 1, kMaxSide);
  require_between("channels", input.channels, 1, kMaxVolume);
  Layer as_layer;
  set_out(&as_layer, input.channels, input.height, input.width);
  if (inputs > 0 && inputs != input.size())
    fail_bad_input("inputs is {}, but width, height and channels make {}", inputs, input.size());
  network->letter_box = options.integer("letter_box", 0) != 0;
}

/// pjreddie's program knows no letter_box: it keeps the aspect of images for all detectors but YOLOv1.
void follow_pjreddie(Network* network) {
  network->letter_box =
      std::ranges::find(network->layers, "detection", &Layer::type) == network->layers.end();
  network->resize_corners = true;
}

ReadSection function_of(const Section& section) {
  for (const SectionKind& kind : section_kinds()) {
    if (kind.name == section.type) return kind.read;
  }
  fail_bad_input("hone has no sections of this kind");
}

Layer read_layer(const Section& section, const Network& network, Rules rules, bool transposed,
                 std::vector<std::string>* warnings) {
  Layer layer;
  layer.type = section.type.substr(0, 60);
  layer.line = section.line;
  layer.in = network.layers.empty() ? network.input : network.layers.back().out;
  try {
    Options options(section);
    SectionContext context{options, network.layers, network.input, rules, transposed, *warnings};
    const ReadSection read = function_of(section);
    if (options.integer("dontload", 0) != 0)
      fail_bad_input("dontload=1 leaves its weights out of the file, so nobody knows them");
    read(context, &layer);
    options.warn_of_unknown(warnings);
  } catch (const Error& error) {
    throw error.within(layer.where(network.layers.size()));
  }
  return layer;
}

bool is_net(const Section& section) { return section.type == "net" || section.type == "network"; }

}  // namespace

std::string Volume::text() const { return fmt::format("{}x{}x{}", channels, height, width); }

std::string Layer::where(size_t index) const {
  return fmt::format("line {}: [{}] (layer {})", line, type, index);
}

ValueId Emission::ints(const char* suffix, const std::vector<int64_t>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return net.constant(part(suffix), tensor::Tensor::of<int64_t>(values, {count}));
}

ValueId Emission::number(const char* suffix, float value) {
  return net.constant(part(suffix), tensor::Tensor::scalar(value));
}

ValueId Emission::reshape(const char* suffix, ValueId value, const std::vector<int64_t>& shape) {
  const std::string whole = part(suffix);
  const auto rank = static_cast<int64_t>(shape.size());
  return net.node("Reshape", whole,
                  {value, net.constant(whole + ".shape", tensor::Tensor::of<int64_t>(shape, {rank}))});
}

ValueId Emission::channels(const std::string& suffix, ValueId value, int64_t begin, int64_t end) {
  const std::string whole = name + "." + suffix;
  const auto one = [&](const char* what, int64_t number) {
    return net.constant(fmt::format("{}.{}", whole, what), tensor::Tensor::of<int64_t>({number}, {1}));
  };
  return net.node("Slice", whole, {value, one("begin", begin), one("end", end), one("axis", 1)});
}

size_t SectionContext::layer_index(int number) const {
  const int64_t here = static_cast<int64_t>(index());
  const int64_t layer = number < 0 ? here + number : number;
  if (layer < 0 || layer >= here)
    fail_bad_input("layer {} is no section before this one{}", number,
                   number < 0 ? fmt::format(": it would be number {}", layer) : "");
  return static_cast<size_t>(layer);
}

Network read_network(const std::vector<Section>& sections, Rules rules, bool transposed,
                     std::vector<std::string>* warnings) {
  if (sections.empty()) fail_bad_input("it has no sections: this is no cfg file of darknet");
  if (!is_net(sections.front()))
    fail_bad_input("line {}: the first section is [{}], and not [net]", sections.front().line,
                   sections.front().type.substr(0, 60));
  if (sections.size() == 1) fail_bad_input("there is no section after [net]");
  Network network;
  Options net(sections.front());
  try {
    read_net(net, &network);
  } catch (const Error& error) {
    throw error.within(fmt::format("line {}: [{}]", sections.front().line, sections.front().type));
  }
  net.warn_of_unknown(warnings);
  network.layers.reserve(sections.size() - 1);
  size_t reads = 0;
  for (size_t i = 1; i < sections.size(); ++i) {
    network.layers.push_back(read_layer(sections[i], network, rules, transposed, warnings));
    reads += network.layers.back().reads.size();
    if (reads > kMaxReads) fail_bad_input("its sections read more than {} others", kMaxReads);
  }
  if (rules == Rules::kPjreddie) follow_pjreddie(&network);
  return network;
}

void require_between(std::string_view what, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most) fail_bad_input("{} is {}, outside [{}, {}]", what, value, least, most);
}

void require_image(const Layer& layer) {
  if (layer.in.size() == 0) fail_bad_input("the section before gives nothing");
}

void set_out(Layer* layer, int64_t channels, int64_t height, int64_t width) {
  if (channels < 1 || height < 1 || width < 1)
    fail_bad_input("nothing is left of {}: the result would be {}", layer->in.text(),
                   Volume{channels, height, width}.text());
  if (base::checked_mul(base::checked_mul(channels, height), width) > kMaxVolume)
    fail_bad_input("the result of {} has more than {} numbers", Volume{channels, height, width}.text(),
                   kMaxVolume);
  layer->out = {channels, height, width};
}

void add_parameter(const SectionContext& context, Layer* layer, const char* suffix, tensor::Shape shape,
                   Role role, float gain) {
  for (int64_t count = 1; const int64_t dim : shape) {
    count = base::checked_mul(count, dim);
    if (count > kMaxVolume) fail_bad_input("it has more than {} {}", kMaxVolume, suffix);
  }
  layer->parameters.push_back(
      {fmt::format("layer_{}.{}", context.index(), suffix), std::move(shape), role, gain});
}

}  // namespace hone::importer::darknet
