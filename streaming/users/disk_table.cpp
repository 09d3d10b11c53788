// The table of users over RocksDB. First come the rows and the options, then Database, which opens the folder and
// keeps the mark in step with the rows, then the members of Standings. The rows' bytes are those of
// docs/formats/users.md, "A table on disk".
#include "users/disk_table.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "error.h"
#include "journal/disk.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "users/entry_bytes.h"
#include "users/open_table.h"
#include "users/sealed_files.h"

namespace nustream::users {
namespace {

namespace fs = std::filesystem;
using rocksdb::Slice;
using rocksdb::Status;

// The cache of blocks and two write buffers, 320 MiB together, are shared by all tables of the process.
constexpr std::size_t cache_bytes = std::size_t{192} << 20;
constexpr std::size_t write_buffer_bytes = std::size_t{64} << 20;
constexpr double filter_bits = 10;  // bits for each user: looking up a new user reads no block in 99 of 100 files
constexpr std::size_t open_files_max = 256;
constexpr std::size_t read_ahead_bytes = std::size_t{1} << 20;
// change_all() rewrites the whole table. Writes of this many entries keep its memory bounded.
constexpr std::size_t carried_at_once = 16'384;  // entries of a write
constexpr std::size_t recent_users = std::size_t{1} << 14;
constexpr std::chrono::milliseconds lock_pause{50};

/// Keys of rows in their order: the mark's, the first that a user can have, and one behind those of all users.
const std::string mark_row(1, '\0');
const std::string first_user(user_bytes, '\0');
const std::string behind_users(user_bytes + 1, '\xff');

/// RocksDB's own log would tell sizes and times beside the sealed files.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

using RowKey = std::array<char, user_bytes>;
constexpr std::size_t row_bytes = entry_bytes - user_bytes;

/// Big-endian, so that rows have the order of the hashes.
/// visit_part() relies on that order: the first byte of the key is the part.
RowKey key_of(const UserHash& user) {
  RowKey key{};
  for (std::size_t byte = 0; byte < 8; ++byte) {
    key[byte] = static_cast<char>(user.high >> (56 - 8 * byte));
    key[8 + byte] = static_cast<char>(user.low >> (56 - 8 * byte));
  }
  return key;
}
Slice slice(const RowKey& key) {
  return {key.data(), key.size()};
}

/// The inverse of key_of().
UserHash user_of(const Slice& key) {
  UserHash user;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    user.high = user.high << 8 | static_cast<unsigned char>(key[byte]);
    user.low = user.low << 8 | static_cast<unsigned char>(key[8 + byte]);
  }
  return user;
}

/// Adds one user's row to a write. The hash is left out of the value, because it is the key of the row.
void put_row(const Entry& entry, rocksdb::WriteBatch& batch) {
  EntryBytes bytes{};
  put_entry(entry, bytes);
  const RowKey key = key_of(entry.user);
  batch.Put(slice(key), Slice(reinterpret_cast<const char*>(bytes.data()) + user_bytes, row_bytes));
}

/// Empty where the row is no user's.
std::optional<Entry> entry_of_row(const Slice& key, const Slice& row) {
  if (key.size() != user_bytes || row.size() != row_bytes) return std::nullopt;
  EntryBytes bytes{};
  std::copy_n(row.data(), row_bytes, bytes.begin() + user_bytes);
  Entry entry = take_entry(bytes);
  entry.user = user_of(key);
  // A count of 0 stands for a user who is not there, so that no row is ever written with it.
  if (entry.standing.count == 0) return std::nullopt;
  return entry;
}

/// One cache and one budget of unsorted rows for the tables of all lanes of a process. They outlive every table.
struct Memory {
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(cache_bytes);
  std::shared_ptr<rocksdb::WriteBufferManager> buffers =
      std::make_shared<rocksdb::WriteBufferManager>(2 * write_buffer_bytes);
};
const Memory& memory_of_process() {
  // It is never deleted, because a table in a static object may still be open when other static objects have ended.
  static const auto* const memory = new Memory;
  return *memory;
}

/// What all tables have in common, apart from their folder.
rocksdb::Options options_of(rocksdb::Env* env) {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = memory_of_process().cache;
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(filter_bits));
  blocks.cache_index_and_filter_blocks = true;  // so that they are bounded too
  blocks.pin_l0_filter_and_index_blocks_in_cache = true;
  rocksdb::Options options;
  // All files pass through this environment, which seals them (sealed_files.h).
  options.env = env;
  options.create_if_missing = true;
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.compression = rocksdb::kNoCompression;  // hashes do not shrink
  options.max_open_files = static_cast<int>(open_files_max);
  options.write_buffer_size = write_buffer_bytes;
  options.write_buffer_manager = memory_of_process().buffers;
  options.max_background_jobs = 2;
  options.max_bgerror_resume_count = 0;  // a disk that failed is not tried again
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  return options;
}

