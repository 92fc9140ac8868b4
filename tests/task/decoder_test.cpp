// Outputs that are not what their names, shapes or metadata promise: one sentence, and nothing read beyond
// them.
#include "task/decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <random>

#include "base/error.hpp"
#include "task/frame_device.hpp"

namespace hone::task {
namespace {

using tensor::DType;
using tensor::Tensor;

struct Named {
  std::string name;
  Tensor tensor;
};

Tensor zeros(tensor::Shape shape) {
  Tensor tensor(DType::kFloat32, std::move(shape));
  std::ranges::fill(tensor.mutable_values<float>(), 0.0f);
  return tensor;
}

Tensor whole_numbers(tensor::Shape shape) {
  Tensor tensor(DType::kInt64, std::move(shape));
  std::ranges::fill(tensor.mutable_values<int64_t>(), int64_t{0});
  return tensor;
}

Signature signature_of(const std::vector<Named>& outputs, importer::Metadata metadata = {},
                       int64_t classes = 0) {
  Signature signature{64, 32, {"images"}, {}, std::move(metadata), classes};
  for (const Named& output : outputs)
    signature.outputs.push_back({output.name, output.tensor.dtype(), output.tensor.shape(), 0});
  return signature;
}

/// The sentence of the refusal, or the number of detections.
std::string outcome(const Signature& signature, const std::vector<Named>& outputs,
                    const std::string& decoder = "", int64_t row = 0) {
  std::vector<Tensor> tensors;
  for (const Named& output : outputs) tensors.push_back(output.tensor);
  try {
    const DecoderChoice choice = choose_decoder(signature, decoder);
    // Scores of zero count as well, so that everything is read.
    const DecodeCall call{{choice.match, signature, -1}, tensors, row};
    const auto found = decode_image(choice, call, place_image(Fit::kStretch, 64, 32, 64, 32), {});
    return fmt::format("{}: {}", choice.decoder->name, found.size());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput) << error.what();
    return error.what();
  }
}

std::string outcome(const std::vector<Named>& outputs, importer::Metadata metadata = {},
                    const std::string& decoder = "", int64_t row = 0) {
  return outcome(signature_of(outputs, std::move(metadata)), outputs, decoder, row);
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(Decoders, RefuseNamesWhoseShapesAreOthers) {
  // EfficientNMS by its names, with boxes of three numbers, of another rank, and without any.
  const auto nms = [](tensor::Shape boxes, tensor::Shape scores) {
    return std::vector<Named>{{"num_dets", whole_numbers({1, 1})},
                              {"det_boxes", zeros(std::move(boxes))},
                              {"det_scores", zeros(std::move(scores))},
                              {"det_classes", whole_numbers({1, 100})}};
  };
  expect_part(outcome(nms({1, 100, 3}, {1, 100})), "det_boxes [1x100x3] is none of efficientnms");
  expect_part(outcome(nms({1, 100, 1, 4}, {1, 100})), "det_boxes [1x100x1x4] is none of");
  expect_part(outcome(nms({4}, {1, 100})), "det_boxes [4] is none of");
  expect_part(outcome(nms({1, 100, 4}, {})), "det_scores [scalar] is none of");
  expect_part(outcome(nms({1, 100, 4}, {1, 50})),
              "det_boxes and det_scores disagree: they have 100 and 50 rows");
  EXPECT_EQ(outcome(nms({1, 100, 4}, {1, 100})), "efficientnms: 0");
}

TEST(Decoders, RefuseBoxesAndLogitsThatDisagree) {
  expect_part(outcome({{"pred_boxes", zeros({1, 100, 4})}, {"logits", zeros({1, 50, 7})}}),
              "pred_boxes and logits disagree: they have 100 and 50 rows");
  expect_part(outcome({{"pred_boxes", zeros({1, 100, 2})}, {"logits", zeros({1, 100, 7})}}),
              "pred_boxes [1x100x2] is none of detr");
  expect_part(outcome({{"pred_boxes", zeros({1, 100, 4})}, {"logits", zeros({})}}), "no decoder knows");
  expect_part(outcome({{"pred_boxes", zeros({1, 300, 4})}, {"logits", zeros({1, 300, 0})}}),
              "no decoder knows");
  EXPECT_EQ(outcome({{"pred_boxes", zeros({1, 100, 4})}, {"logits", zeros({1, 100, 7})}}), "detr: 100");
}

TEST(Decoders, RefuseThreeOutputsThatDisagree) {
  expect_part(outcome({{"boxes", zeros({9, 4})}, {"labels", whole_numbers({9})}, {"scores", zeros({8})}}),
              "disagree: they have 9 and 8 rows");
  expect_part(
      outcome({{"bboxes", zeros({1, 9, 4})}, {"labels", whole_numbers({1, 7})}, {"scores", zeros({1, 9})}}),
      "disagree: they have 9 and 7 rows");
}

TEST(Decoders, RefuseUnevenHeads) {
  const auto heads = [](int64_t last) {
    return std::vector<Named>{
        {"a", zeros({1, 3, 4, 8, 7})}, {"b", zeros({1, 3, 2, 4, 7})}, {"c", zeros({1, 3, 1, 2, last})}};
  };
  expect_part(outcome(heads(6)), "heads a and c disagree: 7 and 6 numbers a box");
  expect_part(outcome(heads(9)), "heads a and c disagree: 7 and 9 numbers a box");
  expect_part(outcome(heads(7)), "yolov7-raw: ");
}

/// A network's output on grey differs from its output on images.
TEST(Decoders, RefuseOutputsThatChangeTheirForm) {
  const Signature grey = signature_of({{"output0", zeros({1, 300, 6})}});
  expect_part(outcome(grey, {{"output0", zeros({1, 300, 5})}}), "output0 [1x300x5] is none of end2end");
  expect_part(outcome(grey, {{"output0", zeros({300})}}), "output0 [300] is none of end2end");
  EXPECT_EQ(outcome(grey, {{"output0", zeros({1, 0, 6})}}), "end2end: 0");
  const Signature cells = signature_of({{"output0", zeros({1, 6, 42})}}, {}, 2);
  expect_part(outcome(cells, {{"output0", zeros({1, 5, 42})}}), "output0 [1x5x42] is none of yolov8");
  EXPECT_EQ(outcome(cells, {{"output0", zeros({1, 6, 40})}}), "yolov8: 40");
}

TEST(Decoders, RefuseImagesThatOutputsHaveNoPartFor) {
  expect_part(outcome({{"output0", zeros({1, 300, 6})}}, {}, "", 1), "has no part for image 2 of a batch");
  expect_part(
      outcome({{"boxes", zeros({9, 4})}, {"labels", whole_numbers({9})}, {"scores", zeros({9})}}, {}, "", 1),
      "has no part for image 2 of a batch");
  expect_part(outcome({{"output0", zeros({0, 300, 6})}}), "has no part for image 1 of a batch");
}

TEST(Decoders, TakeMasksForNoCells) {
  // 38 numbers a cell, of which 32 are a mask's: more numbers than cells.
  const std::vector<Named> outputs{{"output0", zeros({1, 38, 42})}, {"output1", zeros({1, 32, 8, 16})}};
  Signature signature = signature_of(outputs, {}, 2);
  EXPECT_EQ(outcome(signature, outputs), "yolov8: 42");
  signature.input_width = signature.input_height = 32;
  const std::vector<Named> few{{"output0", zeros({1, 38, 21})}, {"output1", zeros({1, 32, 8, 8})}};
  signature.outputs[0].shape = {1, 38, 21};
  EXPECT_EQ(outcome(signature, few), "yolov8: 21");
}

importer::Metadata darknet(const std::map<std::string, std::string>& changes) {
  importer::Metadata metadata{{"darknet.heads", "1"},          {"darknet.head.0.output", "layer_0"},
                              {"darknet.head.0.kind", "yolo"}, {"darknet.head.0.classes", "2"},
                              {"darknet.head.0.num", "2"},     {"darknet.head.0.columns", "8"},
                              {"darknet.head.0.rows", "4"},    {"darknet.head.0.anchors", "1,1,2,2"}};
  for (const auto& [key, value] : changes) metadata["darknet.head.0." + key] = value;
  return metadata;
}

TEST(Decoders, RefuseMetadataWithGiantNumbers) {
  const std::vector<Named> outputs{{"layer_0", zeros({1, 14, 4, 8})}};
  EXPECT_EQ(outcome(outputs, darknet({})), "darknet: 128");
  const std::string giant = "1000000";
  expect_part(
      outcome(outputs, darknet({{"classes", giant}, {"num", giant}, {"columns", giant}, {"rows", giant}})),
      "overflows");
  expect_part(
      outcome(outputs, darknet({{"coords", giant}, {"num", giant}, {"columns", giant}, {"rows", giant}})),
      "overflows");
  expect_part(
      outcome(outputs, darknet({{"kind", "detection"}, {"num", giant}, {"columns", giant}, {"rows", giant}})),
      "its head's metadata tell");
  expect_part(outcome(outputs, darknet({{"classes", "99999999999999999999"}})), "darknet.head.0.classes");
  expect_part(outcome(outputs, darknet({{"num", "-2"}})), "have no sizes");
  expect_part(outcome(outputs, darknet({{"columns", "4"}, {"rows", "4"}})), "has 448 numbers an image");
  // As many numbers, in another form.
  expect_part(outcome({{"layer_0", zeros({1, 14, 32})}}, darknet({})),
              "layer_0 [1x14x32] is none of darknet");
  expect_part(outcome({{"layer_0", zeros({1, 4, 8, 14})}}, darknet({})),
              "layer_0 [1x4x8x14] is none of darknet");
  expect_part(outcome({{"layer_0", zeros({})}}, darknet({})), "has 0 numbers an image");
}

/// Numbers from -1 to 1.5, NaN and infinities among them.
Tensor noise(tensor::Shape shape, unsigned seed) {
  Tensor tensor(DType::kFloat32, std::move(shape));
  std::mt19937 generator(seed);
  for (float& value : tensor.mutable_values<float>()) {
    value = static_cast<float>(generator() % 2501) / 1000 - 1;
    if (generator() % 97 == 0) value = std::numeric_limits<float>::quiet_NaN();
    if (generator() % 97 == 0) value = std::numeric_limits<float>::infinity();
  }
  return tensor;
}

/// The boxes that a device finds in the outputs of all images; empty where candidates did not fit.
std::vector<std::vector<engine::FoundBox>> found_on_device(const DecoderChoice& choice,
                                                           const DecodeForm& form,
                                                           const std::vector<Tensor>& outputs, int64_t images,
                                                           const Geometry& geometry) {
  std::vector<HeadRule> rules;
  std::vector<engine::BoxHead> heads;
  std::vector<tensor::TensorView> views;
  for (size_t role = 0; role < choice.match.roles.size(); ++role) {
    const Role& one = choice.match.roles[role];
    const Tensor& output = outputs[one.output];
    rules.push_back(choice.decoder->head_rule(form, role, part_of(one, output.shape())));
    heads.push_back(rules.back().get());
    views.push_back(tensor::view_of(output.clone()));
    EXPECT_TRUE(heads.back().rows.is_sound());
    EXPECT_EQ(heads.back().rows.image * images, tensor::element_count(output.shape()));
  }
  std::atomic<int> searches = 0;
  const test::LoopFinder finder(heads, &searches);
  const std::vector<engine::BoxPlace> places(static_cast<size_t>(images),
                                             place_of(*choice.decoder, geometry));
  const engine::BoxSelection selection = selection_of(*choice.decoder, form.signature, {});
  auto candidates = std::make_unique<engine::BoxCandidates[]>(static_cast<size_t>(images));
  const int64_t bytes = engine::BoxList::bytes(selection.most);
  std::vector<std::byte> lists(static_cast<size_t>(images * bytes));
  finder.find({views, images, places.data(), selection, candidates.get(), lists.data()}, nullptr);
  std::vector<std::vector<engine::FoundBox>> found;
  for (int64_t image = 0; image < images; ++image) {
    int32_t count = 0;
    std::memcpy(&count, lists.data() + image * bytes, sizeof count);
    if (count < 0) return {};
    found.emplace_back(static_cast<size_t>(count));
    std::memcpy(found.back().data(), lists.data() + image * bytes + sizeof count,
                sizeof(engine::FoundBox) * found.back().size());
  }
  return found;
}

void expect_same_by_rules(const std::vector<Named>& outputs, const importer::Metadata& metadata,
                          const std::string& decoder, int64_t classes, int64_t images) {
  const Signature signature = signature_of(outputs, metadata, classes);
  std::vector<Tensor> tensors;
  for (const Named& output : outputs) tensors.push_back(output.tensor);
  const DecoderChoice choice = choose_decoder(signature, "");
  ASSERT_EQ(choice.decoder->name, decoder);
  ASSERT_NE(choice.decoder->head_rule, nullptr);
  const Geometry geometry = place_image(Fit::kLetterbox, 200, 130, 64, 32);
  size_t found = 0;
  for (const float threshold : {0.5f, 0.9f}) {
    const DecodeForm form{choice.match, signature, threshold};
    const auto on_device = found_on_device(choice, form, tensors, images, geometry);
    ASSERT_EQ(on_device.size(), static_cast<size_t>(images));
    for (int64_t row = 0; row < images; ++row) {
      const auto wanted = decode_image(choice, {form, tensors, row}, geometry, {});
      const auto& got = on_device[static_cast<size_t>(row)];
      ASSERT_EQ(got.size(), wanted.size()) << decoder;
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].score, wanted[i].score);
        EXPECT_EQ(got[i].label, wanted[i].label);
        EXPECT_EQ(got[i].box.x1, wanted[i].box.x1);
        EXPECT_EQ(got[i].box.y2, wanted[i].box.y2);
      }
      found += got.size();
    }
  }
  EXPECT_GT(found, 0u) << decoder;
}

