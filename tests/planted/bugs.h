// The bugs of tests/planted/*.patch: what each one is, and what catches it. docs/planted-bugs.md is made of this
// table.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace nustream::tests {

/// How a bug shows itself, as the head of its patch says it: `Caught-by: test PROGRAM FILTER`, and so on.
enum class Catch {
  by_test,      ///< test: a test fails
  by_contract,  ///< contract: the program itself ends with a broken contract, before anything leaves it
  by_audit,     ///< audit: `nustream audit` proves more than is claimed: exit code 70
  on_a_broker,  ///< broker: a test fails that needs a broker: in the campaign alone
};

struct PlantedBug {
  std::string name;     ///< of its patch
  std::string is;       ///< what the program does, in a sentence
  std::string where;    ///< the first file that the patch changes
  Catch caught;         ///< how
  std::string program;  ///< test binary; of an audit its model: "mean", "instruments", "sandwich" …
  std::string by;       ///< gtest filter, or settings of the audit: KEY=VALUE … and options
};

/// For GoogleTest.
inline void PrintTo(const PlantedBug& bug, std::ostream* out) {
  *out << bug.name;
}

/// By file and name: each with the test that is nearest to the bug, which its patch names first.
[[nodiscard]] std::span<const PlantedBug> planted_bugs();

/// Further tests that have to catch a bug of planted_bugs(), each by itself: those that look at the whole.
[[nodiscard]] std::span<const PlantedBug> further_catchers();

/// The table of docs/planted-bugs.md.
[[nodiscard]] std::string table_of_bugs();

}  // namespace nustream::tests
