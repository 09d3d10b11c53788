// The chain of noise keys, as docs/formats/noise.md (Keys, Segments) has it. Parts are held in a ring from oldest_ to
// newest_. Of the newest part only the chain key is held: its cipher key, and the fresh bytes of a segment that
// begins there, come when ratchet() draws it. Every key is wiped at the place where it is no longer needed.
#include "key_ring.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

/// The labels are part of the format: sealed states are read by other builds, so another derivation needs other
/// labels.
constexpr std::string_view block_label = "nustream noise block v1";
constexpr std::string_view chain_label = "nustream noise chain v1";
constexpr std::size_t slots_at_first = 4;

/// The info of a derivation: the label followed by the numbers, each little-endian.
template <std::size_t LabelSize, class... Numbers>
auto key_info(std::string_view label, Numbers... numbers) {
  std::array<std::uint8_t, LabelSize + (sizeof(Numbers) + ...)> info{};
  auto next = std::copy(label.begin(), label.end(), info.begin());
  const auto append = [&next](auto number) {
    for (std::size_t byte = 0; byte < sizeof number; ++byte) {
      *next++ = static_cast<std::uint8_t>(number >> (8 * byte));
    }
  };
  (append(numbers), ...);
  return info;
}

}  // namespace

void wipe(std::span<std::uint8_t> memory) noexcept {
  OPENSSL_cleanse(memory.data(), memory.size());
}

// Lane, epoch and stage enter the info, so that two stages cannot share a key even under one epoch key.
Checkpoint first_checkpoint(const KeyBytes& epoch_key, const StageId& stage) {
  Hkdf hkdf;
  KeyBytes extracted{};
  hkdf.extract({}, epoch_key, extracted);
  Checkpoint checkpoint{{{StepIndex{0}, {}}}, {}};
  const std::uint32_t lane = stage.lane.value();
  const std::uint32_t number = stage.stage;
  hkdf.expand(extracted, key_info<chain_label.size()>(chain_label, lane, stage.epoch.value(), number),
              checkpoint.segments.front().chain_key);
  wipe(extracted);
  return checkpoint;
}

KeyRing::KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets)
    : KeyRing(segments, block_steps, secrets, Cuts{}) {}

KeyRing::KeyRing(std::span<const Segment> segments, std::size_t block_steps, std::pmr::memory_resource* secrets,
                 Cuts cuts)
    : block_steps_(block_steps),
      cuts_(std::move(cuts)),
      given_(segments.begin(), segments.end(), secrets),
      fresh_(1, KeyBytes{}, secrets),
      slots_(slots_at_first, Keys{}, secrets),
      places_(slots_at_first),
      segment_first_(segments.front().first.value()) {
  // The key moves into the ring, and the copy that was given is wiped, as it is for every later segment.
  part(0) = {segment_first_, true};
  slot(0).chain = given_.front().chain_key;
  wipe(given_.front().chain_key);
}

KeyRing::~KeyRing() {
  for (auto& keys : slots_) {
    wipe(keys.chain);
    wipe(keys.cipher);
  }
  for (Segment& segment : given_) wipe(segment.chain_key);
}

