// See byte_table.hpp.
#include "device/cpu/quantized/byte_table.hpp"

#include <immintrin.h>

namespace hone::device::cpu {
namespace {

#define HONE_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))

/// Results do not depend on it, so engines of any level may use it.
bool has_byte_permutations() {
  static const bool kHas = __builtin_cpu_supports("avx512vbmi") != 0;
  return kHas;
}

/// 64 bytes at a time: each half of the table is two registers, and the highest bit chooses the half.
HONE_VBMI void look_up_in_registers(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t n) {
  constexpr int64_t kVector = 64;
  const __m512i first = _mm512_loadu_si512(table.data());
  const __m512i second = _mm512_loadu_si512(table.data() + kVector);
  const __m512i third = _mm512_loadu_si512(table.data() + 2 * kVector);
  const __m512i fourth = _mm512_loadu_si512(table.data() + 3 * kVector);
  for (int64_t i = 0; i < n; i += kVector) {
    const __mmask64 mask = n - i < kVector ? (uint64_t{1} << (n - i)) - 1 : ~uint64_t{0};
    const __m512i bytes = _mm512_maskz_loadu_epi8(mask, x + i);
    const __m512i low = _mm512_permutex2var_epi8(first, bytes, second);
    const __m512i high = _mm512_permutex2var_epi8(third, bytes, fourth);
    _mm512_mask_storeu_epi8(y + i, mask, _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high));
  }
}

}  // namespace

void look_up(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t n) {
  if (has_byte_permutations()) return look_up_in_registers(table, x, y, n);
  for (int64_t i = 0; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace hone::device::cpu
