// Names of columns that look the same, and are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/nearest.h"
#include "decode/csv_columns.h"
#include "expect_failure.h"

namespace nustream::decode {
namespace {

TEST(Alike, TellsWhatTheEyeDoesNotSee) {
  EXPECT_EQ(config::difference_unseen("x", "x"), "");
  EXPECT_EQ(config::difference_unseen("x", "y"), "");
  EXPECT_EQ(config::difference_unseen("unit_price", "Unit_Price"), "in its capital letters");
  EXPECT_EQ(config::difference_unseen("unit price", "unit\xc2\xa0price"),
            "in a no-break space or a character without width");
  EXPECT_EQ(config::difference_unseen("price", "\xef\xbb\xbfprice"),
            "in a no-break space or a character without width");
  EXPECT_EQ(config::difference_unseen("caf\xc3\xa9", "cafe\xcc\x81"),
            "in how its accents are written (Unicode NFC or NFD)");
  EXPECT_EQ(config::difference_unseen("cafe", "caf\xc3\xa9"), "") << "an accent that is not there is seen";
}

TEST(Alike, BytesThatAreNoUnicodeStandForThemselves) {
  EXPECT_EQ(config::folded("\xff\xc3"), "\xff\xc3");
  EXPECT_EQ(config::folded("\xe2\x80"), "\xe2\x80");
  EXPECT_EQ(config::folded(""), "");
  EXPECT_EQ(config::folded(" \xc2\xa0 "), "");
}

void refuses(const std::vector<std::string>& names, const std::string& column,
             const std::vector<std::string>& configured, const std::string& part, bool may_show = false) {
  tests::expect_failure(
      Exit::configuration,
      [&] { static_cast<void>(find_column(names, column, "the header of 'rows.csv'", configured, may_show)); }, part);
}

TEST(Columns, NameTheOneThatWasMeant) {
  refuses({"X", "Y"}, "x", {"x", "y"},
          "no column 'x' in the header of 'rows.csv' (did you mean 'X'? it differs in its "
          "capital letters: copy it from there), whose columns are 'X', 'Y'; name one that is there");
  refuses({"caf\xc3\xa9", "unit\xc2\xa0price", "y"}, "unit price", {"unit price", "y"},
          "a no-break space or a character without width: copy it from there), whose columns are 'caf\xc3\xa9', "
          "'unit\xc2\xa0price', 'y'; name one that is there");
  refuses({"caf\xc3\xa9", "y"}, "cafe\xcc\x81", {"cafe\xcc\x81", "y"},
          "(Unicode NFC or NFD): copy it from there), whose columns are 'caf\xc3\xa9', 'y'; name one");
  refuses({"X"}, "x", {"x"}, "copy it from there); name one that is there", true);
  refuses({"id", "price", "quantity", "country"}, "prise", {"prise", "quantity", "country"},
          "(did you mean 'price'?), whose columns are 'id', 'price', 'quantity', 'country'; name one that is there");
}

TEST(Columns, ListWhatThereIsBesideEveryNearName) {
  const std::vector<std::string> names{"X", "Y", "z"};
  const std::vector<std::string> wanted{"x", "y"};
  tests::expect_failure(
      Exit::configuration, [&] { require_columns(names, "the header of 'rows.csv'", wanted, true); },
      "no columns 'x' (did you mean 'X'? it differs in its capital letters: copy it from there), 'y' (did you mean "
      "'Y'? it differs in its capital letters: copy it from there) in the header of 'rows.csv', whose columns are "
      "'X', 'Y', 'z'; name columns that are there");
}

// Where there is no header, the first line is somebody's record and must not be shown.
TEST(Columns, ShowNoRecord) {
  refuses({"Y", "alice"}, "y", {"y", "x"},
          "'rows.csv', which has 2 columns (nustream check CONFIG --data shows them)");
  refuses({"alice", "y"}, "x", {"x", "y"}, "'rows.csv', which has 2 columns");
  refuses({"alice", "y"}, "x", {"x", "y"}, "whose columns are 'alice', 'y'", true);
}

}  // namespace
}  // namespace nustream::decode
