// See labels.hpp.
#include "quantize/labels.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"
#include "tensor/npy.hpp"

namespace hone::quantize {
namespace {

using tensor::Tensor;

std::vector<int64_t> integers_of(const Tensor& array, const std::string& file) {
  if (tensor::is_floating(array.dtype()) || array.rank() != 1)
    fail_bad_input("{}: labels are one dimension of integers, these are {}[{}]", file,
                   tensor::dtype_name(array.dtype()), tensor::shape_text(array.shape()));
  const std::vector<double> values = array.to_double();
  return {values.begin(), values.end()};
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

int64_t class_of(const std::string& text, const std::string& file, size_t line) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_bad_input("{}:{}: '{}' is no class: a line is a class, or a file's name and its class", file, line,
                   text);
  return value;
}

Labels from_text(const std::string& file) {
  Labels labels{file, {}, {}};
  std::istringstream lines(base::read_file(file));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t end = line.find_last_not_of(" \t\r");
    if (end == std::string::npos) continue;
    line.resize(end + 1);
    const size_t between = line.find_last_of(" \t,");
    const int64_t label = class_of(line.substr(between + 1), file, number);
    const size_t name_end = between == std::string::npos ? between : line.find_last_not_of(" \t,", between);
    if (name_end == std::string::npos) {
      labels.in_order.push_back(label);
    } else {
      const std::string name = base_name(line.substr(0, name_end + 1));
      const auto [known, added] = labels.by_file.emplace(name, label);
      if (!added && known->second != label)
        fail_bad_input("{}:{}: '{}' has the class {} further up", file, number, name, known->second);
    }
    if (!labels.in_order.empty() && !labels.by_file.empty())
      fail_bad_input("{}:{}: some lines name a file and some do not", file, number);
  }
  return labels;
}

}  // namespace

Labels read_labels(const std::filesystem::path& file) {
  const std::string name = file.string();
  Labels labels{name, {}, {}};
  if (name.ends_with(".npy")) {
    labels.in_order = integers_of(tensor::read_npy(name), name);
  } else if (name.ends_with(".npz")) {
    const auto arrays = tensor::read_npz(name);
    const auto found =
        std::ranges::find_if(arrays, [](const auto& named) { return named.first == "labels"; });
    if (found == arrays.end()) fail_bad_input("{}: it holds no array 'labels'", name);
    labels.in_order = integers_of(found->second, name);
  } else {
    labels = from_text(name);
  }
  if (labels.in_order.empty() && labels.by_file.empty()) fail_bad_input("{}: it holds no labels", name);
  return labels;
}

std::vector<int64_t> labels_of(const Labels& labels, const std::vector<Samples>& samples, int64_t classes,
                               bool all) {
  std::vector<int64_t> result;
  for (const Samples& sample : samples) {
    for (const std::string& source : sample.sources) {
      const size_t index = result.size();
      if (!labels.by_file.empty()) {
        const auto found = labels.by_file.find(base_name(source));
        if (found == labels.by_file.end()) fail_bad_input("{}: it has no label for {}", labels.file, source);
        result.push_back(found->second);
      } else {
        if (index >= labels.in_order.size())
          fail_bad_input("{}: it holds {} labels, and the data go on with {}", labels.file,
                         labels.in_order.size(), source);
        result.push_back(labels.in_order[index]);
      }
      if (result.back() < 0 || result.back() >= classes)
        fail_bad_input("{}: {} has the class {}, and the model has {} classes, 0 to {}", labels.file, source,
                       result.back(), classes, classes - 1);
    }
  }
  if (all && labels.by_file.empty() && labels.in_order.size() != result.size())
    fail_bad_input("{}: it holds {} labels for {} samples", labels.file, labels.in_order.size(),
                   result.size());
  return result;
}

}  // namespace hone::quantize
