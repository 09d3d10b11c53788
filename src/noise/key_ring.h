// Holds the keys of the steps whose seed noise may still be read; private to the noise room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "hkdf.h"
#include "nustream/noise/source.h"

namespace nustream::noise {

/// Ratchets the chain key of a stage forward, by one HKDF expansion a block, and forgets the keys behind it:
///
///     chain of what follows ‖ cipher_n = HKDF-Expand(chain_n, "nustream noise block v1" ‖ n, 64 bytes)
///
/// Where a segment begins, its chain key is HKDF-Extract(salt: fresh bytes, the key that would have come next)
/// (docs/formats/noise.md). HKDF cannot be inverted, so a step whose keys are forgotten stays closed. Keys live in
/// memory of `secrets` and are wiped when they are forgotten, moved or destroyed.
///
/// A part is the steps of one block that belong to one segment: the steps that one cipher key is for. Without healing
/// a part is a block. A segment begins when its first part is drawn, not before; until then the ring holds the key
/// that would have come next, without fresh bytes.
class KeyRing {
 public:
  /// Where segments begin, besides those that are given.
  struct Cuts {
    Healing healing{};             ///< if resumed, one begins at `next_step`
    std::uint64_t next_step = 0;   ///< after it, they begin at the borders of blocks
    std::uint64_t length_min = 1;  ///< the fewest steps of a segment that ends at a border
  };

  /// `segments` holds at least one segment, in ascending order. Blocks have `block_steps` steps.
  KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets);
  KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets, Cuts cuts);
  KeyRing(const KeyRing&) = delete;
  KeyRing& operator=(const KeyRing&) = delete;
  ~KeyRing();

  /// A part as its user needs it.
  struct Part {
    std::uint64_t number;  ///< differs from that of every other part of this ring
    std::uint64_t end;     ///< one past its last step
  };

  [[nodiscard]] std::uint64_t block_steps() const noexcept { return block_steps_; }
  /// The first step of the oldest part that is held.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return part(oldest_).first; }
  /// The part that holds `step`, which must be at or after oldest(). It ratchets forward as far as needed, and throws
  /// what the source of fresh bytes throws.
  [[nodiscard]] Part part_of(std::uint64_t step);
  /// Draws all parts that end at or before `step`.
  void advance_to(std::uint64_t step);
  /// The cipher key of the part that holds `step`, under the conditions of part_of().
  [[nodiscard]] const KeyBytes& cipher_key(std::uint64_t step);
  /// The chain key of the part that holds `step`; `step` lies between oldest() and one past the last step that was
  /// drawn.
  [[nodiscard]] const KeyBytes& chain_key(std::uint64_t step) const;
  /// The segments that open the steps from `oldest` on as they are: the part of `oldest`, or the last one that was
  /// drawn, and all segments that begin after it, up to `last`.
  [[nodiscard]] std::vector<Segment> segments(std::uint64_t oldest, std::uint64_t last) const;
  /// Wipes the keys of all parts that end at or before `step`. The parts up to `step` must have been drawn.
  void forget_before(std::uint64_t step);

 private:
  struct Keys {
    KeyBytes chain;
    KeyBytes cipher;
  };
  struct Place {
    std::uint64_t first;
    bool begins_segment;
  };

  [[nodiscard]] Keys& slot(std::uint64_t number) { return slots_[number % slots_.size()]; }
  [[nodiscard]] Place& part(std::uint64_t number) { return places_[number % places_.size()]; }
  [[nodiscard]] const Place& part(std::uint64_t number) const { return places_[number % places_.size()]; }
  [[nodiscard]] std::uint64_t number_of(std::uint64_t step) const;
  [[nodiscard]] bool is_cut(std::uint64_t first) const;
  [[nodiscard]] std::uint64_t end_of_newest() const;
  void mix_fresh_bytes(KeyBytes& chain);
  void begin_part(std::uint64_t first);
  void ratchet();
  void grow();

  Hkdf hkdf_;
  std::uint64_t block_steps_;
  Cuts cuts_;
  std::pmr::vector<Segment> given_;  // each is wiped when it is reached
  std::size_t next_given_ = 1;
  std::pmr::vector<KeyBytes> fresh_;  // one element: the bytes that are mixed in, held only for as long as that takes
  std::pmr::vector<Keys> slots_;      // part n is in slot n mod size
  std::vector<Place> places_;         // like slots_
  std::uint64_t oldest_ = 0;
  std::uint64_t newest_ = 0;  // its cipher key is not derived yet, nor are fresh bytes mixed in
  std::uint64_t segment_first_;
  std::size_t segments_held_ = 1;
};

}  // namespace nustream::noise
