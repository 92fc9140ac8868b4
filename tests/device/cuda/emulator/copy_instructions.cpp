// Copies and stores of instructions.hpp that run beside the threads.
#include <algorithm>
#include <array>
#include <cstring>

#include "device/cuda/emulator/instructions.hpp"
#include "device/cuda/emulator/machine.hpp"
#include "device/cuda/emulator/tensor_map.hpp"

namespace hone::device::cuda::emulator {
namespace {

Machine& machine() { return Machine::get(); }
Block& block() { return machine().block(); }

void ruin(Block& where, uint32_t address, size_t bytes) {
  std::memset(where.at(address, bytes, "a copy"), 0xff, bytes);
}

/// A copy to shared memory of what the map says, counted by the barrier.
template <class VisitAll>
void copy_tensor(uint32_t target, const CUtensorMap& encoded, uint32_t barrier, VisitAll visit_all) {
  const TensorMap& map = tensor_map(encoded);
  Block& where = block();
  const size_t bytes = map.box_bytes();
  if (target % 128 != 0) throw Fault("a box is copied to an address that is no multiple of 128");
  where.at(target, bytes, "a copy");
  where.expect_fenced(target, bytes, "a copy overwrites");
  machine().expect_not_busy(map.memory, map.bytes());
  machine().start(
      [&where, &map, target, barrier, bytes, visit_all] {
        visit_all(map, [&](size_t offset, const std::byte* element) {
          std::byte* const to = where.at(map.place(target, offset), map.element_bytes, "a copy");
          if (element == nullptr) {
            std::memset(to, 0, map.element_bytes);
          } else {
            std::memcpy(to, element, map.element_bytes);
          }
        });
        where.complete(barrier, static_cast<int64_t>(bytes));
      },
      [&] { ruin(where, target, bytes); });
}

std::array<int, TensorMap::kMostRank> corner_of(const CUtensorMap& map,
                                                std::initializer_list<int> coordinates) {
  if (tensor_map(map).im2col || tensor_map(map).rank != static_cast<int>(coordinates.size()))
    throw Fault("a box is copied by a map of another kind or rank");
  std::array<int, TensorMap::kMostRank> corner{};
  std::copy(coordinates.begin(), coordinates.end(), corner.begin());
  return corner;
}

}  // namespace

void copy_async(uint32_t target, const void* source, uint32_t bytes, bool valid) {
  Block& where = block();
  std::byte* const to = where.at(target, bytes, "a copy");
  if (target % bytes != 0) throw Fault("a copy to an address that is no multiple of its size");
  if (valid) machine().expect_not_busy(source, bytes);
  machine().thread().copies.open.push_back(machine().start(
      [=] {
        if (valid) {
          std::memcpy(to, source, bytes);
        } else {
          std::memset(to, 0, bytes);
        }
      },
      [&] { ruin(where, target, bytes); }));
}

void commit_copies() { machine().thread().copies.commit(); }
void wait_copies(int pending) { machine().thread().copies.wait(pending); }

void copy_bulk(uint32_t target, const void* source, uint32_t bytes, uint32_t barrier) {
  Block& where = block();
  std::byte* const to = where.at(target, bytes, "a copy");
  if (target % 16 != 0 || bytes % 16 != 0 || reinterpret_cast<uintptr_t>(source) % 16 != 0)
    throw Fault("a bulk copy of no multiples of 16");
  where.expect_fenced(target, bytes, "a copy overwrites");
  machine().expect_not_busy(source, bytes);
  machine().start(
      [=, &where] {
        std::memcpy(to, source, bytes);
        where.complete(barrier, bytes);
      },
      [&] { ruin(where, target, bytes); });
}

void copy_box(uint32_t target, const CUtensorMap& map, uint32_t barrier, std::initializer_list<int> corner) {
  copy_tensor(target, map, barrier,
              [at = corner_of(map, corner)](const TensorMap& of, const TensorMap::Visit& visit) {
                of.visit_box(at, visit);
              });
}

void copy_column(uint32_t target, const CUtensorMap& map, uint32_t barrier, int channel, int w, int h, int n,
                 int tap_w, int tap_h) {
  if (!tensor_map(map).im2col) throw Fault("a column of windows is copied by a map of boxes");
  copy_tensor(target, map, barrier, [=](const TensorMap& of, const TensorMap::Visit& visit) {
    of.visit_column(channel, w, h, n, tap_w, tap_h, visit);
  });
}

void store_box(const CUtensorMap& encoded, uint32_t source, std::initializer_list<int> coordinates) {
  const TensorMap& map = tensor_map(encoded);
  Block& where = block();
  where.at(source, map.box_bytes(), "a store");
  if (source % 128 != 0) throw Fault("a box is stored from an address that is no multiple of 128");
  where.expect_fenced(source, map.box_bytes(), "a store reads");
  machine().expect_free(map.memory, map.bytes());
  machine().thread().stores.open.push_back(machine().start(
      [&where, &map, source, corner = corner_of(encoded, coordinates)] {
        map.visit_box(corner, [&](size_t offset, std::byte* element) {
          if (element == nullptr) return;
          std::memcpy(element, where.at(map.place(source, offset), map.element_bytes, "a store"),
                      map.element_bytes);
        });
      },
      [] {}));
}

void commit_stores() { machine().thread().stores.commit(); }
void wait_stores_read(int pending) { machine().thread().stores.wait(pending); }
void fence_for_copies() { block().fence(machine().thread()); }

}  // namespace hone::device::cuda::emulator
