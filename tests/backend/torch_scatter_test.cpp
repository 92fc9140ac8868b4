// Operators of the torch backends that place or make elements, and rarer layers, against the reference
// kernels.
#include "backend/torch_support.hpp"

namespace hone::test {
namespace {

TEST(TorchOperators, Scatters) {
  const auto scatter = [](Integers values, Shape shape, Shape updates) {
    return [=](GraphBuilder& b) {
      return std::vector<ValueId>{b.constant(Tensor::of<int64_t>(values, shape)), b.random(updates)};
    };
  };
  for (const char* reduction : {"none", "add"}) {
    expect_covered({.op = "ScatterND",
                    .shape = {4, 3},
                    .attributes = {{"reduction", std::string(reduction)}},
                    .more = scatter({2, -4}, {2, 1}, {2, 3})});
  }
  for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
    expect_covered({.op = "ScatterElements",
                    .shape = {3, 4},
                    .attributes = {{"axis", int64_t{1}}, {"reduction", std::string(reduction)}},
                    .more = scatter({0, -1, 2, 1, 3, 0}, {3, 2}, {3, 2})});
  }
}

TEST(TorchOperators, Makers) {
  expect_covered({.op = "Trilu", .shape = {2, 4, 5}});
  expect_covered(
      {.op = "Trilu", .shape = {4, 5}, .attributes = {{"upper", int64_t{0}}}, .more = [](GraphBuilder& b) {
         return std::vector<ValueId>{b.constant(Tensor::scalar<int64_t>(-1))};
       }});
  expect_covered({.op = "OneHot",
                  .shape = {2, 3},
                  .attributes = {{"axis", int64_t{1}}},
                  .more =
                      [](GraphBuilder& b) {
                        return std::vector<ValueId>{b.constant(Tensor::scalar<int64_t>(5)),
                                                    b.constant(Tensor::of<float>({-1, 2}, {2}))};
                      },
                  .low = -5,
                  .high = 5,
                  .dtype = DType::kInt64});
  expect_covered({.op = "NonZero", .shape = {3, 4}, .low = -1, .high = 2, .dtype = DType::kInt32});
}

TEST(TorchOperators, RareLayers) {
  for (const int64_t size : {3, 4}) {
    expect_covered({.op = "LRN", .shape = {2, 7, 5, 3}, .attributes = {{"size", size}, {"alpha", 0.5f}}});
  }
  expect_covered({.op = "Einsum",
                  .shape = {2, 5, 8},
                  .attributes = {{"equation", std::string("bij,jk->bki")}},
                  .more = with_random({{8, 4}})});
}

}  // namespace
}  // namespace hone::test