/// Locks a file beside the folder, since the files of the folder itself are deleted where a table is made anew. It
/// waits for `patience`: a lane that this process hands over may still be closing the table.
std::unique_ptr<journal::Lock> locked(journal::Disk& disk, const fs::path& folder,
                                      std::chrono::milliseconds patience) {
  fs::path file = folder;
  file += ".lock";
  const auto last = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      return disk.lock(file);
    } catch (const Failure& failure) {
      if (failure.code() != Exit::locked || std::chrono::steady_clock::now() >= last) throw;
    }
    std::this_thread::sleep_for(lock_pause);
  }
}

}  // namespace

/// The folder, RocksDB over it, and what its mark says. RocksDB is opened again where its files are made anew.
struct DiskTable::Database {
  Database(fs::path of, const UserKey& key, std::chrono::milliseconds patience)
      : folder(std::move(of)), lock(make_and_lock(patience)), env(sealed_files(key)), options(options_of(env.get())) {
    open();
  }

  std::unique_ptr<journal::Lock> make_and_lock(std::chrono::milliseconds patience) const {
    const auto disk = journal::posix_disk();
    disk->make_folder(folder);
    disk->require_trusted(folder);
    return locked(*disk, folder, patience);
  }

  /// Makes anew what cannot be opened: the table holds nothing that the store does not hold too.
  /// The table is opened once more after the folder was emptied. If that fails too, the disk is at fault.
  void open() {
    if (!try_open().ok()) {
      wipe();
      require(try_open());
    }
  }
  /// True where a crash left a file without its whole nonce. RocksDB would end the process over such a file.
  [[nodiscard]] bool has_cut_files() const {
    const auto is_cut = [](const fs::directory_entry& file) {
      return !file.is_regular_file() || (file.path().filename() != "LOCK" && file.file_size() < file_prefix_bytes);
    };
    try {
      return std::ranges::any_of(fs::directory_iterator(folder), is_cut);
    } catch (const fs::filesystem_error& failure) {
      throw system_failure(Exit::io, "read", folder.string(), failure.code().value(), "check its owner and mode");
    }
  }
  Status try_open() {
    if (has_cut_files()) return Status::Corruption("cut");
    rocksdb::DB* opened = nullptr;
    const Status status = rocksdb::DB::Open(options, folder.string(), &opened);
    if (!status.ok()) return status;
    db.reset(opened);
    std::string row;
    const Status read = db->Get(rocksdb::ReadOptions(), mark_row, &row);
    users = 0;
    mark.clear();
    if (read.IsNotFound()) return Status::OK();
    if (!read.ok() || row.size() < sizeof users) {
      db.reset();
      return Status::Corruption("mark");
    }
    secrets::FieldReader fields(row, "the mark of a table of users is cut");
    users = static_cast<std::size_t>(fields.integer<std::uint64_t>());
    mark = fields.rest();
    return Status::OK();
  }
  /// Closes the database and deletes its files. The folder is made again at once, with the mode that the disk layer
  /// gives, so that RocksDB never makes it with a mode of its own.
  void wipe() {
    db.reset();
    users = 0;
    mark.clear();
    recent.assign(recent_users, {});
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) throw system_failure(Exit::io, "delete", folder.string(), error.value(), "check its owner and mode");
    journal::posix_disk()->make_folder(folder);
  }

  /// Turns a status of RocksDB into the failure that the operator is told.
  void require(const Status& status) const {
    if (status.ok()) return;
    // sealed_files.cpp gives this status, and no other code does, where the kernel refuses random bytes for a nonce.
    if (status.IsAborted()) throw Failure(Exit::permission, status.getState());
    if (status.IsCorruption() || status.IsPathNotFound()) throw DamagedTable(folder);
    throw Failure(Exit::io, "cannot use the table of users in " + folder.string() + ": " + status.ToString() +
                                "; mend the disk or make room, then start again with --resume");
  }
  /// Durable against a crash of the process, not of the machine.
  /// That is enough, because the store has every change and is durable before the state is committed. A table that
  /// lost its last writes has an older mark, and the next start applies what the store has behind that mark.
  void write(rocksdb::WriteBatch& batch) { require(db->Write(rocksdb::WriteOptions(), &batch)); }
  void put_mark(std::size_t of_users, std::string_view bytes, rocksdb::WriteBatch& batch) const {
    std::string row;
    secrets::append_integer(static_cast<std::uint64_t>(of_users), row);
    row += bytes;
    batch.Put(mark_row, row);
  }
  /// Removes the mark before a change behind which it would not be true any more.
  void drop_mark() {
    mark.clear();
    rocksdb::WriteBatch batch;
    batch.Delete(mark_row);
    write(batch);
  }

  // Each user has one place among the recent ones, and the newest user there displaces the one before.
  struct Recent {
    Entry entry;
    bool is_known = false;
  };
  /// The hash is keyed and spreads evenly, so that its low bits serve as the index.
  Recent& place_of(const UserHash& user) { return recent[user.low % recent_users]; }

  fs::path folder;
  // The order of these members matters. The lock is taken first and given back last, and the environment outlives the
  // database that reads through it.
  std::unique_ptr<journal::Lock> lock;
  std::unique_ptr<rocksdb::Env> env;
  rocksdb::Options options;
  std::unique_ptr<rocksdb::DB> db;
  std::size_t users = 0;
  std::string mark;
  std::vector<Recent> recent{recent_users};  // users of last look-ups: a record asks for one up to three times
};

