// What the dearer of two lines of an epoch charges.
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

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
  journal::charge_at_least(line, of(0.25, {Rho{0}, Rho{0.25}, Rho{0.75}}, {}));
  EXPECT_EQ(line.rho, Rho{0.25});
  EXPECT_EQ(line.user->by_count, (std::vector<Rho>{Rho{0}, Rho{0.5}, Rho{0.75}}));
  EXPECT_EQ(line.user->of_mass, Rho{0.5});
  journal::charge_at_least(line, of(0.25, {Rho{0.125}}, Rho{0.625}));
  EXPECT_EQ(line.user->by_count, std::vector<Rho>{Rho{0.75}});
  EXPECT_EQ(line.user->of_mass, Rho{0.625});
  journal::charge_at_least(line, of(0.25, {Rho{1}}, {}));
  EXPECT_EQ(line.user->by_count, std::vector<Rho>{Rho{1}});
}

TEST(LedgerEntries, ChargeWhatTwoLinesDoTogether) {
  journal::LedgerEntry line = entry(0, 100);
  line.user =
      journal::UserSpend{users::Limits(privacy::Participation{2, 50}, {}), true, {Rho{0}, Rho{0.5}}, Rho{0.25}};
  journal::LedgerEntry other = entry(0, 200);
  other.user = journal::UserSpend{users::Limits(privacy::Participation{2, 50}, {}), true, {Rho{0}, Rho{0.125}}, {}};
  journal::charge_both(line, other);
  EXPECT_NEAR(line.rho.value(), 0.25, 1e-12);
  EXPECT_NEAR(line.user->by_count[1].value(), 0.625, 1e-12);
  EXPECT_EQ(line.user->of_mass, Rho{0.25});
  EXPECT_FALSE(line.user->carries_over);
  EXPECT_EQ(line.steps, StepCount{200});
  other.user.reset();
  expect_failure(
      Exit::data, [&] { journal::charge_both(line, other); }, "do not add up");
}

}  // namespace
}  // namespace nustream::tests
