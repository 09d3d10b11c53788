// The ledger's bytes against an independent implementation, and every way to change a ledger without being noticed.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "expect_failure.h"
#include "journal/ledger_chain.h"
#include "journal/release_chain.h"
#include "journal/state_record.h"
#include "keys_from.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

journal::LedgerEntry entry(std::uint32_t epoch, std::uint64_t to) {
  return {R"(a "b")",
          LaneId{2},
          EpochId{epoch},
          Position{10},
          Position{to},
          StepCount{to - 10},
          Rho{0.1},
          Rho{0.1 + 0.2},
          "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
          {privacy::Adjacency::replace_one, true},
          true,
          journal::Overlap::unknown};
}

/// A ledger of some lines, and how they are verified.
struct Lines {
  std::vector<std::string> lines;
  journal::Hash head = journal::empty_ledger_head;

  void add(std::string line) {
    head = journal::hash_of(line);
    lines.push_back(std::move(line));
  }
};

journal::Ledger verify(const std::vector<std::string>& lines, const secrets::Keyring& keys) {
  journal::LedgerVerifier verifier(keys);
  for (const std::string& line : lines) verifier.add(line.substr(0, line.size() - 1));
  return std::move(verifier).finish();
}

Lines three_lines(const secrets::Keyring& keys) {
  Lines ledger;
  for (const std::uint64_t to : {20U, 30U, 40U}) ledger.add(journal::ledger_line(entry(3, to), ledger.head, keys));
  return ledger;
}

// The bytes were computed with Python's hashlib.blake2b (key=…) and the openssl command, over the fields of
// docs/formats/ledger.md.
TEST(LedgerChain, WritesTheBytesOfItsPage) {
  const std::string line =
      journal::ledger_line(entry(3, 40), journal::empty_ledger_head, keys_from(1), journal::empty_release_head);
  EXPECT_EQ(line,
            R"({"format":2,"stream":"a \"b\"","lane":2,"epoch":3,"from":10,"to":40,"steps":30,"rho":0.1,"rho_limit")"
            R"(:0.30000000000000004,"digest":"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff","ad)"
            R"(jacency":"replace-one","protects":"target","private":true,"disjoint":"unknown","released":"000000000)"
            R"(0000000000000000000000000000000000000000000000000000000","key":"a0e82e8bed9a3938ef2adbec87469b1e","p)"
            R"(revious":"0000000000000000000000000000000000000000000000000000000000000000","signature":"f0097baf023)"
            R"(48af7268bb91908b941e0e12c2ca5b16ce2e1b4513cae75ccefa54e2caced212ba09d4e85372eca6ddfe14e92c79b37a8d0e)"
            R"(015c60bcf9fc64b0e","mac":"18db9bae04612b6f9fa1733e578d58f76c6ea966206918bbdfecdda363d292d0"})"
            "\n");
  const journal::Hash head = journal::hash_of(line);
  EXPECT_EQ((std::vector<std::uint8_t>(head.begin(), head.begin() + 4)),
            (std::vector<std::uint8_t>{0xac, 0xb4, 0xa3, 0x80}));
}

TEST(LedgerChain, ReadsBackWhatItWrote) {
  const auto keys = keys_from(1);
  Lines written = three_lines(keys);
  written.add(journal::ledger_line(entry(4, 50), written.head, keys));
  const journal::Ledger ledger = verify(written.lines, keys);
  EXPECT_EQ(ledger.head, written.head);
  ASSERT_EQ(ledger.epochs.size(), 2U);  // the last line of each epoch counts
  EXPECT_EQ(ledger.epochs[0].to, Position{40});
  EXPECT_EQ(ledger.epochs[0].stream, R"(a "b")");
  EXPECT_EQ(ledger.epochs[0].lane, LaneId{2});
  EXPECT_EQ(ledger.epochs[0].from, Position{10});
  EXPECT_EQ(ledger.epochs[0].steps, StepCount{30});
  EXPECT_EQ(ledger.epochs[0].rho, Rho{0.1});
  EXPECT_EQ(ledger.epochs[0].rho_limit, Rho{0.1 + 0.2});
  EXPECT_EQ(ledger.epochs[0].settings_digest, entry(3, 40).settings_digest);
  EXPECT_TRUE(ledger.epochs[0].is_private);
  EXPECT_EQ(ledger.epochs[0].overlap, journal::Overlap::unknown);
  EXPECT_EQ(ledger.epochs[1].epoch, EpochId{4});
}

