// Boxes that kernels find on the emulator: those of plain loops, whatever the order in which threads list
// them.
#include "device/cuda/box_search_cases.hpp"
#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/image/box_search.hpp"

namespace hone::device::cuda::emulated {
namespace {

struct Called {
  const BoxSearchCase& one;
  std::vector<Tensor> outputs;
  std::vector<std::vector<float>> host;
  std::vector<engine::BoxPlace> places;
  Memory candidates;
  Memory lists;

  Called(const BoxSearchCase& search, Element element)
      : one(search),
        candidates(static_cast<size_t>(search.images) * sizeof(engine::BoxCandidates)),
        lists(static_cast<size_t>(search.images * engine::BoxList::bytes(search.selection.most))) {
    for (size_t h = 0; h < one.heads.size(); ++h) {
      std::vector<double> numbers = box_numbers(one.numbers(h), static_cast<unsigned>(h + 1));
      raise_scores(one, &numbers);
      host.emplace_back(numbers.begin(), numbers.end());
      outputs.emplace_back(element, host.back());
    }
    for (int64_t image = 0; image < one.images; ++image) places.push_back(box_place_of(image));
    std::fill_n(candidates.get(), candidates.bytes(), std::byte{0});
  }

  void run(FloatType type) {
    auto* const listed = reinterpret_cast<engine::BoxCandidates*>(candidates.get());
    const LaunchOptions options{.device = &emulator::properties()};
    uint32_t order = 0;
    for (size_t h = 0; h < one.heads.size(); ++h) {
      BoxDecoding decoding{one.heads[h], order, one.images, places.data(), listed};
      decoding.head.anchors = one.anchors.data();
      ASSERT_EQ(decode_boxes(decoding, outputs[h].get(), type, options), cudaSuccess);
      order += one.answers(h);
    }
    ASSERT_EQ(suppress_boxes({one.selection, one.images, places.data(), listed, lists.get()}, options),
              cudaSuccess);
    EXPECT_EQ(emulator::take_faults(), "");
    EXPECT_TRUE(candidates.guards_are_whole() && lists.guards_are_whole());
  }
};

void expect_what_loops_find(const BoxSearchCase& one, Element element, FloatType type) {
  // Threads in their order and in another one; sorting many takes long enough in one.
  const bool many = one.heads[0].rows.boxes > 1000;
  for (const Schedule& schedule : many ? std::vector{kFewSchedules.back()} : kFewSchedules) {
    SCOPED_TRACE(one.name + ", " + text(schedule));
    emulator::set_schedule(schedule);
    Called called(one, element);
    for (int round = 0; round < 2; ++round) {
      called.run(type);
      for (int64_t image = 0; image < one.images; ++image) {
        bool too_many = false;
        const auto wanted = expected_boxes(one, called.host, image, &too_many);
        const std::byte* const list = called.lists.get() + image * engine::BoxList::bytes(one.selection.most);
        int32_t count = 0;
        std::memcpy(&count, list, sizeof count);
        ASSERT_EQ(count, too_many ? -1 : static_cast<int32_t>(wanted.size()));
        if (too_many) continue;
        // The emulator calls the host's own functions: nothing may differ.
        EXPECT_EQ(std::memcmp(list + sizeof count, wanted.data(), wanted.size() * sizeof wanted[0]), 0);
      }
    }
  }
}

TEST(EmulatedBoxes, AreThoseOfPlainLoops) {
  size_t found = 0;
  for (const BoxSearchCase& one : box_search_cases()) {
    expect_what_loops_find(one, Element::kFloat, FloatType::kFloat);
    Called called(one, Element::kFloat);
    bool too_many = false;
    found += expected_boxes(one, called.host, 0, &too_many).size();
    EXPECT_EQ(too_many, one.name == "too many");
  }
  EXPECT_GT(found, 1000u);
}

TEST(EmulatedBoxes, AreReadFromSmallerTypes) {
  const std::vector<BoxSearchCase> cases = box_search_cases();
  for (size_t i = 0; i < 7; ++i) {
    expect_what_loops_find(cases[i], Element::kHalf, FloatType::kHalf);
    expect_what_loops_find(cases[i], Element::kBFloat16, FloatType::kBfloat16);
  }
}

TEST(EmulatedBoxes, AreRefusedWhereMemoryWouldBeLeft) {
  const std::vector<BoxSearchCase> cases = box_search_cases();
  const BoxSearchCase& darknet = cases[5];
  Called called(darknet, Element::kFloat);
  auto* const listed = reinterpret_cast<engine::BoxCandidates*>(called.candidates.get());
  BoxDecoding decoding{darknet.heads[0], 0, darknet.images, called.places.data(), listed};
  decoding.head.anchors = darknet.anchors.data();
  decoding.head.anchor_count = 2;
  EXPECT_EQ(decode_boxes(decoding, called.outputs[0].get(), FloatType::kFloat, {}), cudaErrorInvalidValue);
  decoding.head.anchor_count = 3;
  ++decoding.head.rows.boxes;
  EXPECT_EQ(decode_boxes(decoding, called.outputs[0].get(), FloatType::kFloat, {}), cudaErrorInvalidValue);
  engine::BoxSelection selection = darknet.selection;
  selection.most = engine::BoxCandidates::kMost + 1;
  EXPECT_EQ(suppress_boxes({selection, 1, called.places.data(), listed, called.lists.get()}, {}),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace hone::device::cuda::emulated
