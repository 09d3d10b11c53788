#include "decode/csv_line.h"

#include <gtest/gtest.h>

namespace nustream::decode {
namespace {

struct Split {
  CsvFault fault;
  std::vector<std::string> fields;
};
Split split(std::string_view line, std::size_t fields_max = 10, char delimiter = ',') {
  std::vector<std::string_view> fields;
  std::string unquoted;
  const CsvFault fault = split_csv_line(line, delimiter, fields_max, fields, unquoted);
  return {fault, {fields.begin(), fields.end()}};
}
using Fields = std::vector<std::string>;

TEST(SplitCsvLine, Plain) {
  EXPECT_EQ(split("a,b,c").fields, (Fields{"a", "b", "c"}));
  EXPECT_EQ(split("a").fields, (Fields{"a"}));
  EXPECT_EQ(split(",").fields, (Fields{"", ""}));
  EXPECT_EQ(split("a,").fields, (Fields{"a", ""}));
  EXPECT_EQ(split(" a , b ").fields, (Fields{" a ", " b "}));
  EXPECT_EQ(split("a;b,c", 10, ';').fields, (Fields{"a", "b,c"}));
}

TEST(SplitCsvLine, Quoted) {
  EXPECT_EQ(split(R"("a,b",c)").fields, (Fields{"a,b", "c"}));
  EXPECT_EQ(split(R"("","x")").fields, (Fields{"", "x"}));
  EXPECT_EQ(split(R"("a""b","""",c)").fields, (Fields{R"(a"b)", R"(")", "c"}));
  EXPECT_EQ(split(R"("""a""","b""")").fields, (Fields{R"("a")", R"(b")"}));
}

// A quotation mark that does not open its field is a character like any other: 5" pipes do exist.
TEST(SplitCsvLine, AQuotationMarkInsideOfAnUnquotedFieldIsItself) {
  EXPECT_EQ(split(R"(5" pipe,a"b"c)").fields, (Fields{R"(5" pipe)", R"(a"b"c)"}));
}

TEST(SplitCsvLine, Faults) {
  EXPECT_EQ(split("").fault, CsvFault::empty);
  EXPECT_EQ(split(R"(a,"b)").fault, CsvFault::open_quote);
  EXPECT_EQ(split(R"(a,"b"")").fault, CsvFault::open_quote);
  EXPECT_EQ(split(R"("a"b,c)").fault, CsvFault::after_quote);
  EXPECT_EQ(split(std::string_view("a\0b", 3)).fault, CsvFault::binary);
  EXPECT_EQ(split("a,b,c", 2).fault, CsvFault::too_many_fields);
  EXPECT_EQ(split("a,b", 2).fault, CsvFault::none);
}

TEST(WithoutLineEnd, DropsOneLineEndOnly) {
  EXPECT_EQ(without_line_end("a\n"), "a");
  EXPECT_EQ(without_line_end("a\r\n"), "a");
  EXPECT_EQ(without_line_end("a\r\r\n"), "a\r");
  EXPECT_EQ(without_line_end("a"), "a");
  EXPECT_EQ(without_line_end("\n"), "");
}

}  // namespace
}  // namespace nustream::decode
