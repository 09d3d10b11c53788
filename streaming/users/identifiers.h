// Identifies users: turns a record's identifier into a user's hash, under the stream's key.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/record/schema.h"
#include "nustream/users/placement.h"
#include "users/user_key.h"

namespace nustream::users {

/// The lane whose records are read, and the number of lanes among which users are divided.
struct LaneOfUsers {
  LaneId lane{0};
  std::uint32_t lanes = 1;
};

/// Reads the user column of a schema. The key is set by use() once the lane's state is open, and no record may be
/// read before that. To be used by one reader at a time, on one thread.
class Identifiers final : public record::UserReader {
 public:
  explicit Identifiers(Partitioner partitioner, const LaneOfUsers& lane = {})
      : partitioner_(partitioner), lane_(lane) {}

  void use(UserKey key) { key_ = std::move(key); }

  double read(std::string_view identifier) noexcept override {
    NUSTREAM_REQUIRE(key_.has_value(), "users are told apart under the stream's key");
    const UserHash user = key_->hash(identifier);
    const std::uint32_t number = partition_number(partitioner_, identifier, user);
    // Infinity stands for a user of another lane, whose record is rejected (record::UserReader).
    if (lane_of(partitioner_, number, lane_.lanes) != lane_.lane) return std::numeric_limits<double>::infinity();
    users_.push_back({user.high, user.low, number});
    return static_cast<double>(users_.size() - 1);
  }
  [[nodiscard]] record::RowUser find(double number) const noexcept override {
    return users_[static_cast<std::size_t>(number)];
  }
  void forget() noexcept override { users_.clear(); }

 private:
  Partitioner partitioner_;
  LaneOfUsers lane_;
  std::optional<UserKey> key_;
  std::vector<record::RowUser> users_;  // the users that were read since forget()
};

}  // namespace nustream::users
