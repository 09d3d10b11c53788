// Records that cannot be used, and dead letters that cannot be written: no step is skipped, and no lane stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <sstream>

#include "attach_promise.h"
#include "free_port.h"
#include "measured_time.h"
#include "operator_listener.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;

std::map<std::string, std::string> headers_of(const StoredRecord& record) {
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : record.headers) headers[name] = value.value_or("(null)");
  return headers;
}

std::vector<StoredRecord> bad_records() {
  std::vector<StoredRecord> records;
  for (const char* value : {"", "1", "1,2,3", "\"1,2", "abc,1", "1,nan", "1e999,1", "0x10,1", "1,2\n3,4"}) {
    records.push_back({.key = "k", .value = value, .headers = {{"source", "test"}}});
  }
  records.push_back({.key = "k", .value = std::string("1,\0002", 4)});
  records.push_back({.key = "tombstone"});
  records.push_back({.value = std::string(2'000'000 / 4, 'x')});  // longer than the record_bytes_max below
  return records;
}

TEST(DeadLetters, HoldEachUnusableRecordWithItsReasonAndPlace) {
  const AttachWorld world;
  const std::vector<StoredRecord> bad = bad_records();
  write_records(world.direct(), world.name(), 0, bad);
  world.write(AttachWorld::values(90));
  const CommandResult result = world.run({"--until-end", "--set", "stream.record_bytes_max=100000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ledger_end(world).steps, bad.size() + 90) << "every record took its step";
  const auto letters = world.committed(world.name() + ".dead");
  ASSERT_EQ(letters.size(), bad.size());
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto headers = headers_of(letters[i]);
    EXPECT_EQ(letters[i].key, bad[i].key) << i;
    EXPECT_EQ(headers.at("nustream.topic"), world.name());
    EXPECT_EQ(headers.at("nustream.partition"), "0");
    EXPECT_EQ(headers.at("nustream.offset"), std::to_string(i));
    EXPECT_FALSE(headers.at("nustream.reason").empty());
    EXPECT_GT(std::stoll(headers.at("nustream.time")), 1'600'000'000'000);
    if (!bad[i].headers.empty()) {
      EXPECT_EQ(headers.at("source"), "test");
    }
    if (bad[i].value && bad[i].value->size() < 1000) {
      EXPECT_EQ(letters[i].value, bad[i].value) << i;
    }
  }
  EXPECT_EQ(letters.back().value->size(), 65'536U) << "cut";
  EXPECT_FALSE(letters[bad.size() - 2].value.has_value()) << "a tombstone stays one";
}

// The topic takes no record of that size. The letter keeps its reason, and as much of its bytes as fits.
TEST(DeadLetters, ThatAreTooLargeForTheirTopicAreCutAndNoStepIsLost) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".small", 1, {{"max.message.bytes", "2000"}});
  write_records(world.direct(), world.name(), 0, {{.value = std::string(30'000, 'x')}});
  const std::vector<std::string> values = AttachWorld::values(95);
  world.write(values);
  const std::vector<std::string> arguments{"--until-end", "--insecure-seed", "7", "--set",
                                           "kafka.dead_letter_topic=\"" + world.name() + ".small\""};
  const CommandResult result = world.run(arguments);
  ASSERT_EQ(result.code, 0) << result.err;
  const auto letters = world.committed(world.name() + ".small");
  ASSERT_EQ(letters.size(), 1U);
  EXPECT_GT(letters[0].value->size(), 1'500U);
  EXPECT_LT(letters[0].value->size(), 2'000U);
  EXPECT_THAT(headers_of(letters[0]).at("nustream.reason"), HasSubstr(""));
  EXPECT_EQ(ledger_end(world).steps, 96U) << result.err;
  std::vector<std::string> all{"unusable"};
  all.insert(all.end(), values.begin(), values.end());
  EXPECT_TRUE(joined(world.releases()) == replayed(world, all, 7)) << "the releases do not show it";
  expect_one_value_a_step(world.releases_uncommitted());
}

/// A running service with a public listener that is asked again and again whether it is ready.
class WatchedService {
 public:
  explicit WatchedService(const AttachWorld& world, std::vector<std::string> more = {})
      : service_(NUSTREAM_COMMAND, world.attach(with_addresses(std::move(more)))) {
    wait_until([&] { return page("/readyz") == "ready\n"; });
  }
  [[nodiscard]] std::string page(const std::string& path) const { return operator_page(public_, path); }
  /// The sum of a counter's series on the operator's side, or of those with `label`.
  [[nodiscard]] double counted(const std::string& name, const std::string& label = "") const {
    std::istringstream page(operator_page(operator_, "/metrics"));
    double sum = 0;
    for (std::string line; std::getline(page, line);) {
      if (line.starts_with(name + "{") && line.find(label) != std::string::npos)
        sum += std::stod(line.substr(line.rfind(' ')));
    }
    return sum;
  }
  /// How many transactions ended otherwise than by a commit.
  [[nodiscard]] double failed_transactions() const {
    return counted("nustream_transactions_total") - counted("nustream_transactions_total", "outcome=\"committed\"");
  }
  /// Waits until so many steps are in the ledger, and expects that the public is told throughout that all is well.
  void expect_ready_until(const AttachWorld& world, std::uint64_t steps) const {
    wait_until([&] {
      EXPECT_EQ(page("/readyz"), "ready\n") << "a record that cannot be used shows";
      return ledger_end(world).steps >= steps;
    });
  }
  CommandResult end() {
    service_.signal(SIGTERM);
    return service_.wait();
  }

 private:
  [[nodiscard]] std::vector<std::string> with_addresses(std::vector<std::string> more) const {
    more.insert(more.end(), {"--set", "serve.public_address=\"" + public_ + "\"", "--set",
                             "serve.operator_address=\"" + operator_ + "\"", "--set", "release.every=10", "--set",
                             "state.commit_records=100", "--set", "state.commit_seconds=0.1"});
    return more;
  }
  const std::string public_ = loopback(free_port());
  const std::string operator_ = some_operator_address();
  Command service_;
};

void expect_nothing_aborted(const AttachWorld& world) {
  EXPECT_TRUE(world.releases() == world.releases_uncommitted()) << "an aborted copy shows the bad record";
}

// Each letter fits its topic, with its key and headers, while all of them together do not.
TEST(DeadLetters, AsLargeAsTheyMayBeAreWrittenTogether) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".few", 1, {{"max.message.bytes", "100000"}});
  const std::string large(70'000, 'x');
  std::vector<StoredRecord> bad;
  for (int i = 0; i < 20; ++i) {
    bad.push_back({.key = large, .value = large});
    for (int j = 0; j < 40; ++j)
      bad.back().headers.emplace_back("header-" + std::to_string(j), std::string(1'500, 'y'));
    bad.push_back({.value = std::string(20'000, 'z')});
  }
  write_records(world.direct(), world.name(), 0, bad);
  world.write(AttachWorld::values(60));
  const CommandResult result = world.run(
      {"--until-end", "--set", "release.every=10", "--set", "kafka.dead_letter_topic=\"" + world.name() + ".few\""});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto letters = world.committed(world.name() + ".few");
  ASSERT_EQ(letters.size(), bad.size());
  for (std::size_t i = 0; i < letters.size(); ++i) {
    EXPECT_EQ(letters[i].value->size(), i % 2 == 0 ? 65'536U : 20'000U) << i;
  }
  EXPECT_EQ(letters[1].headers.size(), 5U);
  EXPECT_GT(letters[0].key->size(), 30'000U) << "what is left beside the value";
  expect_nothing_aborted(world);
  EXPECT_EQ(result.err.find("dead letters could not be written"), std::string::npos) << result.err;
}

// A limit is lowered under a running service, and nothing on the public surface shows it.
TEST(DeadLetters, ThatAreRefusedLaterDoNotShowOnThePublicSurface) {
  for (const char* limit : {"400", "150"}) {  // the reason fits; then not even that
    SCOPED_TRACE(limit);
    const AttachWorld world;
    WatchedService service(world);
    world.write(std::vector<std::string>(200, "1,2"));
    service.expect_ready_until(world, 200);
    alter_topic(world.direct(), world.name() + ".dead", {{"max.message.bytes", limit}});
    write_records(world.direct(), world.name(), 0, {{.value = std::string(30'000, 'x')}});
    world.write(std::vector<std::string>(299, "1,2"));
    service.expect_ready_until(world, 500);
    wait_until([&] { return world.releases().size() == 50; });
    wait_until([&] {
      return service.page("/metrics")
                 .find("nustream_releases_total{lane=\"0\",stream=\"" + world.name() + "\"} 50\n") !=
             std::string::npos;
    });
    expect_nothing_aborted(world);
    const CommandResult result = service.end();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("dead letters could not be written"));
    EXPECT_EQ(world.committed(world.name() + ".dead").size(), std::string(limit) == "400" ? 1U : 0U);
    expect_one_value_a_step(world.releases_uncommitted());
  }
}

// A partition without a leader takes nothing and refuses nothing. The lane waits for it once, and not for long.
TEST(DeadLetters, ThatNobodyTakesHoldUpTheReleasesOnce) {
  const AttachWorld world;
  WatchedService service(world);
  world.write(std::vector<std::string>(200, "1,2"));
  service.expect_ready_until(world, 200);
  delete_topic(world.direct(), world.name() + ".dead");
  // A broker may still take a letter for a moment, but not all three.
  for (const std::uint64_t steps : {300U, 400U, 500U}) {
    const auto written = std::chrono::steady_clock::now();
    world.write({"unusable"});
    world.write(std::vector<std::string>(99, "1,2"));
    service.expect_ready_until(world, steps);
    EXPECT_LT(std::chrono::steady_clock::now() - written, std::chrono::seconds(50) + busy_allowance())
        << "a transaction may take 60 s";
  }
  wait_until([&] { return service.counted("nustream_dead_letters_failed_total") >= 1; });
  EXPECT_EQ(service.failed_transactions(), 1) << "a letter behind one that nobody took is not tried";
  expect_nothing_aborted(world);
  const CommandResult result = service.end();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("dead letters could not be written"));
}

// Not even the reason fits; a transaction marker of 78 bytes just does. The letter is given up, and the release is
// not.
TEST(DeadLetters, ThatCannotBeWrittenAtAllAreGivenUp) {
  const AttachWorld world;
  create_topic(world.direct(), world.name() + ".tiny", 1, {{"max.message.bytes", "150"}});
  world.write({"unusable"});
  world.write(AttachWorld::values(95));
  const CommandResult result =
      world.run({"--until-end", "--set", "kafka.dead_letter_topic=\"" + world.name() + ".tiny\"", "--set",
                 "release.outbox_bytes=100000"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(world.committed(world.name() + ".tiny").empty());
  EXPECT_EQ(ledger_end(world).steps, 96U) << result.err;
}

}  // namespace
}  // namespace nustream::tests
