// The bugs of tests/planted/*.patch: what each bug is, and which test or audit catches it. docs/planted-bugs.md is
// generated from this table.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace nustream::tests {

/// How a bug shows itself, as the head of its patch says: `Caught-by: test PROGRAM FILTER` for a test, and so on for
/// the other kinds.
enum class Catch {
  by_test,      ///< test: a test fails
  by_contract,  ///< contract: the program itself ends with a broken contract, before anything leaves it
  by_audit,     ///< audit: `nustream audit` proves more than is claimed: exit code 70
  on_a_broker,  ///< broker: a test fails that needs a broker, so it runs in the campaign alone
};

struct PlantedBug {
  std::string name;     ///< the name of its patch
  std::string is;       ///< what the program does, in a sentence
  std::string where;    ///< the first file that the patch changes
  Catch caught;         ///< how the bug shows itself
  std::string program;  ///< the test binary; of an audit the model that it plays: "mean", "instruments", "sandwich" …
  std::string by;       ///< the gtest filter; of an audit its settings, KEY=VALUE …, and options
};

/// Prints the bug in messages of GoogleTest.
inline void PrintTo(const PlantedBug& bug, std::ostream* out) {
  *out << bug.name;
}

/// All bugs, by file and name. Each has the test that is nearest to it, which its patch names first.
[[nodiscard]] std::span<const PlantedBug> planted_bugs();

/// Further tests that have to catch a bug of planted_bugs(), each by itself: these tests look at the whole program.
[[nodiscard]] std::span<const PlantedBug> further_catchers();

/// The table of docs/planted-bugs.md.
[[nodiscard]] std::string table_of_bugs();

}  // namespace nustream::tests
