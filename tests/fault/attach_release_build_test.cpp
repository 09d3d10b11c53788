// What is shipped holds no noise but the product's own, and no place where tests hold or kill a transaction.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "command.h"
#include "journal/failpoint.h"

namespace nustream::tests {
namespace {

/// The functions and tables that a program defines, by their C++ names.
std::vector<std::string> symbols_of(const std::string& program) {
  const CommandResult result = run_command("/usr/bin/nm", {"--demangle", "--defined-only", program});
  EXPECT_EQ(result.code, 0) << result.err;
  std::vector<std::string> names;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t type = line.find(' ');  // a line is "ADDRESS T name"
    if (type != std::string::npos && line.size() > type + 3) names.push_back(line.substr(type + 3));
  }
  return names;
}

/// The classes from which a lane may take its noise. Each of them has a take() of its own.
std::set<std::string> noise_sources(const std::string& program) {
  constexpr std::string_view take = "::take(unsigned long)";
  std::set<std::string> sources;
  for (const std::string& name : symbols_of(program)) {
    if (name.ends_with(take)) sources.insert(name.substr(0, name.size() - take.size()));
  }
  return sources;
}

TEST(AttachReleaseBuild, HoldsNoNoiseButItsOwn) {
  const std::set<std::string> own{"nustream::engine::NoiseAhead", "nustream::engine::NoiseFeed"};
  EXPECT_EQ(noise_sources(NUSTREAM_COMMAND), own);
  EXPECT_EQ(noise_sources(NUSTREAM_SERVICE_ARCHIVE), own);
  std::set<std::string> with_the_tests = noise_sources(NUSTREAM_NEIGHBOUR);
  EXPECT_EQ(with_the_tests.erase("nustream::tests::(anonymous namespace)::ShiftedNoise"), 1U)
      << "the test would not find a noise of a test";
  EXPECT_TRUE(std::includes(own.begin(), own.end(), with_the_tests.begin(), with_the_tests.end()));
}

TEST(AttachReleaseBuild, HoldsNothingOfATest) {
  for (const std::string program : {NUSTREAM_COMMAND, NUSTREAM_SERVICE_ARCHIVE}) {
    for (const std::string& name : symbols_of(program)) {
      EXPECT_EQ(name.find("nustream::tests::"), std::string::npos) << program << ": " << name;
      EXPECT_EQ(name.find("failpoint"), std::string::npos) << program << ": " << name;
    }
  }
}

TEST(AttachReleaseBuild, HoldsNoPlaceWhereATransactionIsHeldOrKilled) {
  const std::string faulty = read_file(NUSTREAM_FAULTY);
  const std::string command = read_file(NUSTREAM_COMMAND);
  const std::string archive = read_file(NUSTREAM_SERVICE_ARCHIVE);
  for (const std::string_view place : journal::topic_failpoints) {
    ASSERT_NE(faulty.find(place), std::string::npos) << "the test would not find " << place;
    EXPECT_EQ(command.find(place), std::string::npos) << place;
    EXPECT_EQ(archive.find(place), std::string::npos) << place;
  }
}

}  // namespace
}  // namespace nustream::tests
