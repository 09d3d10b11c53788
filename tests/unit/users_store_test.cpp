// The bytes of the store of users, and what it refuses.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <random>
#include <string>
#include <utility>

#include "expect_failure.h"
#include "nustream/users/placement.h"
#include "simulated_disk.h"
#include "temporary_folder.h"
#include "users/rebuild.h"
#include "users/user_key.h"
#include "users/user_log.h"

namespace nustream::users {
namespace {

noise::KeyBytes example_key() {
  noise::KeyBytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

const StoreIdentity mine{"mine", LaneId{3}};

Entry entry_of(const UserKey& key, const std::string& identifier, std::uint32_t number, const Standing& standing) {
  const UserHash user = key.hash(identifier);
  return {user, key.masked(user, number), standing};
}

// The hashes were computed with the command openssl mac, and with hashlib's BLAKE2b.
TEST(UserKey, HashesAsTheFormatPageSays) {
  const UserKey key(example_key());
  EXPECT_EQ(key.hash("alice"), (UserHash{0x3768f5d94a7804fc, 0x62657ba576f8c19e}));
  EXPECT_EQ(key.hash("").low, 0x54e5c51cc38f68d0U);
  EXPECT_EQ(key.masked(key.hash("alice"), 0x12345678), 0x649ce037U);
  EXPECT_EQ(key.masked(key.hash("alice"), 0x649ce037), 0x12345678U);
  const unsigned __int128 term = key.term(entry_of(key, "alice", 0x12345678, {42, 3, 1U << 30}));
  EXPECT_EQ(static_cast<std::uint64_t>(term), 0x8d9411cfd3a333f1U);
  EXPECT_EQ(static_cast<std::uint64_t>(term >> 64), 0x550ae25456dfd6a2U);
}

TEST(UserKey, IsDrawnAnewAndKeptByItsBytes) {
  const UserKey key = UserKey::draw();
  EXPECT_NE(key.fingerprint(), UserKey::draw().fingerprint());
  noise::KeyBytes kept{};
  std::ranges::copy(key.bytes(), kept.begin());
  EXPECT_EQ(UserKey(kept).hash("bob"), key.hash("bob"));
}

// The partitions are those that librdkafka's own partitioners give for random keys.
TEST(PartitionNumber, GivesThePartitionsOfKafkasClients) {
  const UserKey key(example_key());
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string identifier(1 + random() % 40, '\0');
    for (char& byte : identifier) byte = static_cast<char>(random());
    const auto lanes = static_cast<std::int32_t>(1 + random() % 1000);
    const auto lane = [&](Partitioner partitioner) {
      const std::uint32_t number = partition_number(partitioner, identifier, key.hash(identifier));
      return static_cast<std::int32_t>(lane_of(partitioner, number, static_cast<std::uint32_t>(lanes)).value());
    };
    const auto size = identifier.size();
    EXPECT_EQ(lane(Partitioner::murmur2),
              rd_kafka_msg_partitioner_murmur2(nullptr, identifier.data(), size, lanes, nullptr, nullptr));
    EXPECT_EQ(lane(Partitioner::murmur2),
              rd_kafka_msg_partitioner_murmur2_random(nullptr, identifier.data(), size, lanes, nullptr, nullptr));
    EXPECT_EQ(lane(Partitioner::crc32),
              rd_kafka_msg_partitioner_consistent(nullptr, identifier.data(), size, lanes, nullptr, nullptr));
    EXPECT_EQ(lane(Partitioner::crc32),
              rd_kafka_msg_partitioner_consistent_random(nullptr, identifier.data(), size, lanes, nullptr, nullptr));
  }
}

TEST(SetDigest, IsThatOfTheTableWhateverTheOrder) {
  const UserKey key(example_key());
  std::mt19937_64 random(12);
  Table table;
  Changes batch(table);
  SetDigest digest;
  for (int i = 0; i < 2000; ++i) {
    const std::string identifier = std::to_string(random() % 50);
    const auto count = static_cast<std::uint32_t>(1 + random() % 9);
    batch.put(entry_of(key, identifier, 1, {random(), count, static_cast<std::uint32_t>(random())}));
    if (random() % 300 == 0) batch.empty_table();
    if (random() % 20 == 0) {
      digest.change(key, batch);
      batch.apply(table);
      ASSERT_EQ(digest, digest_of(key, table));
    }
  }
  EXPECT_NE(digest, SetDigest());
}

/// The golden store of tests/golden/users_twin.py, and its digest as that script prints it.
std::string golden_store() {
  return tests::read_file(std::string(NUSTREAM_TESTS_DIR) + "/golden/data/users.bin");
}
const SetDigest golden_digest{static_cast<unsigned __int128>(0x65d11830e7dc0ca0) << 64 | 0x5e0e1906ac93acd9};

TEST(UserStore, ReadsWhatAnotherHandWroteAfterTheFormatPage) {
  tests::SimulatedDisk disk(1);
  disk.make_folder("f");
  disk.tamper("f/users-0.log", golden_store());
  const UserKey key(example_key());
  Table table;
  UserLog log(disk, "f", key, mine, table);
  log.load({4, 2, 2, golden_digest});
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.find(key.hash("alice")), (Standing{9, 4, (1U << 29) + 100}));
  EXPECT_EQ(table.find(key.hash("bob")), (Standing{0, 1, (1U << 28) + 1}));
}

TEST(UserStore, WritesTheBytesOfTheFormatPage) {
  const UserKey key(example_key());
  const std::string store = golden_store();
  const std::string context = store_context(key, mine);
  const std::size_t header = 20 + context.size();
  const auto sealed = [&](const UserRecord& record) {
    std::array<std::uint8_t, 24> nonce{};
    nonce.fill(static_cast<std::uint8_t>(record.number));
    UnsealedRecord unsealed(record.number, record.commit, record.kind, record.part);
    if (record.kind == RecordKind::epoch) unsealed.add_masses(record.mass_before, record.mass_after);
    for (const Entry& entry : record.entries) unsealed.add(entry);
    return std::move(unsealed).seal(key, context, nonce);
  };
  const Entry alice = entry_of(key, "alice", 0x12345678, {42, 3, 1U << 30});
  const Entry bob = entry_of(key, "bob", 7, {50, 1, 1U << 29});
  const Entry bob_then{bob.user, bob.number, carried_over(bob.standing, Mass{2}, Mass{4})};
  const auto part = static_cast<std::uint8_t>(bob.user.high >> 56);
  UserRecord epoch{2, 2, RecordKind::epoch};
  epoch.mass_before = Mass{2};
  epoch.mass_after = Mass{4};
  const std::string written =
      sealed({1, 1, RecordKind::changes, 0, {alice, bob}, {}, {}}) + sealed(epoch) +
      sealed({3, 2, RecordKind::part, part, {bob_then}, {}, {}}) +
      sealed({4, 2, RecordKind::changes, 0, {{alice.user, alice.number, {9, 4, (1U << 29) + 100}}}, {}, {}});
  EXPECT_EQ(store.substr(header), written);
}

/// The whole records of a store, behind its header.
std::vector<std::string> records_of(std::string_view store, std::size_t header) {
  std::vector<std::string> records;
  for (std::string_view rest = store.substr(header); !rest.empty(); rest.remove_prefix(records.back().size())) {
    records.emplace_back(rest.substr(0, *record_size(rest)));
  }
  return records;
}

/// Loads the golden store after `changed`, and returns the line with which it is refused; empty where it is not.
template <class Changed>
std::string refusal(const Changed& changed, const StoreMark& mark = {4, 2, 2, golden_digest},
                    const StoreIdentity& identity = mine, const UserKey& key = UserKey(example_key())) {
  tests::SimulatedDisk disk(1);
  disk.make_folder("f");
  disk.tamper("f/users-0.log", changed(golden_store()));
  Table table;
  UserLog log(disk, "f", key, identity, table);
  const std::string before = disk.seen("f/users-0.log");
  try {
    log.load(mark);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), Exit::data);
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
    EXPECT_EQ(disk.seen("f/users-0.log"), before);
    return failure.what();
  }
  return {};
}

