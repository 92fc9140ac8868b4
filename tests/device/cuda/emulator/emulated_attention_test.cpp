// Attention on the emulator: tiles of rows and keys that are whole and not, operands packed, shared by heads
// and unaligned, with masks.
#include <limits>
#include <optional>

#include "device/cuda/emulator/emulated_kernels.hpp"
#include "device/cuda/plugin/kernels/layers/attention.hpp"

namespace hone::device::cuda::emulated {
namespace {

/// Heads of an image and their operands in one plain tensor each: [batch][row][head][column].
struct Case {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t rows = 0;
  int64_t keys = 0;
  int depth = 0;
  int width = 0;
  /// Heads that share keys and values.
  int64_t sharing = 1;
  /// Elements by which rows of the queries are longer than what is read of them.
  int64_t gap = 0;
  /// A mask for each key, and one that hides the keys behind a row's own.
  bool masked = false;
  /// Only the mask for each key is used.
  bool by_key = false;
  /// Besides, a mask of bools hides all keys of every third row, which gives zeros then.
  bool guarded = false;
};

class AttentionCase {
 public:
  AttentionCase(const Case& c, Element element)
      : c_(c),
        element_(element),
        q_(element, c.batch * c.rows * q_row(), 2, 1),
        k_(element, c.batch * c.keys * kv_heads() * c.depth, 2, 2),
        v_(element, positive(c.batch * c.keys * kv_heads() * c.width)),
        key_mask_(Element::kFloat, c.batch * c.keys, 2, 4),
        row_mask_(Element::kFloat, hidden()) {
    for (int64_t i = 0; i < c.rows; ++i) shown_.push_back(i % 3 == 0 ? 0 : 1);
  }

  std::vector<double> expected() const {
    std::vector<double> result;
    for (int64_t n = 0; n < c_.batch; ++n) {
      for (int64_t i = 0; i < c_.rows; ++i) {
        for (int64_t h = 0; h < c_.heads; ++h) append_row(n, i, h, result);
      }
    }
    return result;
  }

  void expect() {
    for (const int split : {1, 2, 4}) expect("split", attention, split);
    if (!row_attention_refusal(size(), emulator::properties())) {
      for (const int blocks : {1, c_.rows == 1 ? 8 : 2}) expect("blocks", row_attention, blocks);
    }
    if (warpgroup_attention_refusal(size(), emulator::properties())) return;
    for (const int shares : {0, 1, 2}) expect("sharing", warpgroup_attention, shares);
  }

  /// The one row of keys and values at `place` is not in the caches yet, which hold NaN there. `turned`:
  /// queries and the new key are rotated on their way.
  void expect_appended(int64_t place, int blocks, bool turned = false) {
    SCOPED_TRACE("place " + std::to_string(place) + ", blocks " + std::to_string(blocks));
    const int64_t row = place < 0 ? place + c_.keys : place;
    const Tensor q(element_, turned ? before_rotation(q_.values) : q_.values);
    const std::vector<float> key_row = rows_of(k_, c_.depth, row);
    const Tensor new_k(element_, turned ? before_rotation(key_row) : key_row);
    const Tensor cosines(element_, table(1, 0));
    const Tensor sines(element_, table(0, 1));
    const Tensor new_v(element_, rows_of(v_, c_.width, row));
    std::optional<Tensor> caches[2];
    const FloatType type = element_ == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;
    expect_output(
        kFewSchedules, element_, {c_.batch, c_.rows, c_.heads, c_.width}, expected(), 4, [&](Output& y) {
          caches[0].emplace(element_, without(k_, c_.depth, row));
          caches[1].emplace(element_, without(v_, c_.width, row));
          emulator::busy_ahead(&place, sizeof place);
          const Tensor* const read[] = {&q, &new_k, &new_v, &cosines, &sines, &*caches[0], &*caches[1]};
          for (const Tensor* tensor : read) tensor->be_busy();
          y.be_busy();
          const AttentionArgs args{q.get(),
                                   caches[0]->get(),
                                   caches[1]->get(),
                                   {key_mask_.floats(), row_mask_.floats(), shown_.data()},
                                   y.get()};
          AppendedRow appended{.place = &place, .k = new_k.get(), .v = new_v.get()};
          appended.k_heads = {0, {kv_heads() * c_.depth, c_.depth, 0}, 0, 1};
          appended.v_heads = {0, {kv_heads() * c_.width, c_.width, 0}, 0, 1};
          appended.k_cache = const_cast<void*>(args.k);
          appended.v_cache = const_cast<void*>(args.v);
          if (turned) appended.q_rotation = appended.k_rotation = {cosines.get(), sines.get()};
          return appending_row_attention(
              args, appended, type, size(), blocks,
              LaunchOptions{.device = &emulator::properties(), .pdl = true, .next_waits = true});
        });
    EXPECT_EQ(std::memcmp(caches[0]->get(), k_.get(), k_.values.size() * element_bytes(element_)), 0);
    EXPECT_EQ(std::memcmp(caches[1]->get(), v_.get(), v_.values.size() * element_bytes(element_)), 0);
  }

