// An account that streams share: its bytes, what it comes to, what a crash leaves, and several writers at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "expect_failure.h"
#include "journal/budget_account.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

constexpr privacy::Neighbours zero_out{privacy::Adjacency::zero_out, false};

journal::Member member(std::uint8_t first, const std::string& stream, std::uint32_t lane = 0) {
  journal::Member named{{}, stream, LaneId{lane}};
  named.id.fill(first);
  return named;
}

struct World {
  TemporaryFolder folder;
  std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  std::string path = (folder.path() / "people").string();

  explicit World(double budget = 1) { journal::create_account(*disk, path, Rho{budget}, zero_out); }
  void reserve(const journal::Member& who, double rho) const {
    journal::charge(*disk, path, who, [&](const auto&) { return journal::Charge{who, Rho{rho}, true}; });
  }
  void settle(const journal::Member& who, double rho) const {
    journal::charge(*disk, path, who, [&](const auto&) { return journal::Charge{who, Rho{rho}, false}; });
  }
  [[nodiscard]] journal::AccountBook read() const { return journal::read_account(*disk, path); }
  [[nodiscard]] std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
};

// The hash in the second line was computed with Python's hashlib over the first line.
TEST(BudgetAccount, WritesTheBytesOfItsPage) {
  const World world;
  journal::Member who{{}, "sales", LaneId{0}};
  for (std::size_t i = 0; i < who.id.size(); ++i) who.id[i] = static_cast<std::uint8_t>(i * 0x11);
  world.reserve(who, .5);
  EXPECT_EQ(world.text(),
            R"({"format":1,"budget":1,"adjacency":"zero-out","protects":"record"})"
            "\n"
            R"({"format":1,"member":"00112233445566778899aabbccddeeff","stream":"sales","lane":0,)"
            R"("reserved":0.5,"previous":"ecef946c5aec6616fc25bfa5ca2dd894d0d2d94e0868163e215bf4d4d7af6f69"})"
            "\n");
}

// Lanes are members of their own too: two of them may read the same records.
TEST(BudgetAccount, AddsAllMembersUpWhateverTheirStreamsAndLanes) {
  const World world;
  world.reserve(member(1, "sales", 0), .125);
  world.reserve(member(2, "sales", 1), .25);
  world.reserve(member(3, "visits"), .25);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .625);
  world.reserve(member(4, "sales", 0), .0625);  // another folder of the same lane
  EXPECT_DOUBLE_EQ(world.read().total().value(), .6875);
  EXPECT_DOUBLE_EQ(world.read().room_for(member(3, "visits")).value(), .5625);
  EXPECT_DOUBLE_EQ(world.read().room_for(member(1, "sales", 0)).value(), .4375);
  EXPECT_DOUBLE_EQ(world.read().room_for(member(9, "sales", 7)).value(), .3125);
  expect_failure(
      Exit::exhausted, [&] { world.reserve(member(9, "sales", 7), .5); }, "the account's budget of 1");
}

TEST(BudgetAccount, IsNeverCrossed) {
  const World world;
  world.reserve(member(1, "sales"), .7);
  expect_failure(
      Exit::exhausted, [&] { world.reserve(member(2, "visits"), .4); }, "the account's budget of 1");
  EXPECT_DOUBLE_EQ(world.read().total().value(), .7);
  world.settle(member(1, "sales"), .5);  // this settlement gives .2 back
  world.reserve(member(2, "visits"), .4);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .9);
  // A charge that is smaller than before is always written down, whatever the total is.
  world.settle(member(2, "visits"), .1);
  EXPECT_DOUBLE_EQ(world.read().charge_of(member(2, "visits").id)->rho.value(), .1);
}

// What was spent has happened, and a budget cannot undo it; later reservations are refused.
TEST(BudgetAccount, WritesDownWhatWasSpentWhateverTheBudget) {
  const World world;
  world.reserve(member(1, "sales"), .75);
  world.settle(member(2, "visits"), .5);
  EXPECT_DOUBLE_EQ(world.read().total().value(), 1.25);
  world.settle(member(1, "sales"), .875);
  EXPECT_DOUBLE_EQ(world.read().total().value(), 1.375);
  EXPECT_EQ(world.read().room_for(member(1, "sales")).value(), .5);
  EXPECT_EQ(world.read().room_for(member(3, "other")).value(), 0);
  expect_failure(
      Exit::exhausted, [&] { world.reserve(member(3, "other"), .125); }, "is charged");
}

// An older copy of a folder knows of less than what the folder has spent since.
TEST(BudgetAccount, NeverChargesLessThanWhatWasSpent) {
  const World world;
  world.reserve(member(1, "sales"), .75);
  world.settle(member(1, "sales"), .5);
  world.settle(member(1, "sales"), .25);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .5);
  world.reserve(member(1, "sales"), .625);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .625);
  EXPECT_DOUBLE_EQ(world.read().charge_of(member(1, "sales").id)->most_spent.value(), .5);
  world.reserve(member(1, "sales"), .125);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .5);
  EXPECT_EQ(world.text().find(R"("spent":0.25)"), std::string::npos);
}

// Less than the rounding of sums counts as no room. If it were told as room it could not be charged, and a search for
// a charge that fits would take 2^52 steps.
TEST(BudgetAccount, HasNoRoomWhereLittleMoreThanRoundingIsLeft) {
  journal::AccountBook book;
  book.budget = Rho{.1};
  const journal::Member first = member(1, "first");
  const double spent[] = {0, .04, .05, .01};
  for (std::uint8_t i = 0; i < 4; ++i) {
    book.charges.push_back({i == 0 ? first : member(i + 1, "stream " + std::to_string(i)), Rho{spent[i]}, false});
  }
  ASSERT_GT(.1 - (.04 + .05 + .01), 0);  // 1.4e-17
  EXPECT_EQ(book.room_for(first).value(), 0);
  book.budget = Rho{1};
  book.charges = {{first, Rho{1 - 0x1p-45}, false}};
  EXPECT_EQ(book.room_for(member(2, "other")).value(), 0);
  book.charges = {{first, Rho{1 - 0x1p-39}, false}};
  EXPECT_EQ(book.room_for(member(2, "other")).value(), 0x1p-39);
}

