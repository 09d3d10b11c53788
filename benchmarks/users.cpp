// Measures what the unit "user" costs a record: hash, gate, table and sealed store. It also measures how long a
// resume takes to rebuild the table of many users, and what both cost with the table on disk.
//
// USERS (10,000,000), RECORDS in a round (1,000,000) and BATCH (10,000 records per commit) in the environment change
// the sizes. Stores lie in TMPDIR and are not synced: syncing a batch is the journal's task, whatever the batch
// holds. Exits with 1 where a bar is missed.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "harness.h"
#include "nustream/users/changes.h"
#include "nustream/users/table.h"
#include "users/disk_table.h"
#include "users/user_log.h"

namespace nustream::benchmarks {
namespace {

namespace fs = std::filesystem;
using users::Limits;
using users::Standings;
using users::Table;
using users::UserKey;

const Limits limits{privacy::Participation{4, 10}, Mass{8}};
const users::StoreIdentity identity{"benchmark", LaneId{0}};

struct Sizes {
  std::size_t users = asked("USERS", 10'000'000);
  std::size_t records = asked("RECORDS", 1'000'000);
  std::size_t batch = asked("BATCH", 10'000);
};

std::string identifier_of(std::uint64_t user) {
  return "customer-" + std::to_string(user);
}

/// Users drawn at random. Every look-up misses the caches, as in a stream of many people.
std::vector<std::string> drawn(const Sizes& sizes) {
  std::mt19937_64 random(1);
  std::vector<std::string> identifiers(sizes.records);
  for (std::string& identifier : identifiers) identifier = identifier_of(random() % sizes.users);
  return identifiers;
}

void fill(Standings& table, const UserKey& key, std::size_t users) {
  constexpr std::size_t at_once = 65'536;
  std::vector<users::Entry> entries;
  for (std::uint64_t user = 0; user < users; ++user) {
    const users::UserHash hash = key.hash(identifier_of(user));
    entries.push_back({hash, key.masked(hash, 0), {1, 1, 1}});
    if (entries.size() < at_once && user + 1 < users) continue;
    table.put(entries);
    entries.clear();
  }
  table.settle(users, "filled");
}

/// A lane's batches over records that come again and again. Steps rise, so that users are let in and charged.
class Lane {
 public:
  Lane(const Sizes& sizes, const fs::path& folder, std::unique_ptr<Standings> table)
      : sizes_(sizes),
        identifiers_(drawn(sizes)),
        table_(std::move(table)),
        disk_(journal::posix_disk()),
        log_(*disk_, folder, key_, identity, *table_) {
    log_.load({});
    fill(*table_, key_, sizes.users);
  }

  /// Takes one record after the other, and gives each batch to `commit`. The hashes of a batch are known before its
  /// first step, so that the table's lines are loaded ahead.
  template <class Commit>
  void run(const Commit& commit) {
    users::Changes changes(*table_);
    std::vector<users::UserHash> hashes(sizes_.batch);
    for (std::size_t first = 0; first + sizes_.batch <= identifiers_.size(); first += sizes_.batch) {
      for (std::size_t i = 0; i < sizes_.batch; ++i) {
        hashes[i] = key_.hash(identifiers_[first + i]);
        table_->prefetch(hashes[i]);
      }
      for (const users::UserHash& user : hashes) step(changes, user);
      commit(changes);
    }
  }

  [[nodiscard]] Standings& table() { return *table_; }
  [[nodiscard]] users::UserLog& log() { return log_; }
  [[nodiscard]] const UserKey& key() const { return key_; }
  [[nodiscard]] const std::vector<std::string>& identifiers() const { return identifiers_; }

 private:
  void step(users::Changes& changes, const users::UserHash& user) {
    const StepIndex step{step_++};
    users::Standing standing = changes.find(user);
    standing.count = 1;  // so the gate stays open however often the benchmark repeats
    standing.next = standing.next > step.value() ? step.value() : standing.next;
    standing.mass = 0;
    if (!may_contribute(limits, standing, step)) return;
    changes.put({user, 0, charge(limits, standing, step, .5).after});
  }

  Sizes sizes_;
  UserKey key_{noise::KeyBytes{1}};
  std::vector<std::string> identifiers_;
  std::unique_ptr<Standings> table_;
  std::unique_ptr<journal::Disk> disk_;
  users::UserLog log_;
  std::uint64_t step_ = 100;
};

/// The same look-ups in the standard library's table.
class StandardMap {
 public:
  StandardMap(const UserKey& key, const Sizes& sizes) {
    table_.reserve(sizes.users);
    for (std::uint64_t user = 0; user < sizes.users; ++user) table_[key.hash(identifier_of(user))] = {1, 1, 1};
  }
  void run(const Lane& lane) {
    for (const std::string& identifier : lane.identifiers()) ++table_[lane.key().hash(identifier)].count;
  }

