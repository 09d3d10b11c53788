// Names of columns that look the same, and are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "config/nearest.h"
#include "config/unicode.h"
#include "decode/csv_columns.h"
#include "expect_failure.h"

namespace nustream::decode {
namespace {

constexpr const char* composed = "in how its letters are composed (Unicode NFC or NFD)";

TEST(Alike, TellsWhatTheEyeDoesNotSee) {
  EXPECT_EQ(config::difference_unseen("x", "x"), "");
  EXPECT_EQ(config::difference_unseen("x", "y"), "");
  EXPECT_EQ(config::difference_unseen("unit_price", "Unit_Price"), "in its capital letters");
  EXPECT_EQ(config::difference_unseen("unit price", "unit\xc2\xa0price"),
            "in a no-break space or a character without width");
  EXPECT_EQ(config::difference_unseen("price", "\xef\xbb\xbfprice"),
            "in a no-break space or a character without width");
  EXPECT_EQ(config::difference_unseen("caf\xc3\xa9", "cafe\xcc\x81"), composed);
  EXPECT_EQ(config::difference_unseen("cafe", "caf\xc3\xa9"), "") << "an accent that is not there is seen";
}

// Each text in the form NFC, and the same one in NFD.
TEST(Alike, TellsItInEveryScript) {
  const std::pair<const char*, const char*> texts[] = {
      {"\uac00\uaca9", "\u1100\u1161\u1100\u1167\u11a8"},               // Hangul and its jamo
      {"\u30ac\u30fc\u30c9", "\u30ab\u3099\u30fc\u30c8\u3099"},         // kana with marks of voice
      {"Vi\u1ec7t", "Vie\u0323\u0302t"},                                // two marks on one letter
      {"\u0439\u0451", "\u0438\u0306\u0435\u0308"},                     // Cyrillic
      {"\u03c4\u03b9\u03bc\u03ae", "\u03c4\u03b9\u03bc\u03b7\u0301"}};  // Greek with tonos
  for (const auto& [nfc, nfd] : texts) {
    EXPECT_EQ(config::difference_unseen(nfc, nfd), composed) << nfc;
    EXPECT_EQ(config::folded(nfd), config::folded(nfc));
  }
  // Marks that are different are seen.
  EXPECT_EQ(config::difference_unseen("\u0439", "\u0438"), "");
  EXPECT_EQ(config::difference_unseen("\u00e9", "\u00e8"), "");
}

TEST(Alike, KnowsTheCapitalsOfEveryScript) {
  const std::string capitals = "in its capital letters";
  EXPECT_EQ(config::difference_unseen("\u00c9t\u00e9", "\u00e9t\u00e9"), capitals);
  EXPECT_EQ(config::difference_unseen("\u0426\u0415\u041d\u0410", "\u0446\u0435\u043d\u0430"), capitals);
  EXPECT_EQ(config::difference_unseen("\u03a4\u0399\u039c\u0397", "\u03c4\u03b9\u03bc\u03b7"), capitals);
  // Letters of one meaning that are no capitals of each other: the micro sign and the letter mu, and two sigmas.
  EXPECT_EQ(config::difference_unseen("\u00b5g", "\u03bcg"), "in the form of its letters");
  EXPECT_EQ(config::difference_unseen("\u03c2", "\u03c3"), "in the form of its letters");
  EXPECT_EQ(config::difference_unseen("\u212a", "K"), "in the form of its letters") << "the sign of kelvin";
}

TEST(Alike, TellsEveryDifference) {
  EXPECT_EQ(config::difference_unseen("Unit price", "unit\u00a0price"),
            "in its capital letters and in a no-break space or a character without width");
  EXPECT_EQ(config::difference_unseen("\u00c9", "e\u0301"), std::string("in its capital letters and ") + composed);
  EXPECT_EQ(config::difference_unseen(" x", "x"), "in its spaces");
  EXPECT_EQ(config::difference_unseen("x\u200e", "x"), "in a no-break space or a character without width");
}

// A letter of two or three bytes is one letter.
TEST(Alike, CountsEditsInCharacters) {
  EXPECT_EQ(config::edit_distance("\u0446\u0435\u043d\u0430", "\u0446\u0435\u043d\u0442"), 1u);
  EXPECT_EQ(config::edit_distance("\uac00\uaca9", "\uaca9\uac00"), 1u) << "a swap";
  EXPECT_EQ(config::edit_distance("caf\xe9", "caf\u00e9"), 1u);
}

TEST(Alike, OfShortNamesNothingIsNear) {
  const std::vector<std::string> names{"y", "ab", "abcd", "abce", "price"};
  EXPECT_THAT(config::closest("x", names), testing::IsEmpty());
  EXPECT_THAT(config::closest("ac", names), testing::IsEmpty());
  EXPECT_THAT(config::closest("abcf", names), testing::ElementsAre("abcd", "abce"));
  EXPECT_THAT(config::closest("prise", names), testing::ElementsAre("price"));
  EXPECT_EQ(config::did_you_mean_one_of(config::closest("abcf", names)), " (did you mean 'abcd' or 'abce'?)");
  EXPECT_EQ(config::did_you_mean_one_of(names), " (did you mean 'y', 'ab' or 'abcd'?)");
  EXPECT_EQ(config::did_you_mean_one_of({}), "");
}

TEST(Alike, ShowsBytesThatAreNoCharacters) {
  EXPECT_EQ(config::with_bytes_escaped("Gr\xf6\xdf"
                                       "e"),
            "Gr\\xf6\\xdfe");
  EXPECT_EQ(config::with_bytes_escaped("Gr\u00f6\u00dfe"), "Gr\u00f6\u00dfe");
  EXPECT_TRUE(config::is_utf8("Gr\u00f6\u00dfe"));
  EXPECT_FALSE(
      config::is_utf8("Gr\xf6\xdf"
                      "e"));
  EXPECT_FALSE(config::is_utf8("\xed\xa0\x80")) << "a surrogate";
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

// Of one or two letters nearly every name is near, and a column that is in use is not the one that was misspelt.
TEST(Columns, NameNoneThatOnlyIsShort) {
  const std::vector<std::string> none[] = {{"x", "y"}, {"ab", "y"}};
  for (const auto& wanted : none) {
    refuses({"\"z\"", "ac", "y"}, wanted.front(), wanted,
            "no column '" + wanted.front() +
                "' in the header of 'rows.csv', whose columns are '\"z\"', 'ac', 'y'; name one that is there",
            true);
  }
  refuses({"price1", "y"}, "price2", {"price2", "price1"}, "'rows.csv', whose columns are 'price1', 'y'", true);
}

TEST(Columns, WithQuotationMarksBehindASpaceAreExplained) {
  refuses(
      {"\"x\"", "y"}, "x", {"x", "y"},
      "no column 'x' in the header of 'rows.csv' (its quotation marks belong to the name '\"x\"', because a space "
      "stands in front of them: take the spaces away: sed -E 's/(^|[,]) +\"/\\1\"/g; "
      "s/\" +([,]|\\r?$)/\"\\1/g' FILE > FILE.csv), whose columns are");
}

TEST(Columns, OfAnotherEncodingAreShownEscaped) {
  const std::string iconv =
      "some names are not UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8 (or -f with the encoding that it "
      "has); name one that is there";
  refuses({"Gr\xf6\xdf"
           "e",
           "y"},
          "Gr\u00f6\u00dfe", {"Gr\u00f6\u00dfe", "y"},
          "in the header of 'rows.csv', whose columns are 'Gr\\xf6\\xdfe', 'y'; " + iconv, true);
  refuses({"Gr\xf6\xdf"
           "e",
           "y"},
          "Gr\u00f6\u00dfe", {"Gr\u00f6\u00dfe", "y"},
          "which has 2 columns (nustream check CONFIG --data shows them); " + iconv);
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
