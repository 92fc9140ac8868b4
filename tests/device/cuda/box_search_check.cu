// Checks of box_search.hpp: all forms of heads in all types, several images, ties, and more candidates than
// fit. Then how long the heads of YOLOv4-tiny take.
#include "device/cuda/plugin/kernels/image/box_search.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

#include "box_search_cases.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

/// Everything of a case on the device.
class Search {
 public:
  Search(const BoxSearchCase& one, FloatType type) : case_(one), type_(type) {
    for (size_t h = 0; h < one.heads.size(); ++h) {
      std::vector<double> numbers = box_numbers(one.numbers(h), static_cast<unsigned>(h + 1));
      raise_scores(one, &numbers);
      outputs_.push_back(std::make_unique<Values>(numbers, type));
      host.emplace_back(outputs_.back()->host.begin(), outputs_.back()->host.end());
    }
    anchors_ = std::make_unique<DeviceBuffer>(sizeof(float) * std::max<size_t>(1, one.anchors.size()));
    if (!one.anchors.empty()) anchors_->upload(one.anchors.data());
    std::vector<engine::BoxPlace> places;
    for (int64_t image = 0; image < one.images; ++image) places.push_back(box_place_of(image));
    places_ = std::make_unique<DeviceBuffer>(sizeof(engine::BoxPlace) * places.size());
    places_->upload(places.data());
    const auto images = static_cast<size_t>(one.images);
    candidates_ = std::make_unique<DeviceBuffer>(images * sizeof(engine::BoxCandidates));
    cudaMemset(candidates_->get(), 0, candidates_->bytes());
    lists_ = std::make_unique<DeviceBuffer>(images *
                                            static_cast<size_t>(engine::BoxList::bytes(one.selection.most)));
  }

  cudaError_t run() const {
    const LaunchOptions options{.device = &gpu()};
    uint32_t order = 0;
    auto* const candidates = static_cast<engine::BoxCandidates*>(candidates_->get());
    const auto* const places = static_cast<const engine::BoxPlace*>(places_->get());
    for (size_t h = 0; h < case_.heads.size(); ++h) {
      BoxDecoding decoding{case_.heads[h], order, case_.images, places, candidates};
      decoding.head.anchors = static_cast<const float*>(anchors_->get());
      const cudaError_t error = decode_boxes(decoding, outputs_[h]->get(), type_, options);
      if (error != cudaSuccess) return error;
      order += case_.answers(h);
    }
    return suppress_boxes({case_.selection, case_.images, places, candidates, lists_->get()}, options);
  }

  std::vector<char> lists() const {
    std::vector<char> bytes(lists_->bytes());
    lists_->download(bytes.data());
    return bytes;
  }

  std::vector<std::vector<float>> host;

 private:
  const BoxSearchCase& case_;
  FloatType type_;
  std::vector<std::unique_ptr<Values>> outputs_;
  std::unique_ptr<DeviceBuffer> anchors_, places_, candidates_, lists_;
};

void check_case(Family& family, const BoxSearchCase& one, FloatType type) {
  const std::string what = one.name + " " + type_name(type);
  const Search search(one, type);
  // The second search finds the counts of zero that the first one left.
  for (int round = 0; round < 2; ++round) {
    family.launched(search.run(), what);
    const std::vector<char> lists = search.lists();
    for (int64_t image = 0; image < one.images; ++image) {
      bool too_many = false;
      const auto wanted = expected_boxes(one, search.host, image, &too_many);
      const char* const list = lists.data() + image * engine::BoxList::bytes(one.selection.most);
      int32_t count = 0;
      std::memcpy(&count, list, sizeof count);
      family.expect(count == (too_many ? -1 : static_cast<int32_t>(wanted.size())), what + ": how many");
      bool same = true;
      for (int32_t i = 0; i < count && same && i < static_cast<int32_t>(wanted.size()); ++i) {
        engine::FoundBox found;
        std::memcpy(&found, list + sizeof count + static_cast<size_t>(i) * sizeof found, sizeof found);
        same = is_nearly(found, wanted[static_cast<size_t>(i)]);
      }
      family.expect(same, what + ": boxes");
    }
  }
}

/// As 416 x 416 has them, with some dozens of boxes above the threshold.
void time_search() {
  engine::BoxHead coarse = box_planes(3, 13, 13, 80, 0.9f, false);
  const engine::BoxHead fine = box_planes(3, 26, 26, 80, 0.9f, false);
  const BoxSearchCase one{"", {coarse, fine}, {1, 2, 3, 1.5f, 2, 2}, {.overlap = 0.45f, .most = 300}, 1};
  for (size_t crowd : {0, 1}) {
    BoxSearchCase timed = one;
    for (engine::BoxHead& head : timed.heads) head.threshold = head.rows.level = crowd == 1 ? 1.4f : 10.0f;
    const Search search(timed, FloatType::kHalf);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    constexpr int kRuns = 200;
    for (int i = 0; i < 20; ++i) search.run();
    cudaEventRecord(begin);
    for (int i = 0; i < kRuns; ++i) search.run();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    int32_t count = 0;
    std::memcpy(&count, search.lists().data(), sizeof count);
    std::printf("box_search: two heads of 80 classes, %d boxes stay: %.1f us\n", count, 1000.0 * ms / kRuns);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
  }
}

}  // namespace

void check_box_search() {
  {
    Family family("box_search");
    const std::vector<BoxSearchCase> cases = box_search_cases();
    for (const BoxSearchCase& one : cases)
      for (const FloatType type : kFloatTypes) check_case(family, one, type);
  }
  time_search();
}

}  // namespace hone::device::cuda::check