/// The line that the page shows.
journal::LedgerEntry reserving() {
  journal::LedgerEntry entry{"example",
                             LaneId{0},
                             EpochId{0},
                             Position{0},
                             Position{1000},
                             StepCount{1024},
                             Rho{0.25},
                             Rho{0.5},
                             std::string(64, 'a'),
                             {privacy::Adjacency::zero_out, false},
                             true,
                             journal::Overlap::disjoint};
  entry.taken = StepCount{0};
  entry.run = "00112233445566778899aabbccddeeff";
  return entry;
}

// Earlier versions read `steps` as steps that were taken, so they have to refuse the line by its format.
TEST(LedgerChain, WritesTheBytesOfALineThatReserves) {
  const std::string line =
      journal::ledger_line(reserving(), journal::empty_ledger_head, keys_from(1), journal::empty_release_head);
  EXPECT_EQ(line, read_file(std::filesystem::path(NUSTREAM_ROOT_DIR) / "docs/formats/example/reserving.ledger"));
  const journal::Ledger ledger = verify({line}, keys_from(1));
  ASSERT_EQ(ledger.epochs.size(), 1U);
  EXPECT_EQ(ledger.epochs[0].steps, StepCount{1024});
  EXPECT_EQ(ledger.epochs[0].taken, StepCount{0});
  EXPECT_EQ(ledger.epochs[0].run, reserving().run);
  EXPECT_EQ(journal::read_unsealed(line.substr(0, line.size() - 1)).entry->taken, StepCount{0});
}

TEST(LedgerChain, RefusesALineThatPaysForNothing) {
  const std::string line = journal::enclosed_line(reserving(), keys_from(1));
  const auto refused = [&](const std::string& before, const std::string& after) {
    std::string changed = line;
    changed.replace(changed.find(before), before.size(), after);
    expect_failure(
        Exit::data, [&] { static_cast<void>(journal::read_entry(changed)); }, "ledger");
  };
  refused("\"taken\":0", "\"taken\":1024");
  refused(",\"taken\":0", "");
  refused("\"format\":3", "\"format\":2");
}

// With the state there, its exact step count is charged. The state of an earlier version has no such count, and its
// lines are exact.
TEST(LedgerChain, IsSettledByTheStateBesideIt) {
  journal::Ledger ledger;
  ledger.keep(reserving());
  journal::StateRecord record;
  journal::settle(ledger, record);
  EXPECT_EQ(ledger.epochs.at(0).steps, StepCount{1024});
  EXPECT_FALSE(ledger.reserving);
  journal::LedgerEntry exact = reserving();
  exact.taken.reset();
  exact.steps = StepCount{1000};
  exact.rho = Rho{0.2};
  record.ledger_epochs = journal::enclosed_line(exact, keys_from(1));
  journal::settle(ledger, record);
  ASSERT_EQ(ledger.epochs.size(), 1U);
  EXPECT_EQ(ledger.epochs[0].steps, StepCount{1000});
  EXPECT_EQ(ledger.epochs[0].rho, Rho{0.2});
  ASSERT_TRUE(ledger.reserving);
  EXPECT_EQ(ledger.reserving->steps, StepCount{1024});
}

TEST(LedgerChain, SeesEveryChangedByte) {
  const auto keys = keys_from(1);
  const Lines ledger = three_lines(keys);
  for (std::size_t line = 0; line < ledger.lines.size(); ++line) {
    for (std::size_t at = 0; at + 1 < ledger.lines[line].size(); ++at) {
      auto changed = ledger.lines;
      changed[line][at] ^= 1;
      EXPECT_THROW(static_cast<void>(verify(changed, keys)), Failure) << line << ' ' << at;
    }
  }
}