std::string same(std::string store) {
  return store;
}

TEST(UserStore, RefusesAForeignOne) {
  EXPECT_EQ(refusal(same), "");
  EXPECT_NE(refusal(same, {4, 2, 2, golden_digest}, {"other", LaneId{3}}).find("another stream"), std::string::npos);
  EXPECT_NE(refusal(same, {4, 2, 2, golden_digest}, {"mine", LaneId{2}}).find("another stream"), std::string::npos);
  EXPECT_NE(refusal(same, {4, 2, 2, golden_digest}, mine, UserKey(noise::KeyBytes{9})).find("another stream"),
            std::string::npos);
  EXPECT_NE(refusal([](const std::string&) { return std::string(100, 'x'); }).find("no store"), std::string::npos);
  EXPECT_NE(refusal([](std::string store) {
              store[8] = 2;
              return store;
            }).find("format 2"),
            std::string::npos);
}

TEST(UserStore, RefusesAnotherDigestAndAnOlderOrRolledBackState) {
  EXPECT_NE(refusal(same, {4, 2, 2, SetDigest(1)}).find("thinned out"), std::string::npos);
  EXPECT_NE(refusal(same, {5, 3, 2, golden_digest}).find("older copy"), std::string::npos);
  EXPECT_NE(refusal(same, {0, 0, 0, SetDigest()}).find("rolled back"), std::string::npos);
  // Behind the mark of the first batch stands the second batch, which may not have been committed.
  const UserKey key(example_key());
  SetDigest first;
  first.add(key, entry_of(key, "alice", 0x12345678, {42, 3, 1U << 30}));
  first.add(key, entry_of(key, "bob", 7, {50, 1, 1U << 29}));
  EXPECT_EQ(refusal(same, {1, 1, 2, first}), "");
}

