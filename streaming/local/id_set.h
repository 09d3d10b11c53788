// The ids of all reports that were counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nustream::local {

/// A set of 16-byte ids that whoever sends them may have chosen: places are keyed at random, so that nobody can make
/// them collide. Takes 21 to 43 bytes an id. One thread.
class IdSet {
 public:
  using Id = std::array<std::uint8_t, 16>;

  IdSet();
  /// False where it was there.
  bool insert(const Id& id);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::size_t place_of(const Id& id) const;
  void grow();

  static constexpr Id free_{};          // the id of zeros is kept apart
  std::array<std::uint8_t, 16> key_{};  // of SipHash
  std::vector<Id> table_;               // a power of two
  std::size_t size_ = 0;
  bool has_zeros_ = false;
};

}  // namespace nustream::local