TEST(LedgerChain, SeesLinesThatAreMissingMovedOrAdded) {
  const auto keys = keys_from(1);
  const auto lines = three_lines(keys).lines;
  const auto refused = [&](const std::vector<std::string>& other) {
    expect_failure(
        Exit::data, [&] { static_cast<void>(verify(other, keys)); }, "ledger");
  };
  refused({lines[1], lines[2]});
  refused({lines[0], lines[2]});
  refused({lines[0], lines[2], lines[1]});
  refused({lines[0], lines[0]});
  std::string longer = lines[2];
  longer.insert(longer.size() - 2, R"(,"rho":0)");  // a field behind the MAC
  refused({lines[0], lines[1], longer});
}

// Users who came from other lanes: one line replaces all that the lane said before.
TEST(LedgerChain, OfUsersWhoMovedIsWhatTheLastLineSaysOfAllOfThem) {
  const auto keys = keys_from(1);
  journal::LedgerEntry moved = entry(4, 40);
  moved.neighbours = {privacy::Adjacency::zero_out, false, true};
  moved.user = journal::UserSpend{
      users::Limits{privacy::Participation{2, 3}, Mass{4}}, false, {Rho{0}, Rho{.25}, Rho{.5}}, Rho{.75}};
  const std::string plain = journal::ledger_line(moved, journal::empty_ledger_head, keys);
  EXPECT_EQ(plain.find("moved"), std::string::npos);
  EXPECT_FALSE(journal::read_entry(plain).user->moved);
  moved.user->moved = {7, Rho{.125}};
  Lines ledger = three_lines(keys);
  ledger.add(journal::ledger_line(entry(4, 41), ledger.head, keys));
  EXPECT_EQ(verify(ledger.lines, keys).epochs.size(), 2U);
  ledger.add(journal::ledger_line(moved, ledger.head, keys));
  EXPECT_NE(ledger.lines.back().find(
                R"("rho_by_count":[0,0.25,0.5],"rho_of_mass":0.75,"moved":7,"rho_before":0.125,"private":true)"),
            std::string::npos);
  ledger.add(journal::ledger_line(entry(5, 50), ledger.head, keys));
  const std::vector<journal::LedgerEntry> epochs = verify(ledger.lines, keys).epochs;
  ASSERT_EQ(epochs.size(), 2U);
  ASSERT_TRUE(epochs[0].user && epochs[0].user->moved);
  EXPECT_EQ(epochs[0].user->moved->change, 7U);
  EXPECT_EQ(epochs[0].user->moved->before, Rho{.125});
  EXPECT_EQ(epochs[1].epoch, EpochId{5});
  std::string negative = ledger.lines[4];
  negative.replace(negative.find("0.125"), 5, "-0.12");
  expect_failure(
      Exit::data, [&] { static_cast<void>(journal::read_entry(negative)); }, "ledger");
}

TEST(LedgerChain, OfALaterFormatIsNamed) {
  std::string later = three_lines(keys_from(1)).lines.front();
  later.replace(later.find("\"format\":2"), 10, "\"format\":4");
  expect_failure(
      Exit::data, [&] { static_cast<void>(journal::read_entry(later)); },
      "has a line of format 4, this version reads formats 2 and 3; use the version that wrote it");
}

TEST(LedgerChain, RefusesASpendThatIsNone) {
  const std::string line = three_lines(keys_from(1)).lines.front();
  for (const std::string_view field : {"\"rho\":", "\"rho_limit\":"}) {
    const std::size_t begin = line.find(field) + field.size();
    for (const char* spend : {"-0.25", "null", "\"0.1\"", "1e999"}) {
      std::string changed = line;
      changed.replace(begin, line.find(',', begin) - begin, spend);
      expect_failure(
          Exit::data, [&] { static_cast<void>(journal::read_entry(changed)); }, "ledger");
    }
  }
}

