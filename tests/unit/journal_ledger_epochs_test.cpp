// What two lines of an epoch's number charge together.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/spent.h"
#include "error.h"
#include "expect_failure.h"
#include "journal/ledger_chain.h"
#include "witness_example.h"

namespace nustream::tests {
namespace {

TEST(LedgerEntries, ChargeAtLeastWhatAnotherLineOfTheirEpochDoes) {
  const auto of = [](double rho, std::vector<Rho> by_count, std::optional<Rho> of_mass) {
    journal::LedgerEntry line = entry(0, 100);
    line.rho = Rho{rho};
    line.user =
        journal::UserSpend{users::Limits(privacy::Participation{2, 50}, {}), false, std::move(by_count), of_mass};
    return line;
  };
  journal::LedgerEntry line = of(0.125, {Rho{0}, Rho{0.5}, Rho{0.625}}, Rho{0.5});
  journal::charge_beside(line, of(0.25, {Rho{0}, Rho{0.25}, Rho{0.75}}, {}));
  EXPECT_EQ(line.rho, Rho{0.25});
  EXPECT_EQ(line.user->by_count, (std::vector<Rho>{Rho{0}, Rho{0.5}, Rho{0.75}}));
  EXPECT_EQ(line.user->of_mass, Rho{0.5});
  journal::charge_beside(line, of(0.25, {Rho{0.125}}, Rho{0.625}));
  EXPECT_EQ(line.user->by_count, std::vector<Rho>{Rho{0.75}});
  EXPECT_EQ(line.user->of_mass, Rho{0.625});
  journal::charge_beside(line, of(0.25, {Rho{1}}, {}));
  EXPECT_EQ(line.user->by_count, std::vector<Rho>{Rho{1}});
}

// Two copies of a folder ran epochs of one number with limits of other kinds: nobody knows who did how much in both.
TEST(LedgerEntries, ChargeWhatTwoLinesOfOtherSettingsDoTogether) {
  const auto of = [](double rho, char digest, std::optional<Rho> of_mass) {
    journal::LedgerEntry line = entry(0, 100);
    line.rho = line.rho_limit = Rho{rho};
    line.settings_digest = std::string(64, digest);
    line.neighbours.of_user = true;
    const auto mass = of_mass ? std::optional(Mass{2}) : std::nullopt;
    line.user =
        journal::UserSpend{users::Limits(privacy::Participation{1, 50}, mass), true, {Rho{0}, Rho{0.5}}, of_mass};
    return line;
  };
  journal::LedgerEntry line = of(0.25, 'd', Rho{0.25});
  journal::LedgerEntry other = of(0.5, 'e', {});
  other.steps = StepCount{200};
  journal::charge_beside(line, other);
  EXPECT_NEAR(line.rho.value(), 0.75, 1e-12);
  EXPECT_EQ(line.rho_limit, line.rho);
  EXPECT_EQ(line.user->by_count, std::vector<Rho>{line.rho});
  EXPECT_EQ(line.user->of_mass, line.rho) << "the other epoch was limited by counts alone";
  EXPECT_FALSE(line.user->carries_over);
  EXPECT_EQ(line.steps, StepCount{200});
  EXPECT_NEAR(engine::total_spent({&line, 1}, line.neighbours).value(), 0.75, 1e-12);
  other.neighbours.of_user = false;
  other.user.reset();
  expect_failure(
      Exit::data, [&] { journal::charge_beside(line, other); }, "do not add up");
}

}  // namespace
}  // namespace nustream::tests