TEST(Decoders, FindTheSameOnADevice) {
  constexpr int64_t kCells = 8 * 4 + 4 * 2 + 2 * 1;
  expect_same_by_rules({{"o", noise({2, 3 * kCells, 8}, 1)}}, {}, "yolov5", 0, 2);
  expect_same_by_rules({{"o", noise({2, 7, kCells}, 2)}}, {}, "yolov8", 0, 2);
  expect_same_by_rules({{"o", noise({1, kCells, 7}, 3)}}, {}, "yolov8", 3, 1);
  expect_same_by_rules({{"o", noise({2, 8, kCells}, 4)}}, {{"task", "obb"}}, "yolov8", 3, 2);
  expect_same_by_rules({{"o", noise({1, 39, kCells}, 5)}, {"p", zeros({1, 32, 8, 16})}}, {}, "yolov8", 3, 1);
  expect_same_by_rules({{"o", noise({2, kCells, 8}, 6)}}, {}, "yolox", 0, 2);
  expect_same_by_rules(
      {{"a", noise({2, 3, 4, 8, 7}, 7)}, {"b", noise({2, 3, 2, 4, 7}, 8)}, {"c", noise({2, 3, 1, 2, 7}, 9)}},
      {}, "yolov7-raw", 0, 2);
  expect_same_by_rules({{"layer_0", noise({3, 14, 4, 8}, 10)}}, darknet({}), "darknet", 0, 3);
  expect_same_by_rules({{"layer_0", noise({2, 14, 4, 8}, 11)}}, darknet({{"kind", "region"}}), "darknet", 0,
                       2);
  expect_same_by_rules({{"layer_0", noise({2, 22, 4, 8}, 12)}}, darknet({{"kind", "gaussian_yolo"}}),
                       "darknet", 0, 2);
  for (const char* kind : {"greedynms", "diounms"}) {
    importer::Metadata metadata = darknet({{"new_coords", "1"}, {"yolo_point", "left_top"}});
    metadata["darknet.nms_kind"] = kind;
    metadata["darknet.beta_nms"] = "0.3";
    expect_same_by_rules({{"layer_0", noise({1, 14, 4, 8}, 13)}}, metadata, "darknet", 0, 1);
  }
}

}  // namespace
}  // namespace hone::task
