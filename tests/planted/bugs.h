// The bugs of src/planted/planted.h: what each one is, and what catches it. docs/planted-bugs.md is made of this
// table.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace nustream::tests {

/// How a bug shows itself.
enum class Catch {
  by_test,      ///< a test fails
  by_contract,  ///< the program itself ends with a broken contract, before anything leaves it
  by_audit,     ///< `nustream audit` proves more than is claimed: exit code 70
  on_a_broker,  ///< a test fails that needs a broker: in the campaign alone
};

struct PlantedBug {
  std::string_view name;     ///< in planted::names
  std::string_view is;       ///< what the program does, in a few words
  Catch caught;              ///< how
  std::string_view program;  ///< test binary; of an audit its model: nothing, "instruments", "sandwich" …
  std::string_view by;       ///< gtest filter, or settings of the audit: KEY=VALUE … and options
};

/// For GoogleTest.
inline void PrintTo(const PlantedBug& bug, std::ostream* out) {
  *out << bug.name;
}

/// In the order of planted::names: the test that is nearest to the bug.
[[nodiscard]] std::span<const PlantedBug> planted_bugs();

/// Further tests that have to catch a bug of planted_bugs(), each by itself: those that look at the whole.
[[nodiscard]] std::span<const PlantedBug> further_catchers();

/// The table of docs/planted-bugs.md.
[[nodiscard]] std::string table_of_bugs();

}  // namespace nustream::tests
