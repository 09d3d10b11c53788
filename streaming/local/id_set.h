// The set of ids of all reports that were counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nustream::local {

/// A set of 16-byte ids that senders may have chosen. Places are found by a hash under a random key, so that nobody
/// can choose ids that collide. It takes 21 to 43 bytes an id. To be used by one thread.
class IdSet {
 public:
  using Id = std::array<std::uint8_t, 16>;

  IdSet();
  /// Adds the id; returns false where it was there already.
  bool insert(const Id& id);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::size_t place_of(const Id& id) const;
  void grow();

  static constexpr Id free_{};          // marks a free place; the id of zeros is kept apart
  std::array<std::uint8_t, 16> key_{};  // key of SipHash
  std::vector<Id> table_;               // its size is a power of two
  std::size_t size_ = 0;
  bool has_zeros_ = false;
};

}  // namespace nustream::local
