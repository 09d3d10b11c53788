// What `nustream fit --look` says of features that are made of public lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "fit_world.h"

namespace nustream::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t times(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// All buckets of a column lack the same texts, which is said once, by the column's name.
TEST_F(Fit, LooksAtTheBucketsOfAColumnOnce) {
  std::string lines;
  for (int i = 0; i < 6000; ++i) {
    const std::string text = i % 4 == 0 ? "null" : fmt::format("\"text {}\"", i % 50);
    lines += fmt::format("{{\"a\":{},\"c\":{},\"y\":{}}}\n", i % 7, text, i % 11);
  }
  const CommandResult looked =
      run_command(NUSTREAM_COMMAND, {"fit", folder.write("table.jsonl", lines), "--target", "y", "--features",
                                     "a,hash(c)", "--hash", "16", "--look"});
  EXPECT_EQ(looked.code, 0) << looked.err;
  EXPECT_THAT(looked.out, HasSubstr("1,500 of 6,000 records (25%) have no text in 'c': most often "));
  EXPECT_EQ(times(looked.out, "records (25%)"), 1U) << looked.out;
}

// Seven of these eight buckets are empty, as the column has one text. Nobody can leave a single bucket out.
TEST_F(Fit, DoesNotSayWhichBucketsAreEmpty) {
  const CommandResult looked = fit({"--target", "y", "--features", "a,hash(c)", "--hash", "8", "--look"});
  EXPECT_EQ(looked.code, 0) << looked.err;
  EXPECT_THAT(looked.out, Not(HasSubstr("'c#")));
}

// Whether a bin holds records is private. Whoever moves its edges for that chooses them by the data.
TEST_F(Fit, SaysOfABinWithoutOtherRecordsThatItsEdgesMustNotBeChosenByThat) {
  const CommandResult looked = fit({"--target", "y", "--bins", "a=-5,0,1000,inf", "--look"});
  EXPECT_EQ(looked.code, 0) << looked.err;
  constexpr const char* advice =
      ": edges that are chosen by this are read off the data, which the promise does not cover\n";
  EXPECT_THAT(looked.out, HasSubstr(std::string("'a[-5,0)' holds no record") + advice));
  EXPECT_THAT(looked.out, HasSubstr(std::string("'a[0,1000)' holds every record") + advice));
  EXPECT_THAT(looked.out, Not(HasSubstr("'a[1000,inf)' is the same")));
}

// As check --data ends.
TEST_F(Fit, ALookAtNothingThatCanBeUsedEndsAsUnusable) {
  const std::string none = folder.write("none.csv", "a,y\none,1\ntwo,2\n");
  const CommandResult looked =
      run_command(NUSTREAM_COMMAND, {"fit", none, "--target", "y", "--features", "a", "--look"});
  EXPECT_EQ(looked.code, 66) << looked.out;
  EXPECT_THAT(looked.out, HasSubstr("has 2 records, of which 0 (0%) can be used\n"));
  EXPECT_EQ(looked.err, "nustream: no record can be used; nothing was charged here\n");
}

}  // namespace
}  // namespace nustream::tests