 private:
  /// A table of rotations, by no angle and by a right one in turn.
  std::vector<float> table(float even, float odd) const {
    std::vector<float> values;
    for (int i = 0; i < c_.depth; ++i) values.push_back(i % (c_.depth / 2) % 2 == 0 ? even : odd);
    return values;
  }
  /// Rows that this rotation makes these of.
  std::vector<float> before_rotation(std::vector<float> rows) const {
    const int half = c_.depth / 2;
    for (size_t first = 0; first < rows.size(); first += static_cast<size_t>(c_.depth)) {
      float* const row = rows.data() + first;
      for (int i = 1; i < half; i += 2) {
        const float left = row[i];
        row[i] = row[i + half];
        row[i + half] = -left;
      }
    }
    return rows;
  }

  /// The row of each image of [batch][keys][heads][columns].
  std::vector<float> rows_of(const Tensor& tensor, int columns, int64_t row) const {
    const int64_t length = kv_heads() * columns;
    std::vector<float> rows;
    for (int64_t n = 0; n < c_.batch; ++n) {
      const auto from = tensor.values.begin() + (n * c_.keys + row) * length;
      rows.insert(rows.end(), from, from + length);
    }
    return rows;
  }
  std::vector<float> without(const Tensor& tensor, int columns, int64_t row) const {
    const int64_t length = kv_heads() * columns;
    std::vector<float> values = tensor.values;
    for (int64_t n = 0; n < c_.batch; ++n)
      std::fill_n(values.begin() + (n * c_.keys + row) * length, length,
                  std::numeric_limits<float>::quiet_NaN());
    return values;
  }

  template <class Launch>
  void expect(const char* what, const Launch& launch, int split) {
    SCOPED_TRACE(what + (" " + std::to_string(split)));
    const FloatType type = element_ == Element::kHalf ? FloatType::kHalf : FloatType::kBfloat16;
    expect_output(
        kFewSchedules, element_, {c_.batch, c_.rows, c_.heads, c_.width}, expected(), 4, [&](Output& y) {
          emulator::busy_ahead(nullptr, 0);
          for (const Tensor* tensor : {&q_, &k_, &v_}) tensor->be_busy();
          y.be_busy();
          AttentionArgs args{
              q_.get(), k_.get(), v_.get(), {key_mask_.floats(), row_mask_.floats(), shown_.data()}, y.get()};
          return launch(args, type, size(), split,
                        LaunchOptions{.device = &emulator::properties(), .pdl = true, .next_waits = true});
        });
  }

  int64_t q_row() const { return c_.heads * c_.depth + c_.gap; }
  int64_t kv_heads() const { return c_.heads / c_.sharing; }
  /// So that no sum of them is smaller than its roundings.
  static std::vector<float> positive(int64_t count) {
    std::mt19937 random(3);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = 1 + static_cast<float>(random() % 8);
    return values;
  }
  std::vector<float> hidden() const {
    std::vector<float> mask;
    for (int64_t i = 0; i < c_.rows; ++i) {
      for (int64_t j = 0; j < c_.keys; ++j) mask.push_back(j > i ? -INFINITY : 0.0f);
    }
    return mask;
  }