DiskTable::DiskTable(fs::path folder, const UserKey& key, std::chrono::milliseconds patience)
    : folder_(std::move(folder)), database_(std::make_unique<Database>(folder_, key, patience)) {}

DiskTable::~DiskTable() = default;

std::size_t DiskTable::size() const noexcept {
  return database_->users;
}

Standing DiskTable::find(const UserHash& user) const {
  return entry_of(user).standing;
}

Entry DiskTable::entry_of(const UserHash& user) const {
  Database::Recent& recent = database_->place_of(user);
  if (recent.is_known && recent.entry.user == user) return recent.entry;
  const RowKey key = key_of(user);
  rocksdb::PinnableSlice row;
  rocksdb::DB& db = *database_->db;
  const Status status = db.Get(rocksdb::ReadOptions(), db.DefaultColumnFamily(), slice(key), &row);
  // A user who is not there has a standing of zeros. That answer is kept too, because the same record asks again.
  Entry found{user, 0, {}};
  if (!status.IsNotFound()) {
    database_->require(status);
    const auto entry = entry_of_row(slice(key), row);
    if (!entry) throw DamagedTable(folder_);
    found = *entry;
  }
  recent = {found, true};
  return found;
}

void DiskTable::visit_part(unsigned part, const Visit& visit) const {
  const std::string first(1, static_cast<char>(part));
  // For the last part this wraps around to the byte 0. No bound is set then: the iterator runs to
  // the end of the table.
  const std::string end(1, static_cast<char>(part + 1));
  const Slice bound(end);
  rocksdb::ReadOptions reading;
  // A visit reads every block once. In the cache these blocks would displace those of users who come again.
  reading.fill_cache = false;
  reading.readahead_size = read_ahead_bytes;
  if (part + 1 < parts) reading.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> rows(database_->db->NewIterator(reading));
  for (rows->Seek(first); rows->Valid(); rows->Next()) {
    // The mark's key is one zero byte, so that it lies among the keys of part 0.
    if (rows->key() == Slice(mark_row)) continue;
    const auto entry = entry_of_row(rows->key(), rows->value());
    if (!entry) throw DamagedTable(folder_);
    visit(*entry);
  }
  // An iterator that meets a damaged block just ends, and the caller would take the part for shorter than it is.
  database_->require(rows->status());
}

void DiskTable::take(std::span<const Change> changes, bool emptied, std::string_view mark) {
  rocksdb::WriteBatch batch;
  std::size_t users = emptied ? 0 : database_->users;
  // Deletions and puts of one batch take effect in their order, so that the entries that follow survive the deletion.
  if (emptied) {
    batch.DeleteRange(first_user, behind_users);
    database_->recent.assign(recent_users, {});
  }
  for (const Change& change : changes) {
    // A user who was not in the table has a standing of zeros before the change.
    if (change.before.count == 0) ++users;
    put_row(change.entry, batch);
    database_->place_of(change.entry.user).is_known = false;
  }
  // Rows and mark are one atomic write. A crash leaves the table of one mark or of the other, never a mixture.
  database_->put_mark(users, mark, batch);
  database_->write(batch);
  database_->users = users;
  database_->mark = mark;
}

std::string DiskTable::mark() const {
  return database_->mark;
}

void DiskTable::put(std::span<const Entry> entries) {
  // From here until settle() or take() the rows belong to no mark. A crash in between leaves a table without a mark,
  // which the next start makes anew.
  if (!database_->mark.empty()) database_->drop_mark();
  rocksdb::WriteBatch batch;
  for (const Entry& entry : entries) {
    put_row(entry, batch);
    database_->place_of(entry.user).is_known = false;
  }
  database_->write(batch);
}

void DiskTable::clear() {
  database_->wipe();
  database_->open();
}

void DiskTable::change_all(const Carry& carry) {
  // A crash midway leaves some entries carried over and others not, so that no mark may stand meanwhile.
  if (!database_->mark.empty()) database_->drop_mark();
  std::vector<Entry> carried;
  const auto write = [&] {
    put(carried);
    carried.clear();
  };
  for (unsigned part = 0; part < parts; ++part) {
    // put() writes while the iterator is open. The iterator sees the table as it was when the part was begun, so that
    // no entry is carried twice.
    visit_part(part, [&](const Entry& entry) {
      carried.push_back({entry.user, entry.number, carry(entry.standing)});
      if (carried.size() == carried_at_once) write();
    });
  }
  write();
}

void DiskTable::settle(std::size_t users, std::string_view mark) {
  // A resume that found the table as it should be writes nothing.
  if (database_->mark == mark && database_->users == users) return;
  rocksdb::WriteBatch batch;
  database_->put_mark(users, mark, batch);
  database_->write(batch);
  database_->users = users;
  database_->mark = mark;
}

}  // namespace nustream::users
