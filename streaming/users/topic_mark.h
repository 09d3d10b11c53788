// How far a lane's store of users in a topic has come: what the lane's state holds of it (docs/formats/users.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nustream/users/placement.h"
#include "secrets/fields.h"
#include "users/store_mark.h"

namespace nustream::users {

/// Where a segment of the store begins.
struct SegmentStart {
  std::uint64_t number = 0;  ///< of its first record; 0 where there is no such segment
  std::uint64_t offset = 0;  ///< in the lane's partition: its records are at or behind it

  friend bool operator==(const SegmentStart&, const SegmentStart&) = default;
};

/// How a stream's users are divided among its lanes.
struct Division {
  std::uint32_t lanes = 1;
  std::uint32_t change = 0;  ///< how often they were divided otherwise before
  Partitioner partitioner = Partitioner::user_hash;

  friend bool operator==(const Division&, const Division&) = default;
};

/// 9 bytes, little-endian.
void append_division(const Division& division, std::string& out);
/// Failure(data) where there are no lanes, or the partitioner is none.
[[nodiscard]] Division take_division(secrets::FieldReader& fields);

/// Goes into the sealed state with the transaction whose changes it covers.
struct TopicMark {
  StoreMark store{};
  Division division{};
  std::uint64_t segment = 0;  ///< number of the segment that is appended to; 0: nothing was stored
  SegmentStart before{};      ///< of the segment before it
  SegmentStart current{};

  friend bool operator==(const TopicMark&, const TopicMark&) = default;
};

/// 89 bytes, little-endian.
[[nodiscard]] std::string encode_mark(const TopicMark& mark);
/// Failure(data) where the bytes are no such mark: the state is that of a folder.
[[nodiscard]] TopicMark decode_topic_mark(std::string_view bytes);

}  // namespace nustream::users
