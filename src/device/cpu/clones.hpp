// How loops of this folder are compiled: once per instruction set, chosen when the library is loaded.
#pragma once

/// Marks a function whose loops are vectorised for AVX-512, for AVX2 and for any x86-64. Functions that it
/// calls must be HONE_INLINE, or they stay compiled for any x86-64.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define HONE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define HONE_CLONES
#endif

#define HONE_INLINE inline __attribute__((always_inline))
