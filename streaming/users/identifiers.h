// From a record's identifier to its user, under the stream's key.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nustream/base/error.h"
#include "nustream/record/schema.h"
#include "nustream/users/placement.h"
#include "users/partition_number.h"
#include "users/user_key.h"

namespace nustream::users {

/// What a schema's user column is read by. Its key comes once the lane's state is open; no record may be read before.
/// One reader at a time reads with it, on one thread.
class Identifiers final : public record::UserReader {
 public:
  explicit Identifiers(Partitioner partitioner) : partitioner_(partitioner) {}

  void use(UserKey key) { key_ = std::move(key); }

  double read(std::string_view identifier) noexcept override {
    NUSTREAM_REQUIRE(key_.has_value(), "users are told apart under the stream's key");
    const UserHash user = key_->hash(identifier);
    const std::uint32_t number = key_->masked(user, partition_number(partitioner_, identifier, user));
    users_.push_back({user.high, user.low, number});
    return static_cast<double>(users_.size() - 1);
  }
  [[nodiscard]] record::RowUser find(double number) const noexcept override {
    return users_[static_cast<std::size_t>(number)];
  }
  void forget() noexcept override { users_.clear(); }

 private:
  Partitioner partitioner_;
  std::optional<UserKey> key_;
  std::vector<record::RowUser> users_;  // read since forget()
};

}  // namespace nustream::users