// All the room that the account tells of can be charged, however the charges of others round when they are added up.
TEST(BudgetAccount, HasRoomForAllThatItSaysIsLeft) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  for (int round = 0; round < 2000; ++round) {
    journal::AccountBook book;
    book.budget = Rho{.1 + uniform(random)};
    const int others = 1 + static_cast<int>(random() % 5);
    for (int i = 0; i < others; ++i) {
      const journal::Member other = member(static_cast<std::uint8_t>(i), "stream " + std::to_string(i));
      book.charges.push_back({other, Rho{book.budget.value() / others * uniform(random)}, false});
    }
    const journal::Member one_more = member(99, "one more");
    const Rho room = book.room_for(one_more);
    ASSERT_GT(room.value(), 0);
    book.charges.push_back({one_more, room, true});
    ASSERT_LE(book.total(), book.budget);
    ASSERT_GT(book.total().value(), book.budget.value() * (1 - 1e-12));
  }
}

TEST(BudgetAccount, LeavesOutALineThatACrashTore) {
  const World world;
  world.reserve(member(1, "sales"), .5);
  std::ofstream(world.path, std::ios::app) << R"({"format":1,"member":"0202)";
  EXPECT_DOUBLE_EQ(world.read().total().value(), .5);
  world.reserve(member(2, "visits"), .25);
  EXPECT_DOUBLE_EQ(world.read().total().value(), .75);
  const std::string text = world.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(BudgetAccount, SeesWhatWasChanged) {
  const World world;
  for (std::uint8_t i = 1; i <= 3; ++i) world.reserve(member(i, "stream " + std::to_string(i)), .25);
  const std::string text = world.text();
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (std::size_t at = 0; at < last; ++at) {
    std::string changed = text;
    changed[at] ^= 1;
    std::ofstream(world.path, std::ios::trunc) << changed;
    EXPECT_THROW(static_cast<void>(world.read()), Failure) << at;
  }
  std::ofstream(world.path, std::ios::trunc) << "";
  expect_failure(
      Exit::configuration, [&] { static_cast<void>(world.read()); }, "there is no account");
  std::ofstream(world.path, std::ios::trunc) << "{\"format\":2}\n";
  expect_failure(
      Exit::data, [&] { static_cast<void>(world.read()); }, "use the version that wrote it");
}

TEST(BudgetAccount, IsMadeOnce) {
  const World world;
  expect_failure(
      Exit::configuration, [&] { journal::create_account(*world.disk, world.path, Rho{2}, zero_out); },
      "is there already");
}

// What a crash left of the first line stands in nobody's way; a line of something else does.
TEST(BudgetAccount, IsMadeOverATornFirstLine) {
  const World world;
  const auto create = [&] { journal::create_account(*world.disk, world.path, Rho{2}, zero_out); };
  for (const char* torn : {"", "{", "{\"format\":1,\"budget\":1"}) {
    std::ofstream(world.path, std::ios::trunc) << torn;
    create();
    EXPECT_EQ(world.read().budget, Rho{2});
  }
  for (const char* other : {"words without an end", "{\"format\":1}\n"}) {
    std::ofstream(world.path, std::ios::trunc) << other;
    expect_failure(Exit::configuration, create, "is there already");
  }
}

// Another name of the file is the same account; a writer waits for whoever holds it.
TEST(BudgetAccount, IsLockedByWhateverNameItGoes) {
  const World world;
  const std::string link = world.path + " too";
  std::filesystem::create_hard_link(world.path, link);
  auto held = world.disk->lock(world.path);
  std::thread other([&] {
    const auto disk = journal::posix_disk();
    const journal::Member who = member(1, "sales");
    journal::charge(*disk, link, who, [&](const auto&) { return journal::Charge{who, Rho{.5}, true}; });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(world.read().total().value(), 0);
  held.reset();
  other.join();
  EXPECT_EQ(world.read().total().value(), .5);
}

TEST(BudgetAccount, IsNotMadeByWhoeverLooksForIt) {
  const World world;
  const journal::Member who = member(1, "sales");
  expect_failure(
      Exit::configuration,
      [&] {
        journal::charge(*world.disk, world.path + "s", who, [&](const auto&) {
          return journal::Charge{who, Rho{.5}, true};
        });
      },
      "there is no account");
  EXPECT_FALSE(std::filesystem::exists(world.path + "s"));
}

// Eight writers at once: each charge takes into account all that were durable before it, and the budget stops the
// writers together.
TEST(BudgetAccount, ServesManyAtOnce) {
  const World world(4);
  std::atomic<int> refused = 0;
  std::vector<std::thread> writers;
  for (std::uint8_t i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      const auto disk = journal::posix_disk();
      const journal::Member who = member(i, "stream " + std::to_string(i));
      for (int times = 1; times <= 10; ++times) {
        try {
          journal::charge(*disk, world.path, who, [&](const auto&) {
            return journal::Charge{who, Rho{.0625 * times}, true};
          });
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.code(), Exit::exhausted);
          ++refused;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  // 64 sixteenths fit, in whatever order they come; the writers asked for 80.
  EXPECT_DOUBLE_EQ(world.read().total().value(), 4);
  EXPECT_EQ(refused, 16);
}

}  // namespace
}  // namespace nustream::tests
