// Members that no record has, and the ones that were probably meant.
#include "decode/json_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nustream::decode {
namespace {

using config::Envelope;

/// What is said behind the columns that are missing in `count` records of this text.
std::string hint(const std::string& record, const std::vector<std::string>& columns,
                 Envelope envelope = Envelope::none, int count = 1) {
  MemberNames names;
  for (int i = 0; i < count; ++i) names.add(record);
  const std::string missing = names.missing(columns, envelope);
  const std::string before =
      "in none of the first " + std::to_string(count) + (count == 1 ? " record: " : " records: ");
  return missing.starts_with(before) ? missing.substr(before.size()) : missing;
}

TEST(MemberNames, ANameInsideAnotherMemberIsNamedByItsPointer) {
  const std::string record = R"({"a":{"b":{"X":1}},"a2":{"x":1},"y":1})";
  EXPECT_EQ(hint(record, {"x", "y"}), "'x' (it is inside another member: write the JSON pointer '/a2/x')");
  EXPECT_EQ(hint(record, {"X", "y"}), "'X' (it is inside another member: write the JSON pointer '/a/b/X')");
  EXPECT_EQ(hint(R"({"c":{"d":{"x":1}},"b":{"x":1},"a":{"x":1}})", {"x"}),
            "'x' (it is inside other members: write the JSON pointer '/a/x' or '/b/x' or '/c/d/x')")
      << "the least deep first";
}

TEST(MemberNames, APointerIsComparedAsAWhole) {
  const std::string differs = "? it differs in its capital letters: copy it from there)";
  const std::string record = R"({"a":{"b":{"X":1}},"a2":{"x":1},"y":1})";
  EXPECT_EQ(hint(record, {"/A/b/X"}), "'/A/b/X' (did you mean '/a/b/X'" + differs);
  EXPECT_EQ(hint(record, {"/a2/X"}), "'/a2/X' (did you mean '/a2/x'" + differs);
  EXPECT_EQ(hint(R"({"payload":{"after":{"x":1,"after":{"x":2}}}})", {"/payload/after/X"}),
            "'/payload/after/X' (did you mean '/payload/after/x'" + differs);
  EXPECT_EQ(hint(R"({"usr":{"x":1},"user":{"age":1}})", {"/usr/age"}), "'/usr/age' (did you mean '/user/age'?)");
}

TEST(MemberNames, OnlyTheWholeNameDiffersInWhatIsNotSeen) {
  EXPECT_EQ(hint(R"({"Miles":1})", {"miles"}),
            "'miles' (did you mean 'Miles'? it differs in its capital letters: copy it from there)");
  EXPECT_EQ(hint(R"({"a":{"b":{"X":1}},"c":{"X":2}})", {"x"}), "'x' (did you mean '/c/X' or '/a/b/X'?)");
  EXPECT_EQ(hint(R"({"a":{"price":1}})", {"prise"}), "'prise' (did you mean '/a/price'?)");
  EXPECT_EQ(hint(R"({"a":{"b":1}})", {"a.b"}), "'a.b' (did you mean '/a/b'?)");
  EXPECT_EQ(hint(R"({"\u0446\u0435\u043d\u0430":1})", {"\u0446\u0435\u043d\u0442"}),
            "'\u0446\u0435\u043d\u0442' (did you mean '\u0446\u0435\u043d\u0430'?)");
}

TEST(MemberNames, AColumnThatIsThereIsNotTheOneThatIsMissing) {
  EXPECT_EQ(hint(R"({"price1":1,"y":1})", {"price2", "price1"}), "'price2'");
  EXPECT_EQ(hint(R"({"y":1})", {"x", "y"}), "'x'") << "one letter";
  EXPECT_EQ(hint(R"({"ab":1})", {"ac"}), "'ac'") << "two letters";
}

TEST(MemberNames, AnEnvelopeIsProposedWhereRecordsHaveOne) {
  const std::string set =
      " look like changes of a database's rows (Debezium): set stream.envelope = \"debezium\", under which a plain "
      "name "
      "is a column of the row";
  const std::string row = R"({"x":1,"y":2})";
  const std::string change = R"({"before":)" + row + R"(,"after":)" + row + R"(,"source":{"x":9},"op":"u"})";
  EXPECT_EQ(hint(change, {"x"}),
            "'x' (it is inside another member: write the JSON pointer '/after/x'); the records" + set);
  EXPECT_EQ(hint(R"({"schema":{},"payload":)" + change + "}", {"x"}),
            "'x' (it is inside another member: write the JSON pointer '/payload/after/x'); the records" + set);
  EXPECT_EQ(hint(change, {"/after/z"}), "'/after/z' (did you mean '/after/x' or '/after/y'?)")
      << "a pointer needs no envelope";
  EXPECT_EQ(hint(change, {"X"}, Envelope::debezium),
            "'X' (did you mean 'x'? it differs in its capital letters: copy it from there)");
  EXPECT_EQ(hint(change, {"op"}, Envelope::debezium),
            "'op' (it is inside another member: write the JSON pointer '/op')");
  // One record without the envelope has the column; most have it in their rows.
  MemberNames mixed;
  mixed.add(row);
  for (int i = 0; i < 3; ++i) mixed.add(change);
  EXPECT_EQ(mixed.missing({"x", "y"}, Envelope::none), "3 of the first 4 records" + set);
  EXPECT_EQ(mixed.missing({"x", "y"}, Envelope::debezium), "");
}

TEST(MemberNames, OfAnotherEncodingAreNamed) {
  EXPECT_EQ(hint("{\"caf\xe9\":1}", {"caf\u00e9"}),
            "'caf\u00e9'; some names are not UTF-8: iconv -f WINDOWS-1252 -t UTF-8 FILE > FILE.utf8 (or -f with the "
            "encoding that it has)");
  EXPECT_EQ(hint("{\"a\":\"caf\xe9\"}", {"b"}), "'b'") << "a value, and no name";
}

}  // namespace
}  // namespace nustream::decode
