// What ledger lines reserve: an epoch has tens of lines, each line pays for every step before the step is taken, and
// none ends a stream early.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "config/mechanism.h"
#include "config_reading.h"
#include "engine/epoch_ledger.h"
#include "engine/spent.h"
#include "journal/release_chain.h"
#include "keys_from.h"

namespace nustream::tests {
namespace {

std::optional<StepCount> steps(std::uint64_t count) {
  return StepCount{count};
}

TEST(Reservation, GoesToTheNextPowerOfTwoAndNoFurtherThanItMay) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::tuple<std::uint64_t, std::optional<StepCount>, bool, std::uint64_t>> table{
      {0, {}, true, 0},  // no step is taken, so nothing is paid for
      {1, {}, true, 2},
      {2, {}, true, 4},
      {3, {}, true, 4},
      {1000, {}, true, 1024},
      {1024, {}, true, 2048},  // with less, the next commit would need a line at once
      {65'536, {}, true, 131'072},
      {131'072, {}, true, 196'608},  // a line reserves at most 65,536 steps ahead
      {1'000'000, {}, true, 1'048'576},
      {1'000'000'000, {}, true, 1'000'065'536},
      {1000, steps(1010), true, 1010},  // the limit of the budget or of the horizon
      {1010, steps(1010), true, 1010},
      {1500, steps(1010), true, 1500},  // a budget that was lowered takes no step back
      {10, steps(5000), false, 5000},   // more steps cost no more, so one line reserves all that are left
      {131'072, {}, false, 262'144},
      {most, {}, true, most},
      {most, {}, false, most},
  };
  for (const auto& [taken, furthest, grows, reserved] : table) {
    EXPECT_EQ(engine::reserved_steps(StepCount{taken}, furthest, grows).value(), reserved) << taken;
  }
}

/// One epoch of the example's settings, whose commits are written as a run would write them.
class EpochLedger : public ::testing::Test {
 protected:
  /// The default settings have a spend that grows for long.
  explicit EpochLedger(const std::vector<std::string>& overrides = {"noise.nu=1e-6"})
      : config_(config::read(overrides)),
        mechanism_(config::make_mechanism(config_, privacy::Participation::once())) {}

  [[nodiscard]] engine::EpochLedger begin(std::optional<Rho> budget = {}, journal::Ledger before = {},
                                          std::uint32_t epoch = 0,
                                          journal::Overlap overlap = journal::Overlap::disjoint) const {
    return {{"s",
             LaneId{0},
             EpochId{epoch},
             Position{0},
             overlap,
             std::string(64, 'a'),
             config_.privacy.neighbours(),
             true,
             {},
             {},
             false,
             budget},
            mechanism_,
            std::move(before)};
  }
  /// The lines that come with a commit; the commit is kept as the last one.
  std::vector<journal::LedgerEntry> commit(engine::EpochLedger& ledger, std::uint64_t taken, bool closes = false) {
    const std::string text =
        ledger.append_lines({StepCount{taken}, Position{taken}, before_, closes}, keys_, journal::empty_release_head);
    before_ = StepCount{taken};
    std::vector<journal::LedgerEntry> lines;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      lines.push_back(journal::read_entry(std::string_view(text).substr(begin, text.find('\n', begin) - begin)));
      ++lines_;
    }
    if (!lines.empty()) last_ = lines.back();
    return lines;
  }
  [[nodiscard]] Rho after(std::uint64_t taken) const { return mechanism_.spend.after(StepCount{taken}); }

  config::Config config_;
  config::Mechanism mechanism_;
  secrets::Keyring keys_ = keys_from(1);
  std::optional<StepCount> before_;
  std::optional<journal::LedgerEntry> last_;
  std::size_t lines_ = 0;
};