// The store counts batches that change nobody, too. Otherwise a state from before such batches would pass for the
// newest one.
TEST(UserStore, RefusesAStateThatIsOlderThanBatchesWithoutChanges) {
  tests::SimulatedDisk disk(1);
  disk.make_folder("f");
  const UserKey key(example_key());
  std::vector<StoreMark> marks;
  {
    Table table;
    UserLog log(disk, "f", key, mine, table);
    log.load({});
    for (int batch = 0; batch < 3; ++batch) {
      Changes changes(table);
      if (batch == 0) changes.put(entry_of(key, "alice", 0, {42, 3, 1U << 30}));
      marks.push_back(log.append(changes));
      log.sync();
      log.committed(changes);
    }
  }
  for (const std::size_t batch : {2U, 1U}) {
    Table table;
    UserLog log(disk, "f", key, mine, table);
    log.look(marks[batch]);  // one batch more may have been under way
    EXPECT_EQ(table.size(), 1U);
  }
  Table table;
  UserLog log(disk, "f", key, mine, table);
  tests::expect_failure(
      Exit::data, [&] { log.look(marks[0]); }, "rolled back");
}

TEST(UserStore, RefusesRecordsThatAreMissingTwiceOrOutOfOrder) {
  const std::size_t header = 20 + store_context(UserKey(example_key()), mine).size();
  const auto put_together = [&](std::vector<std::size_t> order) {
    return refusal([&](const std::string& store) {
      std::string changed = store.substr(0, header);
      for (const std::size_t number : order) changed += records_of(store, header)[number - 1];
      return changed;
    });
  };
  EXPECT_EQ(put_together({1, 2, 3, 4}), "");
  EXPECT_NE(put_together({1, 2, 4, 3}), "");
  EXPECT_NE(put_together({1, 2, 4}), "");
  EXPECT_EQ(put_together({2, 3, 4}), "");  // later records say the same again, so the table is the same
  EXPECT_NE(put_together({4}).find("thinned out"), std::string::npos);
  EXPECT_NE(put_together({1, 1, 2, 3, 4}), "");
  EXPECT_NE(put_together({1, 2, 3}), "");
  EXPECT_NE(put_together({}), "");
}

TEST(UserStore, RefusesEveryByteThatWasChanged) {
  const std::size_t size = golden_store().size();
  // The number tells which of two files is newer, and nothing of their records.
  const std::size_t segment_number = 12;
  for (std::size_t at = 0; at < size; ++at) {
    if (at >= segment_number && at < segment_number + 8) continue;
    const std::string line = refusal([&](std::string store) {
      store[at] = static_cast<char>(store[at] ^ 0x10);
      return store;
    });
    EXPECT_NE(line, "") << at;
  }
  for (std::size_t kept = 0; kept < size; ++kept) {
    EXPECT_NE(refusal([&](std::string store) { return store.substr(0, kept); }), "") << kept;
  }
}

TEST(StoreMark, Is40Bytes) {
  std::string bytes;
  const StoreMark mark{7, 3, 6, SetDigest(static_cast<unsigned __int128>(5) << 64 | 9)};
  append_mark(mark, bytes);
  EXPECT_EQ(bytes.size(), 40U);
  secrets::FieldReader fields(bytes, "short");
  EXPECT_EQ(take_mark(fields), mark);
}

}  // namespace
}  // namespace nustream::users