  AttentionSize size() const {
    AttentionSize size;
    size.loops = 3;
    size.lengths[0] = c_.batch;
    size.lengths[1] = kv_heads();
    size.lengths[2] = c_.sharing;
    size.rows = c_.rows;
    size.keys = c_.keys;
    size.depth = c_.depth;
    size.width = c_.width;
    size.scale = 0.25f;
    size.q = {0, {c_.rows * q_row(), c_.sharing * c_.depth, c_.depth}, q_row(), 1};
    size.k = {0, {c_.keys * kv_heads() * c_.depth, c_.depth, 0}, kv_heads() * c_.depth, 1};
    size.v = {0, {c_.keys * kv_heads() * c_.width, c_.width, 0}, kv_heads() * c_.width, 1};
    size.y = {0, {c_.rows * c_.heads * c_.width, c_.sharing * c_.width, c_.width}, c_.heads * c_.width, 1};
    if (c_.masked) {
      size.masks = c_.by_key ? 1 : 2;
      size.mask[0] = {0, {c_.keys, 0, 0}, 0, 1};
      size.mask[1] = {0, {0, 0, 0}, c_.keys, 1};
    }
    if (c_.guarded) {
      size.guarded = true;
      size.masks = 3;
      size.mask[2] = {0, {0, 0, 0}, 1, 0};
      size.fill[2] = {true, false, -INFINITY};
    }
    return size;
  }

