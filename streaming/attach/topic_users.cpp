// The table and the store of one lane's users, for batches that are transactions. The records of a batch and the
// state that vouches for them are in the same transaction, so that store and state never differ after a crash.
#include "attach/topic_users.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "users/going_on.h"
#include "users/open_table.h"

namespace nustream::attach {
namespace {

/// The lane's table: in memory, or on disk, where it may stay for the next start.
std::unique_ptr<users::Standings> table_of(const UserStore& store, const users::UserKey& key) {
  if (store.state_folder.empty()) return users::scratch_table(store.settings.on_disk, key);
  return users::open_table(store.settings.on_disk, store.state_folder, store.identity.lane, key);
}

}  // namespace

TopicUsers::TopicUsers(const UserStore& store, users::UserKey key)
    : identity_(store.settings.identity),
      limits_(*store.settings.limits),
      key_(std::move(key)),
      table_(table_of(store, key_)),
      clock_(users::clock_of(limits_, nullptr)),
      log_(key_, store.identity, *table_, store.division, store.sizes) {
  open_.mask_numbers(users::mask_under(key_));
  log_.begin(store.end);
}

TopicUsers::TopicUsers(const UserStore& store, const journal::UsersOfState& before,
                       const users::TopicLog::ReadFrom& read)
    : identity_(store.settings.identity),
      limits_(*store.settings.limits),
      key_(before.key),
      table_(table_of(store, key_)),
      clock_(users::clock_of(limits_, &before)),
      log_(key_, store.identity, *table_, store.division, store.sizes) {
  open_.mask_numbers(users::mask_under(key_));
  const users::TopicMark mark = users::decode_topic_mark(before.mark);
  log_.load(mark, store.end, read);
}

void TopicUsers::take_over(std::span<const users::Entry> entries) {
  for (const users::Entry& entry : entries) open_.put(entry);
}

void TopicUsers::carry_over(const users::Limits& before) {
  of_epoch_ = log_.append_epoch(users::mass_change(before, limits_));
}

void TopicUsers::begin_anew() {
  clock_ = users::clock_of(limits_, nullptr);
  users::count_anew(*table_, open_);
}

/// A closed batch. It has copies of, or shares, all that sealing needs, so that nothing here is touched by two
/// threads.
struct TopicUsers::InFlight {
  users::UserKey key;
  std::shared_ptr<const users::Changes> changes;  // `batch` refers to them
  std::optional<users::TopicBatch> of_epoch;
  users::TopicBatch batch;
  journal::UsersOfState state{};  // without key and mark
  users::TopicMark mark{};        // once it is sealed

  engine::UsersOfBatch seal() {
    engine::UsersOfBatch out{std::move(state), {}};
    // Records of the epoch's beginning go before those of its first batch.
    if (of_epoch) out.records = of_epoch->seal().records;
    users::TopicRecords sealed = batch.seal();
    std::ranges::move(sealed.records, std::back_inserter(out.records));
    std::ranges::copy(key.bytes(), out.state.key.begin());
    mark = sealed.mark;
    out.state.mark = users::encode_mark(mark);
    return out;
  }
};

std::function<engine::UsersOfBatch()> TopicUsers::close() {
  // The changes of the batch before are in the table by now (committed()), so that closed_ is free for this batch's.
  closed_->take_over(open_);
  const auto batch = std::make_shared<InFlight>(
      InFlight{key_, closed_, std::exchange(of_epoch_, std::nullopt), log_.append(*closed_)});
  batch->state.identity = identity_;
  users::keep_clock(clock_, batch->state);
  in_flight_ = batch;
  return [batch] { return batch->seal(); };
}

void TopicUsers::committed(std::optional<std::uint64_t> end) {
  log_.committed(*closed_, in_flight_->mark, end);
}

}  // namespace nustream::attach
