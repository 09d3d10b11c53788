#include "stored_users.h"

#include <deque>

#include <fmt/format.h>

#include "folder/users.h"
#include "nustream/users/table.h"
#include "users/topic_log.h"
#include "users/user_log.h"

namespace nustream::tests {
namespace {

constexpr std::array files_of_store{0U, 1U};

std::string path_of(unsigned file) {
  return users::UserLog::path(folder_paths::folder, file).string();
}

}  // namespace

StoreFiles store_in(const SimulatedDisk& disk) {
  StoreFiles files;
  for (const unsigned file : files_of_store) files.bytes[file] = disk.seen(path_of(file));
  return files;
}

void put_store(SimulatedDisk& disk, const StoreFiles& files) {
  for (const unsigned file : files_of_store) {
    if (disk.seen(path_of(file)) != files.bytes[file]) disk.tamper(path_of(file), files.bytes[file]);
  }
}

const char* name(StoreFault fault) {
  switch (fault) {
    case StoreFault::lost:
      return "a lost store of users";
    case StoreFault::older:
      return "an older store of users";
    case StoreFault::cut:
      return "a cut store of users";
    case StoreFault::damaged:
      break;
  }
  return "a damaged store of users";
}

StoreFiles with_fault(Draws& draws, StoreFault fault, StoreFiles files, const StoreFiles& older) {
  std::string& one = files.bytes[files.bytes[1].empty() ? 0 : draws.draw(files.bytes.size())];
  switch (fault) {
    case StoreFault::lost:
      return {};
    case StoreFault::older:
      return older;
    case StoreFault::cut:
      one.resize(draws.draw(one.size() + 1));
      return files;
    case StoreFault::damaged:
      if (!one.empty()) one[draws.draw(one.size())] ^= static_cast<char>(1U << draws.draw(8));
  }
  return files;
}

Counts stored_counts(SimulatedDisk& disk, const std::string& stream, const journal::UsersOfState& state) {
  users::Table table;
  users::UserLog(disk, folder_paths::folder, users::UserKey(state.key), {stream, LaneId{0}}, table)
      .look(folder::mark_of(state));
  return counts_of(table);
}

Counts stored_counts(SimulatedBroker& broker, const Place& users, const std::string& stream,
                     const journal::UsersOfState& state) {
  const users::UserKey key(state.key);
  const users::TopicMark mark = users::decode_topic_mark(state.mark);
  const auto read = [&](std::uint64_t from, const users::TopicLog::Take& take) {
    const std::deque<SimulatedEntry>& log = broker.log(users);
    for (std::uint64_t offset = from; offset < log.size(); ++offset) {
      const SimulatedEntry& entry = log[offset];
      const bool is_committed = !entry.transaction || entry.transaction->will_commit();
      if (!entry.is_control && is_committed && entry.key && entry.value) take(*entry.key, *entry.value);
    }
  };
  users::Table table;
  users::TopicLog(key, {stream, LaneId{static_cast<std::uint32_t>(users.second)}}, table, mark.division)
      .look(mark, read);
  return counts_of(table);
}

std::string difference(const Counts& stored, const Counts& reference) {
  const auto in_words = [&](const Counts& counts, const users::UserHash& user) {
    const auto found = counts.find(user);
    if (found == counts.end()) return std::string("nothing");
    const auto& [next, count, mass] = found->second;
    return fmt::format("{} contributions up to step {}, mass {}", count, next, mass);
  };
  Counts all = stored;
  all.insert(reference.begin(), reference.end());
  for (const auto& [user, standing] : all) {
    const std::string here = in_words(stored, user);
    const std::string there = in_words(reference, user);
    if (here != there) return fmt::format("user {:x} has used up {}, undisturbed {}", user.high, here, there);
  }
  return {};
}

std::string clock_difference(const journal::UsersOfState& state, const UsersAt& reference) {
  if (state.latest == reference.latest && state.window == reference.window) return {};
  return fmt::format("the clock of users is at {} in window {}, undisturbed at {} in window {}",
                     state.latest.value_or(-1), state.window.value_or(-1), reference.latest.value_or(-1),
                     reference.window.value_or(-1));
}

void count_users(const config::Config& config, const Counts& stored, FaultCounts& happened) {
  if (stored.empty()) return;
  ++happened["users whose counts are those of the steps"];
  if (config.users->limits->windows()) ++happened["users whose counts are those of their window"];
  if (config.moments) ++happened["users of running sums whose counts are those of the steps"];
}

void count_borders(const Reference& reference, FaultCounts& happened) {
  if (reference.borders > 0) happened["a window in which users begin anew"] += reference.borders;
  if (reference.behind_border > 0) happened["a record behind the window of its step"] += reference.behind_border;
}

}  // namespace nustream::tests