  void append_row(int64_t n, int64_t i, int64_t h, std::vector<double>& result) const {
    const int64_t shared = h / c_.sharing;
    const float* const q = q_.values.data() + (n * c_.rows + i) * q_row() + h * c_.depth;
    std::vector<double> weights;
    double sum = 0;
    for (int64_t j = 0; j < c_.keys; ++j) {
      const float* const k = k_.values.data() + ((n * c_.keys + j) * kv_heads() + shared) * c_.depth;
      double score = 0;
      for (int d = 0; d < c_.depth; ++d) score += q[d] * k[d];
      score *= 0.25;
      if (c_.masked) score += key_mask_.values[n * c_.keys + j];
      if (c_.masked && !c_.by_key) score += row_mask_.values[i * c_.keys + j];
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    for (int d = 0; d < c_.width; ++d) {
      double value = 0;
      if (c_.guarded && i % 3 == 0) {
        result.push_back(0);
        continue;
      }
      for (int64_t j = 0; j < c_.keys; ++j)
        value += weights[j] / sum * v_.values[((n * c_.keys + j) * kv_heads() + shared) * c_.width + d];
      result.push_back(value);
    }
  }

  Case c_;
  Element element_;
  Tensor q_;
  Tensor k_;
  Tensor v_;
  Tensor key_mask_;
  Tensor row_mask_;
  std::vector<unsigned char> shown_;
};

TEST(EmulatedAttention, TakesWholeTiles) {
  AttentionCase({.heads = 2, .rows = 64, .keys = 128, .depth = 64, .width = 64}, Element::kHalf).expect();
  AttentionCase({.rows = 64, .keys = 64, .depth = 32, .width = 32}, Element::kBFloat16).expect();
}

TEST(EmulatedAttention, TakesPartsOfTiles) {
  AttentionCase({.batch = 2, .heads = 3, .rows = 49, .keys = 49, .depth = 32, .width = 32}, Element::kHalf)
      .expect();
  AttentionCase({.rows = 70, .keys = 131, .depth = 72, .width = 40}, Element::kHalf).expect();
  AttentionCase({.rows = 1, .keys = 200, .depth = 128, .width = 128}, Element::kBFloat16).expect();
}

TEST(EmulatedAttention, ReadsOperandsThatHeadsShare) {
  AttentionCase({.batch = 2, .heads = 4, .rows = 5, .keys = 70, .depth = 64, .width = 64, .sharing = 2},
                Element::kHalf)
      .expect();
}

TEST(EmulatedAttention, ReadsOperandsThatAreNotAligned) {
  AttentionCase({.rows = 20, .keys = 33, .depth = 13, .width = 7}, Element::kHalf).expect();
  AttentionCase({.heads = 2, .rows = 20, .keys = 33, .depth = 16, .width = 16, .gap = 3}, Element::kBFloat16)
      .expect();
}

TEST(EmulatedAttention, AddsMasks) {
  AttentionCase({.batch = 2, .heads = 2, .rows = 90, .keys = 90, .depth = 16, .width = 16, .masked = true},
                Element::kHalf)
      .expect();
}

TEST(EmulatedAttention, AddsMasksOfKeys) {
  AttentionCase(
      {.batch = 2, .rows = 130, .keys = 150, .depth = 64, .width = 64, .masked = true, .by_key = true},
      Element::kHalf)
      .expect();
  AttentionCase({.rows = 20, .keys = 70, .depth = 32, .width = 16, .masked = true, .by_key = true},
                Element::kBFloat16)
      .expect();
}

TEST(EmulatedAttention, GivesZerosForRowsThatAreMaskedAsAWhole) {
  AttentionCase({.batch = 2,
                 .heads = 2,
                 .rows = 70,
                 .keys = 90,
                 .depth = 16,
                 .width = 16,
                 .masked = true,
                 .guarded = true},
                Element::kHalf)
      .expect();
}

TEST(EmulatedAttention, TakesTheOneRowOfADecoder) {
  AttentionCase({.heads = 4, .rows = 1, .keys = 140, .depth = 64, .width = 64, .sharing = 2, .masked = true},
                Element::kHalf)
      .expect();
  AttentionCase({.batch = 2, .heads = 2, .rows = 1, .keys = 7, .depth = 24, .width = 32}, Element::kBFloat16)
      .expect();
  AttentionCase({.rows = 3, .keys = 65, .depth = 72, .width = 128, .masked = true, .guarded = true},
                Element::kHalf)
      .expect();
}

TEST(EmulatedAttention, AppendsTheOneRowOfADecoderToItsCaches) {
  AttentionCase decoder(
      {.heads = 4, .rows = 1, .keys = 140, .depth = 64, .width = 64, .sharing = 2, .masked = true},
      Element::kHalf);
  for (const int64_t place : {0, 77, 139, -1}) decoder.expect_appended(place, 8);
  decoder.expect_appended(77, 1);
  AttentionCase batched({.batch = 2, .heads = 2, .rows = 1, .keys = 7, .depth = 24, .width = 32},
                        Element::kBFloat16);
  for (const int64_t place : {3, 6}) batched.expect_appended(place, 2);
}

TEST(EmulatedAttention, TurnsQueriesAndTheKeyThatItAppends) {
  AttentionCase({.heads = 4, .rows = 1, .keys = 140, .depth = 64, .width = 64, .sharing = 2, .masked = true},
                Element::kHalf)
      .expect_appended(77, 8, true);
  AttentionCase({.batch = 2, .heads = 2, .rows = 1, .keys = 9, .depth = 16, .width = 24}, Element::kBFloat16)
      .expect_appended(2, 1, true);
}

TEST(EmulatedAttention, RefusesWhatItHasNoKernelFor) {
  DeviceProperties device;
  AttentionSize size;
  size.rows = size.keys = 9;
  size.depth = size.width = 64;
  EXPECT_FALSE(attention_refusal(size, device));
  size.depth = 136;
  EXPECT_TRUE(attention_refusal(size, device));
  size.depth = 64;
  EXPECT_FALSE(warpgroup_attention_refusal(size, emulator::properties()));
  size.q.row = 68;
  EXPECT_EQ(warpgroup_attention_refusal(size, emulator::properties()).text(),
            "rows do not lie in runs of 16 bytes");
  size.q.row = 72;
  size.depth = 72;
  EXPECT_EQ(warpgroup_attention_refusal(size, emulator::properties()).text(),
            "heads of 72 and 64 columns, 64 at most");
  EXPECT_FALSE(attention_refusal(size, device));
  EXPECT_EQ(row_attention_refusal(size, emulator::properties()).text(), "it has more than 8 rows");
  size.rows = 8;
  EXPECT_FALSE(row_attention_refusal(size, emulator::properties()));
  size.width = 60;
  EXPECT_EQ(row_attention_refusal(size, emulator::properties()).text(),
            "rows do not lie in runs of 16 bytes");
  device.async_copies = false;
  EXPECT_TRUE(attention_refusal(size, device));
}

}  // namespace
}  // namespace hone::device::cuda::emulated