// A million steps, in commits of one step at the beginning and of hundreds later: the last line pays for them at each
// commit.
TEST_F(EpochLedger, PaysForEveryStepBeforeItIsTaken) {
  engine::EpochLedger ledger = begin();
  std::size_t commits = 0;
  for (std::uint64_t taken = 1; taken <= 1'000'000; taken += taken < 100 ? 1 : 100) {
    static_cast<void>(commit(ledger, taken));
    ++commits;
    ASSERT_LE(taken, last_->steps.value());
    ASSERT_EQ(last_->rho, after(last_->steps.value())) << "what is charged where the state is lost";
    ASSERT_GE(last_->rho, after(taken));
    ASSERT_LE(last_->rho, mechanism_.spend.limit());
  }
  EXPECT_GT(commits, 10'000U);
  EXPECT_GE(lines_, 20U);
  EXPECT_LE(lines_, 40U) << "tens of lines, and not one for each commit";
}

// Where the state is there, its exact step count is charged, whatever is reserved.
TEST_F(EpochLedger, SpendsWhatWasTaken) {
  engine::EpochLedger ledger = begin();
  static_cast<void>(commit(ledger, 1000));
  EXPECT_EQ(last_->steps, StepCount{1024});
  EXPECT_EQ(last_->taken, StepCount{0});
  EXPECT_EQ(ledger.total(StepCount{1000}, Position{1000}), after(1000));
  EXPECT_EQ(ledger.with_own(StepCount{1000}, Position{1000}).back().rho, after(1000));
  EXPECT_TRUE(ledger.reserves_beyond(StepCount{1000}));
}

TEST_F(EpochLedger, SaysWhatWasTakenWhereItCloses) {
  engine::EpochLedger ledger = begin();
  static_cast<void>(commit(ledger, 100));
  EXPECT_TRUE(commit(ledger, 110).empty());
  ASSERT_EQ(commit(ledger, 110, true).size(), 1U);
  EXPECT_EQ(last_->steps, StepCount{110});
  EXPECT_EQ(last_->rho, after(110));
  EXPECT_FALSE(last_->taken);
  EXPECT_TRUE(commit(ledger, 110, true).empty()) << "it says so already";
  ASSERT_EQ(commit(ledger, 111).size(), 1U) << "nothing is reserved any more";
  EXPECT_EQ(last_->taken, StepCount{110});
}

// Two runs from one state: neither of them continues under the line of the other.
TEST_F(EpochLedger, SaysFromWhereARunGoesOn) {
  std::vector<std::string> runs;
  for (int run = 0; run < 2; ++run) {
    before_ = StepCount{700};
    engine::EpochLedger ledger = begin();
    EXPECT_TRUE(commit(ledger, 700).empty()) << "no step, no line";
    ASSERT_EQ(commit(ledger, 710, true).size(), 1U);
    EXPECT_EQ(last_->taken, StepCount{700});
    EXPECT_EQ(last_->steps, StepCount{1024});
    runs.push_back(last_->run);
    EXPECT_EQ(runs.back().size(), 32U);
    static_cast<void>(commit(ledger, 1024));
    static_cast<void>(commit(ledger, 1025));
    EXPECT_TRUE(last_->run.empty()) << "a run says so once";
  }
  EXPECT_NE(runs[0], runs[1]);
}

// Where the budget is nearly used up, no more is reserved than it permits, and all its steps are taken.
TEST_F(EpochLedger, NeverStopsAStreamEarly) {
  for (const std::uint64_t within : {1U, 2U, 37U, 1000U, 1024U, 1025U, 70'000U}) {
    const Rho budget = after(within);
    engine::EpochLedger ledger = begin(budget);
    const std::optional<StepCount> limit = ledger.limit(budget, Position{0});
    ASSERT_TRUE(limit);
    ASSERT_GE(limit->value(), within);
    before_.reset();
    for (std::uint64_t taken = 1; taken <= limit->value(); ++taken) {
      static_cast<void>(commit(ledger, taken));
      ASSERT_LE(last_->rho, budget) << taken;
      ASSERT_LE(last_->steps, *limit) << taken;
    }
    EXPECT_EQ(last_->steps, *limit);
  }
  // With the whole budget rho is never reached, so no step count limits the stream.
  EXPECT_FALSE(begin(mechanism_.spend.limit()).limit(mechanism_.spend.limit(), Position{0}));
}

// An earlier epoch over the same records has lost its state, so it is charged all that it reserved.
TEST_F(EpochLedger, ReservesWithinTheBudgetOfAllEpochs) {
  engine::EpochLedger first = begin();
  static_cast<void>(commit(first, 1000));
  journal::Ledger lost;
  lost.keep(*last_);
  before_.reset();
  const Rho budget{after(1024).value() + after(500).value()};
  engine::EpochLedger second = begin(budget, lost, 1, journal::Overlap::unknown);
  const std::optional<StepCount> limit = second.limit(budget, Position{0});
  ASSERT_TRUE(limit);
  for (std::uint64_t taken = 1; taken <= limit->value(); ++taken) static_cast<void>(commit(second, taken));
  EXPECT_EQ(last_->steps, *limit);
  lost.keep(*last_);
  EXPECT_LE(engine::total_spent(lost.epochs, config_.privacy.neighbours()), budget);
  EXPECT_NEAR(static_cast<double>(limit->value()), 500, 2)
      << "the lost state's 1,024 steps count, not the 1,000 that were taken";
}

class EpochLedgerOfAHorizon : public EpochLedger {
 protected:
  EpochLedgerOfAHorizon() : EpochLedger({"noise.correlation=tree", "noise.height=15"}) {}
};

TEST_F(EpochLedgerOfAHorizon, NeverReservesBehindIt) {
  engine::EpochLedger ledger = begin();
  const std::uint64_t horizon = mechanism_.horizon().value().value();
  for (std::uint64_t taken = 1; taken <= horizon; ++taken) {
    static_cast<void>(commit(ledger, taken));
    ASSERT_LE(last_->steps.value(), horizon);
    ASSERT_GE(last_->rho, after(taken));
  }
  EXPECT_EQ(last_->steps.value(), horizon);
  EXPECT_EQ(last_->rho, mechanism_.spend.limit());
  EXPECT_LE(lines_, 16U);
}

// What the last batch released no line has named by then: one that closes follows, though nothing is left to be
// taken.
TEST_F(EpochLedgerOfAHorizon, SaysByALineThatClosesThatAllWasTaken) {
  engine::EpochLedger ledger = begin();
  const std::uint64_t horizon = mechanism_.horizon().value().value();
  ASSERT_EQ(commit(ledger, horizon).size(), 1U);
  EXPECT_EQ(last_->taken, StepCount{0});
  EXPECT_TRUE(ledger.reserves_beyond(StepCount{horizon}));
  ASSERT_EQ(commit(ledger, horizon, true).size(), 1U);
  EXPECT_FALSE(last_->taken);
  EXPECT_FALSE(ledger.reserves_beyond(StepCount{horizon}));
}

class EpochLedgerOfIndependentNoise : public EpochLedger {
 protected:
  EpochLedgerOfIndependentNoise() : EpochLedger({"noise.correlation=\"independent\""}) {}
};

// Under independent noise a record costs the same after its own step as for ever.
TEST_F(EpochLedgerOfIndependentNoise, HasALineADoublingWhereNothingGrows) {
  engine::EpochLedger ledger = begin();
  for (std::uint64_t taken = 1; taken <= 1'000'000; taken += 10) static_cast<void>(commit(ledger, taken));
  EXPECT_LE(lines_, 20U);
  EXPECT_EQ(last_->rho, mechanism_.spend.limit());
}

}  // namespace
}  // namespace nustream::tests
