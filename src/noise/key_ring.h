// The keys of the steps whose seed noise may still be read; private to the noise room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "hkdf.h"
#include "nustream/noise/source.h"

namespace nustream::noise {

/// Ratchets the chain key of a stage forward, one HKDF expansion a block, and forgets behind:
///
///     chain of what follows ‖ cipher_n = HKDF-Expand(chain_n, "nustream noise block v1" ‖ n, 64 bytes)
///
/// and where a segment begins, its chain key is HKDF-Extract(salt: fresh bytes, the key that would have come next)
/// (docs/formats/noise.md). No step back is possible, so a step whose keys are forgotten stays closed. Keys live in
/// memory of `secrets` and are wiped when forgotten, moved or destroyed.
///
/// A part is the steps of one block that are of one segment: what one cipher key is for. Without healing a part is a
/// block. A segment begins when its first part is drawn, not before: until then the ring holds the key that would
/// have come next.
class KeyRing {
 public:
  /// Where segments begin, beside those that are given.
  struct Cuts {
    Healing healing{};             ///< resumed: at `next_step`
    std::uint64_t next_step = 0;   ///< behind it, at the borders of blocks
    std::uint64_t length_min = 1;  ///< steps of a segment that ends at one
  };

  /// `segments`: ascending, at least one. Blocks are of `block_steps` steps.
  KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets);
  KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets, Cuts cuts);
  KeyRing(const KeyRing&) = delete;
  KeyRing& operator=(const KeyRing&) = delete;
  ~KeyRing();

  struct Part {
    std::uint64_t number;  ///< no other part of this ring has it
    std::uint64_t end;     ///< one past its last step
  };

  [[nodiscard]] std::uint64_t block_steps() const noexcept { return block_steps_; }
  /// First step of the oldest part that is held.
  [[nodiscard]] std::uint64_t oldest() const noexcept { return part(oldest_).first; }
  /// The part that holds `step`, which is at or after oldest(); ratchets forward as far as needed, and throws what
  /// fresh bytes throw.
  [[nodiscard]] Part part_of(std::uint64_t step);
  /// Draws the parts that end at or before `step`.
  void advance_to(std::uint64_t step);
  /// Of the part that holds `step`, as part_of().
  [[nodiscard]] const KeyBytes& cipher_key(std::uint64_t step);
  /// Of the part that holds `step`, from oldest() to one past the last step of the parts that were drawn.
  [[nodiscard]] const KeyBytes& chain_key(std::uint64_t step) const;
  /// What opens the steps from `oldest` on as they are: its part, or the last one that was drawn, and the segments
  /// that begin behind it, up to `last`.
  [[nodiscard]] std::vector<Segment> segments(std::uint64_t oldest, std::uint64_t last) const;
  /// Wipes the keys of all parts that end at or before `step`, up to which parts were drawn.
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
  std::pmr::vector<Segment> given_;  // wiped as they are reached
  std::size_t next_given_ = 1;
  std::pmr::vector<KeyBytes> fresh_;  // one: the bytes that are mixed in, for as long as that takes
  std::pmr::vector<Keys> slots_;      // part n in slot n mod size
  std::vector<Place> places_;         // as slots_
  std::uint64_t oldest_ = 0;
  std::uint64_t newest_ = 0;  // its cipher key is not derived yet, nor anything mixed in
  std::uint64_t segment_first_;
  std::size_t segments_held_ = 1;
};

}  // namespace nustream::noise
