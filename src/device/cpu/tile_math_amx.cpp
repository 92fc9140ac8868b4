// See tile_math_amx.hpp.
#include "device/cpu/tile_math_amx.hpp"

#include "device/cpu/tile_vectors.hpp"

namespace hone::device::cpu {
namespace {

#define HONE_AMX \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni,amx-tile,amx-bf16")))

/// The operand of LDTILECFG: all registers hold 16 rows of 64 bytes.
struct alignas(64) RegisterShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr RegisterShapes kShapes;

constexpr int64_t kColumnBytes = kTileColumns * 4;
constexpr int64_t kHalf = kTileColumns / 2;

void fetch(const uint32_t* lines, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    _mm_prefetch(reinterpret_cast<const char*>(lines + i * kAmxUnits), _MM_HINT_T1);
}

/// The sums of up to 16 rows, or of up to 32.
template <bool kBoth>
HONE_AMX void multiply(const AmxOperands& o, float* sums) {
  const int64_t row_bytes = o.a_stride * 4;
  const uint32_t* const lower = o.a + kAmxRegisterRows * o.a_stride;
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kBoth) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const uint32_t* ahead = o.ahead;
  for (int64_t unit = 0; unit < o.units; unit += kAmxUnits) {
    const uint32_t* const b = o.b + unit * kTileColumns;
    _tile_loadd(4, o.a + unit, row_bytes);
    _tile_loadd(6, b, kColumnBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + kHalf, kColumnBytes);
    _tile_dpbf16ps(1, 4, 7);
    fetch(ahead, o.ahead_lines);
    ahead += o.ahead_lines * kAmxUnits;
    if constexpr (kBoth) {
      _tile_loadd(5, lower + unit, row_bytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kColumnBytes);
  _tile_stored(1, sums + kHalf, kColumnBytes);
  if constexpr (kBoth) {
    float* const others = sums + kAmxRegisterRows * kTileColumns;
    _tile_stored(2, others, kColumnBytes);
    _tile_stored(3, others + kHalf, kColumnBytes);
  }
}

/// Adds what sums start at, and writes them where they go.
HONE_AVX512 void finish(int64_t rows, const float* sums, const TileTarget& target) {
  const std::array<__mmask16, 2> masks = masks_of(target.columns);
  const auto* const bias = static_cast<const float*>(target.bias);
  auto* const kept = static_cast<float*>(target.sums);
  for (int64_t row = 0; row < rows; ++row, sums += kTileColumns) {
    __m512 all[1][2];
    for (int half = 0; half < 2; ++half) {
      const __mmask16 mask = masks[static_cast<size_t>(half)];
      const int64_t at = row * target.result_stride + 16 * half;
      const int64_t kept_at = row * target.sums_stride + 16 * half;
      __m512 sum = _mm512_loadu_ps(sums + 16 * half);
      if (target.start == TileStart::kSums) {
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, kept + kept_at));
      } else if (bias != nullptr) {
        sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, bias + 16 * half));
      }
      if (target.start == TileStart::kResult)
        sum = _mm512_add_ps(sum, load_result<TileType::kBFloat16>(target.result, at, mask));
      all[0][half] = sum;
    }
    if (target.ends) apply_function<TileType::kBFloat16>(target.function, all);
    for (int half = 0; half < 2; ++half) {
      const __mmask16 mask = masks[static_cast<size_t>(half)];
      if (target.ends) {
        store_result<TileType::kBFloat16>(target.result, row * target.result_stride + 16 * half, mask,
                                          all[0][half]);
      } else {
        _mm512_mask_storeu_ps(kept + row * target.sums_stride + 16 * half, mask, all[0][half]);
      }
    }
  }
}

HONE_AMX void set_up() { _tile_loadconfig(&kShapes); }
HONE_AMX void empty() { _tile_release(); }

}  // namespace

AmxRegisters::AmxRegisters(bool needed) : needed_(needed) {
  if (needed_) set_up();
}

AmxRegisters::~AmxRegisters() {
  if (needed_) empty();
}

void multiply_amx_tile(int64_t rows, const AmxOperands& operands, const TileTarget& target) {
  alignas(64) float sums[kAmxTileRows * kTileColumns];
  if (rows <= kAmxRegisterRows) {
    multiply<false>(operands, sums);
  } else {
    multiply<true>(operands, sums);
  }
  finish(rows, sums, target);
}

}  // namespace hone::device::cpu