// Parts have different lengths, so the one that holds a step is found by bisection.
std::uint64_t KeyRing::number_of(std::uint64_t step) const {
  std::uint64_t low = oldest_;
  for (std::uint64_t high = newest_; low < high;) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (part(middle).first <= step) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// The contract comes before anything else. Were the noise of such a step drawn again, under whatever key is held now,
// two noises would lie over one step.
KeyRing::Part KeyRing::part_of(std::uint64_t step) {
  NUSTREAM_REQUIRE(oldest() <= step, "the noise of a block whose key was wiped is never drawn again");
  while (part(newest_).first <= step) ratchet();
  const std::uint64_t number = number_of(step);
  return {number, part(number + 1).first};
}

const KeyBytes& KeyRing::cipher_key(std::uint64_t step) {
  return slot(part_of(step).number).cipher;
}

// The newest part counts too: a state may be committed whose next step was not drawn yet.
const KeyBytes& KeyRing::chain_key(std::uint64_t step) const {
  NUSTREAM_REQUIRE(oldest() <= step && step <= part(newest_).first, "the chain key of a block that is held");
  return slots_[number_of(step) % slots_.size()].chain;
}

std::vector<Segment> KeyRing::segments(std::uint64_t oldest, std::uint64_t last) const {
  std::vector<Segment> kept;
  kept.reserve(segments_held_ + given_.size());  // allocated once: a growing vector would leave copies of keys behind
  std::uint64_t number = number_of(oldest);
  const auto keep = [&] { kept.push_back({StepIndex{part(number).first}, slots_[number % slots_.size()].chain}); };
  keep();
  // After the first, only parts that begin a segment are kept. The key of any other part follows from that of its
  // segment.
  while (++number <= newest_ && part(number).first <= last) {
    if (part(number).begins_segment) keep();
  }
  for (std::size_t i = next_given_; i < given_.size() && given_[i].first.value() <= last; ++i) {
    kept.push_back(given_[i]);
  }
  return kept;
}

void KeyRing::advance_to(std::uint64_t step) {
  while (end_of_newest() <= step) ratchet();
}

void KeyRing::forget_before(std::uint64_t step) {
  NUSTREAM_REQUIRE(step < end_of_newest(), "the chain goes on from a key that is held");
  for (; oldest_ < newest_ && part(oldest_ + 1).first <= step; ++oldest_) {
    if (part(oldest_ + 1).begins_segment) --segments_held_;
    wipe(slot(oldest_).chain);
    wipe(slot(oldest_).cipher);
  }
}

/// Whether a new segment begins at `first`. A border where no further segment fits waits until one leaves the reach.
bool KeyRing::is_cut(std::uint64_t first) const {
  if (!cuts_.healing.fresh) return false;
  if (first <= cuts_.next_step) {
    return first == cuts_.next_step && cuts_.healing.resumed;
  }
  return first % block_steps_ == 0 && first - segment_first_ >= cuts_.length_min && segments_held_ < segments_max;
}

void KeyRing::mix_fresh_bytes(KeyBytes& chain) {
  cuts_.healing.fresh(fresh_.front());
  hkdf_.extract(fresh_.front(), chain, chain);
  wipe(fresh_.front());
}

/// The end of the newest part: the border of its block, or an earlier step where a given segment begins or where the
/// run is resumed.
std::uint64_t KeyRing::end_of_newest() const {
  // For example: with blocks of 1024 steps, a run that is resumed at step 1500 has the parts [1024, 1500), [1500,
  // 2048), [2048, 3072) and so on.
  const std::uint64_t first = part(newest_).first;
  std::uint64_t end = (first / block_steps_ + 1) * block_steps_;
  if (next_given_ < given_.size()) end = std::min(end, given_[next_given_].first.value());
  // A resumed run begins a segment at its next step, which may lie inside a block.
  const bool resumed = cuts_.healing.fresh && cuts_.healing.resumed;
  if (resumed && cuts_.next_step > first) end = std::min(end, cuts_.next_step);
  return end;
}

/// Begins part newest_ + 1. Its chain key is the one that comes next, unless its segment was given.
void KeyRing::begin_part(std::uint64_t first) {
  const bool given = next_given_ < given_.size() && given_[next_given_].first.value() == first;
  part(newest_ + 1) = {first, given};
  if (!given) return;
  // This takes the place of the key that ratchet() derived: a given segment does not follow from the one before.
  slot(newest_ + 1).chain = given_[next_given_].chain_key;
  wipe(given_[next_given_++].chain_key);
  segment_first_ = first;
  ++segments_held_;
}

/// Derives the cipher key of the newest part and the chain key of what follows from one expansion. Fresh bytes are
/// mixed in first where a segment begins, so that both keys depend on them.
void KeyRing::ratchet() {
  // The part that begins needs a slot of its own while the oldest one is still held.
  if (newest_ - oldest_ + 2 > slots_.size()) grow();
  Place& place = part(newest_);
  if (is_cut(place.first)) {
    mix_fresh_bytes(slot(newest_).chain);
    if (!place.begins_segment) ++segments_held_;
    place.begins_segment = true;
    segment_first_ = place.first;
  }
  std::array<std::uint8_t, 2 * sizeof(KeyBytes)> derived{};
  const std::uint64_t number = place.first / block_steps_;
  hkdf_.expand(slot(newest_).chain, key_info<block_label.size()>(block_label, number), derived);
  const auto middle = derived.begin() + sizeof(KeyBytes);
  std::copy(derived.begin(), middle, slot(newest_ + 1).chain.begin());
  std::copy(middle, derived.end(), slot(newest_).cipher.begin());
  wipe(derived);
  begin_part(end_of_newest());
  ++newest_;
}

/// Doubles the ring. The old keys are wiped after the copy, because freeing memory does not erase it.
void KeyRing::grow() {
  std::pmr::vector<Keys> larger(2 * slots_.size(), Keys{}, slots_.get_allocator());
  std::vector<Place> places(larger.size());
  for (std::uint64_t number = oldest_; number <= newest_; ++number) {
    larger[number % larger.size()] = slot(number);
    places[number % places.size()] = part(number);
  }
  slots_.swap(larger);
  places_.swap(places);
  for (auto& keys : larger) {
    wipe(keys.chain);
    wipe(keys.cipher);
  }
}

}  // namespace nustream::noise
