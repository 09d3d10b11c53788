// What is shipped has no planted bug: neither the name of one, nor a call that asks for one, nor the variable that
// names it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "planted_names.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

TEST(PlantedReleaseBuild, HoldsNoPlantedBug) {
  std::vector<std::string_view> texts{"NUSTREAM_PLANT", "8nustream7planted"};  // the name space in mangled names
  texts.insert(texts.end(), planted::names.begin(), planted::names.end());
  const std::string planted = read_file(NUSTREAM_PLANTED_COMMAND);
  for (const char* const shipped : {NUSTREAM_COMMAND, NUSTREAM_SERVICE_ARCHIVE, NUSTREAM_CORE_ARCHIVE}) {
    const std::string bytes = read_file(shipped);
    ASSERT_FALSE(bytes.empty()) << shipped;
    for (const std::string_view text : texts) {
      ASSERT_NE(planted.find(text), std::string::npos) << "the test would not find " << text;
      EXPECT_EQ(bytes.find(text), std::string::npos) << shipped << " holds " << text;
    }
  }
}

}  // namespace
}  // namespace nustream::tests
