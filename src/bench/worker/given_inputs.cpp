// See given_inputs.hpp.
#include "bench/worker/given_inputs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>

#include "base/error.hpp"

namespace hone::bench {
namespace {

InputInfo& input_named(const std::string& name, ModelInfo* model) {
  const auto found = std::find_if(model->inputs.begin(), model->inputs.end(),
                                  [&](const InputInfo& input) { return input.name == name; });
  if (found != model->inputs.end()) return *found;
  std::vector<std::string> names;
  for (const InputInfo& input : model->inputs) names.push_back(input.name);
  fail_usage("{} has no input named '{}', its inputs are {}", model->name, name, fmt::join(names, ", "));
}

void check_array(const InputInfo& input, const tensor::Tensor& array) {
  tensor::Shape shape = array.shape();
  if (input.batched && !shape.empty()) shape.front() = 1;
  if (array.dtype() != input.dtype || shape != input.shape || array.size() == 0)
    fail_bad_input("the values of input '{}' are {}[{}], it takes {}[{}]", input.name,
                   tensor::dtype_name(array.dtype()), tensor::shape_text(array.shape()),
                   tensor::dtype_name(input.dtype), tensor::shape_text(input.shape));
}

void add_to_hashes(std::string_view bytes, ModelInfo* model) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  const uint64_t hash = std::hash<std::string_view>{}(bytes);
  model->hash = (model->hash ^ hash) * kSpread;
  model->outputs_hash = (model->outputs_hash ^ hash) * kSpread;
}

}  // namespace

std::map<std::string, double> parse_constants(const std::vector<std::string>& items) {
  std::map<std::string, double> constants;
  for (const std::string& item : items) {
    const size_t colon = item.rfind(':');
    double value = 0;
    const char* const end = item.data() + item.size();
    const char* const begin = colon == std::string::npos ? end : item.data() + colon + 1;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (begin == end || colon == 0 || error != std::errc() || stop != end)
      fail_usage("a value is written NAME:NUMBER, as in sr:16000, not '{}'", item);
    constants[item.substr(0, colon)] = value;
  }
  return constants;
}

std::map<std::string, tensor::Shape> with_given_shapes(std::map<std::string, tensor::Shape> shapes,
                                                       const GivenInputs& given) {
  for (const auto& [name, array] : given.arrays) shapes.try_emplace(name, array.shape());
  return shapes;
}

void give_values(const GivenInputs& given, ModelInfo* model) {
  for (const auto& [name, value] : given.constants) {
    InputInfo& input = input_named(name, model);
    input.values = {.kind = InputValues::Kind::kConstant, .constant = value};
    add_to_hashes(fmt::format("{}:{}", name, value), model);
  }
  for (const auto& [name, array] : given.arrays) {
    InputInfo& input = input_named(name, model);
    check_array(input, array);
    input.values = {.kind = InputValues::Kind::kGiven,
                    .given = std::make_shared<const tensor::Tensor>(array)};
    add_to_hashes(name, model);
    add_to_hashes({reinterpret_cast<const char*>(array.bytes()), array.byte_size()}, model);
  }
}

}  // namespace hone::bench
