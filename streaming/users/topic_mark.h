// How far a lane's store of users in a topic has come. The lane's state holds this mark (docs/formats/users.md).
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
  std::uint64_t number = 0;  ///< the number of its first record; 0 where there is no such segment
  std::uint64_t offset = 0;  ///< an offset of the lane's partition at or before its first record

  friend bool operator==(const SegmentStart&, const SegmentStart&) = default;
};

/// How a stream's users are divided among its lanes.
struct Division {
  std::uint32_t lanes = 1;
  std::uint32_t change = 0;  ///< how many other divisions there were before this one
  Partitioner partitioner = Partitioner::user_hash;

  friend bool operator==(const Division&, const Division&) = default;
};

/// Appends the division in 9 bytes, little-endian.
void append_division(const Division& division, std::string& out);
/// Reads a division. Throws Failure(data) where it has no lanes, or an unknown partitioner.
[[nodiscard]] Division take_division(secrets::FieldReader& fields);

/// It goes into the sealed state with the transaction whose changes it covers.
struct TopicMark {
  StoreMark store{};
  Division division{};
  std::uint64_t segment = 0;  ///< number of the segment that is appended to; 0 where nothing was stored
  SegmentStart before{};      ///< where the segment before it begins
  SegmentStart current{};     ///< where that segment begins

  friend bool operator==(const TopicMark&, const TopicMark&) = default;
};

/// The mark in 89 bytes, little-endian.
[[nodiscard]] std::string encode_mark(const TopicMark& mark);
/// Reads a mark. Throws Failure(data) where the bytes are no such mark, but, for example, that of a folder's state.
[[nodiscard]] TopicMark decode_topic_mark(std::string_view bytes);

}  // namespace nustream::users