TEST(LedgerChain, IsUnderTheKeyThatItEndsWith) {
  expect_failure(Exit::permission, [] { static_cast<void>(verify(three_lines(keys_from(1)).lines, keys_from(2))); });
  EXPECT_EQ(verify({}, keys_from(2)).head, journal::empty_ledger_head);
}

// After a rotation the old key may be gone, so the new key has to vouch for every byte before the rotation.
TEST(LedgerChain, VouchesForTheOldKeysLinesAfterARotation) {
  const auto old_keys = keys_from(1);
  const auto new_keys = keys_from(2);
  Lines ledger = three_lines(old_keys);
  ledger.add(journal::rotation_line("a", ledger.head, old_keys, new_keys));
  EXPECT_EQ(verify(ledger.lines, new_keys).epochs.at(0).to, Position{40});
  ledger.add(journal::ledger_line(entry(3, 50), ledger.head, new_keys));
  EXPECT_EQ(verify(ledger.lines, new_keys).epochs.at(0).to, Position{50});
  for (std::size_t at = 0; at + 1 < ledger.lines[1].size(); ++at) {
    auto changed = ledger.lines;
    changed[1][at] ^= 1;
    EXPECT_THROW(static_cast<void>(verify(changed, new_keys)), Failure) << at;
  }
}

TEST(LedgerChain, ReadsWholeLinesOfAFolder) {
  const auto keys = keys_from(1);
  Lines ledger;
  std::string text;
  for (std::uint64_t to = 11; to < 400; ++to) {  // longer than what is read at once
    ledger.add(journal::ledger_line(entry(3, to), ledger.head, keys));
    text += ledger.lines.back();
  }
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  EXPECT_TRUE(journal::read_ledger(*disk, folder.path(), keys).epochs.empty());
  static_cast<void>(folder.write("ledger", text + R"({"format":1,"torn)"));
  EXPECT_EQ(journal::read_ledger(*disk, folder.path(), keys).head, ledger.head);
  static_cast<void>(folder.write("ledger", text + "torn\n"));
  expect_failure(Exit::data, [&] { static_cast<void>(journal::read_ledger(*disk, folder.path(), keys)); });
}

/// The ledger as a state knows it that wrote three lines of its own, where the file holds the lines `in_file`.
std::optional<journal::Ledger> with_own_lines(const std::vector<std::string>& own, std::string in_file,
                                              const journal::Hash& head, const secrets::Keyring& keys) {
  const TemporaryFolder folder;
  const auto disk = journal::posix_disk();
  static_cast<void>(folder.write("ledger", in_file));
  journal::StateRecord record;
  for (const std::string& line : own) record.ledger_entry += line;
  record.ledger_head = head;
  if (!journal::ledger_follows(*disk, folder.path(), keys, record)) return std::nullopt;
  return journal::read_committed_ledger(*disk, folder.path(), keys, record);
}

// An epoch that begins with a debt, or behind a rotation, writes several lines; a crash may come before any of them.
TEST(LedgerChain, KnowsTheOwnLinesOfAStateWhereverACrashCame) {
  const auto keys = keys_from(1);
  Lines all;
  all.add(journal::ledger_line(entry(1, 20), all.head, keys));
  const std::string before = all.lines.back();
  all.add(journal::ledger_line(entry(2, 30), all.head, keys));
  all.add(journal::rotation_line(R"(a "b")", all.head, keys, keys));
  all.add(journal::ledger_line(entry(3, 40), all.head, keys));
  const std::vector<std::string> own(all.lines.begin() + 1, all.lines.end());
  std::string in_file = before;
  for (std::size_t there = 0; there <= own.size(); ++there) {
    const auto ledger = with_own_lines(own, in_file, all.head, keys);
    ASSERT_TRUE(ledger) << there;
    EXPECT_EQ(ledger->head, all.head) << there;
    ASSERT_EQ(ledger->epochs.size(), 3U) << there;
    EXPECT_EQ(ledger->epochs.back().to, Position{40});
    if (there < own.size()) in_file += own[there];
  }
  EXPECT_FALSE(with_own_lines(own, "", all.head, keys)) << "a line that the state knows of is lost";
}

}  // namespace
}  // namespace nustream::tests
