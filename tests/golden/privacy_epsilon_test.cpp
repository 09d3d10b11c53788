// (ε, δ) against 50-digit arithmetic and other people's programs.
#include "nustream/privacy/epsilon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::privacy {
namespace {

/// The rows of a comma-separated file of this folder, without its comments and heading.
std::vector<std::vector<std::string>> rows(const std::string& name) {
  std::ifstream file(std::string(NUSTREAM_TESTS_DIR) + "/golden/data/" + name);
  std::vector<std::vector<std::string>> result;
  bool heading = true;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (!heading) {
      std::vector<std::string> cells;
      std::istringstream fields(line);
      for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
      result.push_back(cells);
    }
    heading = false;
  }
  return result;
}

Conversion conversion_of(const std::string& name) {
  for (const Conversion conversion : {Conversion::gaussian, Conversion::zcdp, Conversion::zcdp_simple}) {
    if (privacy::name(conversion) == name) return conversion;
  }
  throw std::invalid_argument(name);
}

TEST(EpsilonReference, ExactCurveToTwelveDigitsInTheDeepestTails) {
  const auto cases = rows("privacy_gaussian_epsilon.csv");
  ASSERT_GT(cases.size(), 150U);
  for (const auto& row : cases) {
    const double expected = std::stod(row[2]);
    const double actual = epsilon(Rho{std::stod(row[0])}, Delta{std::stod(row[1])}).value();
    EXPECT_NEAR(actual, expected, 1e-12 * expected) << "rho " << row[0] << ", delta " << row[1];
  }
}

TEST(EpsilonReference, ThirdPartyConversions) {
  const auto cases = rows("privacy_epsilon_third_party.csv");
  ASSERT_GT(cases.size(), 100U);
  for (const auto& row : cases) {
    const double expected = std::stod(row[3]);
    const double actual = epsilon(Rho{std::stod(row[1])}, Delta{std::stod(row[2])}, conversion_of(row[0])).value();
    EXPECT_NEAR(actual, expected, 1e-12 * expected) << row[0] << ", rho " << row[1] << ", delta " << row[2];
  }
}

TEST(EpsilonReference, DeltaOfTheExactCurve) {
  const auto cases = rows("privacy_gaussian_delta.csv");
  ASSERT_GT(cases.size(), 50U);
  for (const auto& row : cases) {
    const double mu = std::stod(row[0]);
    const double at = std::stod(row[1]);
    const double expected = std::stod(row[2]);
    // The exponent is −x²/2 with x = ε/μ − μ/2, so it carries the rounding of x.
    const double x = at / mu - mu / 2;
    EXPECT_NEAR(gaussian_delta(mu, at), expected, (1e-14 + 1e-15 * x * x) * expected)
        << "mu " << row[0] << ", epsilon " << row[1];
  }
}

// CDP+ appendix A: three conversions of the same ρ.
TEST(EpsilonReference, ConversionsOfOneRhoDiffer) {
  EXPECT_NEAR(epsilon(Rho{1}, Delta{1e-5}, Conversion::gaussian).value(), 6.572970067030797, 1e-11);
  EXPECT_NEAR(epsilon(Rho{1}, Delta{1e-5}, Conversion::zcdp).value(), 7.0771966958063395, 1e-11);
  EXPECT_NEAR(epsilon(Rho{1}, Delta{1e-5}, Conversion::zcdp_simple).value(), 7.786140424415112, 1e-11);
}

}  // namespace
}  // namespace nustream::privacy