 private:
  struct Hash {
    std::size_t operator()(const users::UserHash& user) const noexcept { return user.low; }
  };
  std::unordered_map<users::UserHash, users::Standing, Hash> table_;
};

/// The most that is promised of up to ten million users. Of more users nothing is promised.
Bar at_most_for(const Sizes& sizes, double most) {
  Bar bar{fmt::format("at most {} at 10,000,000 users", most)};
  if (sizes.users <= 10'000'000) bar.most = most;
  return bar;
}

double resident_mebibytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Writes a store of all users in batches, and rebuilds a table from it.
void rebuild(const Sizes& sizes, const fs::path& folder, Report& report) {
  const auto disk = journal::posix_disk();
  const UserKey key(noise::KeyBytes{1});
  users::StoreMark mark;
  {
    Table table;
    users::UserLog log(*disk, folder / "all", key, identity, table);
    log.load(mark);
    users::Changes changes(table);
    for (std::uint64_t user = 0; user < sizes.users; ++user) {
      changes.put({key.hash(identifier_of(user)), 0, {1, 1, 1}});
      if ((user + 1) % sizes.batch != 0 && user + 1 != sizes.users) continue;
      mark = log.append(changes);
      log.committed(changes);
    }
    report.add_figure("store of all users", static_cast<double>(log.bytes()) / 1e6, "MB");
  }
  Table table;
  users::UserLog log(*disk, folder / "all", key, identity, table);
  const std::clock_t before = std::clock();
  report.add_judged("rebuild of all users", seconds([&] { log.load(mark); }), "s", at_most_for(sizes, 20));
  const double processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  report.add_figure("its processor time", processor, "s");
  report.add_figure("table of all users after a rebuild", static_cast<double>(table.bytes()) / 1e6, "MB");
  if (table.size() != sizes.users) throw std::runtime_error("a rebuild lost users");
}

void records(const Sizes& sizes, const fs::path& folder, Report& report) {
  auto made = std::make_unique<Table>(sizes.users);
  report.add_figure("table of all users, made for them", static_cast<double>(made->bytes()) / 1e6, "MB");
  const auto lane = std::make_shared<Lane>(sizes, folder / "records", std::move(made));
  const double items = static_cast<double>(sizes.records / sizes.batch * sizes.batch);
  const auto hash = [lane] {
    for (const std::string& identifier : lane->identifiers()) keep(lane->key().hash(identifier).low);
  };
  const auto table = [lane] { lane->run([&](users::Changes& changes) { changes.apply(lane->table()); }); };
  const auto stored = [lane] {
    lane->run([&](users::Changes& changes) {
      keep(lane->log().append(changes).number);
      lane->log().committed(changes);
    });
  };
  report.add(measure({{"hash", items, hash},
                      {"hash, gate, table", items, table},
                      {"hash, gate, table, digest, sealed store", items, stored}},
                     7),
             "record");
  report.add_ratio("all of it over the hash alone", "hash, gate, table, digest, sealed store", "hash");
  const auto standard = std::make_shared<StandardMap>(lane->key(), sizes);
  report.add(measure({{"hash, std::unordered_map", items, [lane, standard] { standard->run(*lane); }}}, 7), "record");
  report.add_ratio("gate and table over std::unordered_map", "hash, gate, table", "hash, std::unordered_map");
}

double folder_bytes(const fs::path& folder) {
  double bytes = 0;
  for (const auto& file : fs::directory_iterator(folder)) bytes += static_cast<double>(file.file_size());
  return bytes;
}

/// A tenth of the same records with the table on disk, where every look-up waits for the disk.
void records_on_disk(Sizes sizes, const fs::path& folder, Report& report) {
  sizes.records = std::max(sizes.records / 10, sizes.batch);
  const fs::path table = folder / "on-disk" / "users-0.table";
  const UserKey key(noise::KeyBytes{1});
  {
    const auto lane =
        std::make_shared<Lane>(sizes, folder / "on-disk", std::make_unique<users::DiskTable>(table, key));
    const auto stored = [lane] {
      lane->run([&](users::Changes& changes) {
        keep(lane->log().append(changes).number);
        lane->log().committed(changes);
      });
    };
    const double items = static_cast<double>(sizes.records / sizes.batch * sizes.batch);
    report.add(measure({{"hash, gate, table on disk, digest, sealed store", items, stored}}, 3), "record");
  }
  report.add_figure("table of all users on disk", folder_bytes(table) / 1e6, "MB");
  std::unique_ptr<users::DiskTable> opened;
  report.add_figure("opening of a table on disk, with its digest", seconds([&] {
                      opened = std::make_unique<users::DiskTable>(table, key);
                      keep(static_cast<std::uint64_t>(digest_of(key, *opened).sum()));
                    }),
                    "s");
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  using namespace nustream::benchmarks;
  std::string pattern = (fs::temp_directory_path() / "nustream-users-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return 74;
  const fs::path folder = pattern;
  pin_to_one_core();
  Report report("users");
  const Sizes sizes;
  fs::create_directories(folder / "all");
  fs::create_directories(folder / "records");
  fs::create_directories(folder / "on-disk");
  rebuild(sizes, folder, report);
  report.add_judged("largest memory while the table grew and was rebuilt", resident_mebibytes(), "MiB",
                    at_most_for(sizes, 1536));
  records(sizes, folder, report);
  records_on_disk(sizes, folder, report);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return report.write(argc, argv);
}
