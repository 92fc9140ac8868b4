// Places: texts go both ways, and what names none is a usage error of one sentence.
#include "tensor/place.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace hone::tensor {
namespace {

void expect_usage_error(const std::string& text, const std::string& sentence) {
  try {
    parse_place(text);
    ADD_FAILURE() << "'" << text << "' was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage) << text;
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(Place, TextsGoBothWays) {
  const struct {
    const char* text;
    Place place;
  } rows[] = {{"cpu", {PlaceKind::kCpu, 0}},
              {"cuda", {PlaceKind::kCuda, 0}},
              {"cuda:1", {PlaceKind::kCuda, 1}},
              {"cuda:15", {PlaceKind::kCuda, 15}},
              {"cuda:2147483647", {PlaceKind::kCuda, 2147483647}}};
  for (const auto& row : rows) {
    EXPECT_EQ(parse_place(row.text), row.place) << row.text;
    EXPECT_EQ(place_text(row.place), row.text);
  }
}

TEST(Place, TheFirstGpuHasTwoNames) {
  EXPECT_EQ(parse_place("cuda:0"), parse_place("cuda"));
  EXPECT_EQ(place_text(parse_place("cuda:0")), "cuda");
}

TEST(Place, UnknownKindsListTheKnown) {
  for (const std::string text : {"", "gpu", "CUDA", "cpu:0", "cuda ", "cuda1", ":0", "tpu:0"})
    expect_usage_error(text, "unknown device '" + text + "' (cpu, cuda, cuda:1)");
}

TEST(Place, GarbageIsNoOrdinal) {
  for (const std::string text : {"cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda:1x", "cuda: 1", "cuda:01",
                                 "cuda:1:1", "cuda:2147483648", "cuda:99999999999"})
    expect_usage_error(text, "'" + text + "' names no GPU: cuda:0 is the first one, cuda:1 the second");
}

}  // namespace
}  // namespace hone::tensor
