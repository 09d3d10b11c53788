// How `nustream fit` is told what its file is, and what it tells its operator before anything is spent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "command.h"
#include "nustream/record/row.h"
#include "temporary_folder.h"

namespace nustream::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class FitInput : public ::testing::Test {
 protected:
  /// Lines of `row(a, y)` below `header`, with y = 3 + 2a + noise of .1.
  template <class Row>
  static std::string rows(const std::string& header, const Row& row, int count = 6000) {
    std::string text = header;
    std::mt19937_64 random(19);
    std::normal_distribution<double> normal;
    for (int i = 0; i < count; ++i) {
      const double a = normal(random);
      text += row(std::to_string(a), std::to_string(3 + 2 * a + 0.1 * normal(random)), i) + "\n";
    }
    return text;
  }
  [[nodiscard]] CommandResult fit(const std::string& file, std::vector<std::string> options) const {
    std::vector<std::string> arguments{"fit", file, "--insecure-seed", "3", "--rho", "1"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_command(NUSTREAM_COMMAND, arguments);
  }
  void expect_slope(const std::string& file, const std::vector<std::string>& options, const std::string& name) {
    std::vector<std::string> as_json = options;
    as_json.emplace_back("--json");
    const CommandResult result = fit(file, as_json);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("operator only")));
    simdjson::dom::parser parser;
    EXPECT_NEAR(parser.parse(result.out)["estimate"][name].get_double().value(), 2, 0.1) << result.out;
    std::filesystem::remove_all(file + ".fit");
  }
  void expect_refused(const std::string& file, const std::vector<std::string>& options, int code,
                      const std::string& text) {
    const CommandResult result = fit(file, options);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(result.err, Not(HasSubstr("stream.")));
    EXPECT_FALSE(std::filesystem::exists(file + ".fit")) << text;
  }

  const TemporaryFolder folder;
};

const auto plain = [](const std::string& a, const std::string& y, int) { return a + "," + y; };

TEST_F(FitInput, ReadsWhatTheOptionsOfAStreamDescribe) {
  const auto by = [](const std::string& between) {
    return [between](const std::string& a, const std::string& y, int) { return a + between + y; };
  };
  const auto european = [](std::string a, std::string y, int) {
    std::ranges::replace(a, '.', ',');
    std::ranges::replace(y, '.', ',');
    return a + ";" + y;
  };
  const std::string tabs = folder.write("tabs.txt", rows("a\ty\n", by("\t")));
  expect_slope(tabs, {"--target", "y", "--delimiter", "tab"}, "a");
  expect_slope(tabs, {"--target", "y", "--delimiter", "\\t"}, "a");
  expect_slope(folder.write("t.tsv", rows("a\ty\n", by("\t"))), {"--target", "y"}, "a");
  const std::string decimals = folder.write("european.csv", rows("a;y\n", european));
  const std::string config = (folder.path() / "european.toml").string();
  expect_slope(decimals, {"--target", "y", "--delimiter", ";", "--decimal", ",", "--write-config", config}, "a");
  EXPECT_EQ(run_command(NUSTREAM_COMMAND, {"check", config, "--data", decimals, "--min-usable", "1"}).code, 0);
  expect_slope(folder.write("above.csv", "made by hand\n" + rows("a,y\n", plain)),
               {"--target", "y", "--skip-lines", "1"}, "a");
  expect_slope(folder.write("comment.csv", "# one\n# two\n" + rows("a,y\n", plain)),
               {"--target", "y", "--comment", "#"}, "a");
  const std::string bare = folder.write("bare.csv", rows("", plain));
  expect_slope(bare, {"--target", "y", "--columns", "a, y"}, "a");
  expect_refused(bare, {"--target", "y"}, 65, "name the columns: --columns x,y");
  expect_refused(decimals, {"--target", "y", "--delimiter", "::"}, 78, "--delimiter '::': allowed is one character");
  expect_refused(decimals, {"--target", "y", "--decimal", "x"}, 78, "--decimal 'x': allowed is");
}

/// Lines of a text and y = 3 + 2 + noise of .1 where the text is texts[2], else y = 3 + noise of .1.
std::string rows_of_texts(const std::vector<std::string>& texts) {
  std::string rows = "c,y\n";
  std::mt19937_64 random(20);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < 12'000; ++i) {
    const std::size_t which = i % texts.size();
    rows += texts[which] + "," + std::to_string((which == 2 ? 5 : 3) + 0.1 * normal(random)) + "\n";
  }
  return rows;
}

TEST_F(FitInput, MakesAFeatureOfEachListedText) {
  const std::string file = folder.write("texts.csv", rows_of_texts({"a", "b", "two|three", "d"}));
  expect_slope(file, {"--target", "y", "--features", "c=b|two\\|three|d"}, "c=two|three");
  expect_refused(file, {"--target", "y", "--features", "c=b|b"}, 64, "'c=b' is there twice");
}

TEST_F(FitInput, MakesFeaturesOfBucketsOfTexts) {
  constexpr std::uint32_t buckets = 4;
  std::vector<std::string> texts(buckets);  // one for each bucket
  for (int i = 0; std::ranges::count(texts, "") > 0; ++i) {
    const std::string text = "t" + std::to_string(i);
    texts[record::bucket_of(text, buckets)] = text;
  }
  const std::string file = folder.write("hashed.csv", rows_of_texts(texts));
  const std::vector<std::string> options{"--target", "y", "--features", "hash(c)"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return more;
  };
  expect_slope(file, with({"--hash", "4"}), "c#2");
  const CommandResult result = fit(file, with({"--hash", "4", "--json"}));
  EXPECT_THAT(result.out, AllOf(HasSubstr("\"c#1\":"), HasSubstr("\"c#3\":"), Not(HasSubstr("c#0"))));
  std::filesystem::remove_all(file + ".fit");
  expect_refused(file, options, 64, "add --hash 16");
  expect_refused(file, with({"--hash", "4", "--write-config", (folder.path() / "x.toml").string()}), 64,
                 "leave out --write-config or --hash");
}

TEST_F(FitInput, NamesWhatAFileIsBeforeItsHeader) {
  expect_refused(folder.write("u16.csv", std::string("\xff\xfe"
                                                     "a\0,\0y\0\n\0",
                                                     10)),
                 {"--target", "y"}, 65, "is UTF-16 text");
  expect_refused(folder.write("cr.csv", "a,y\r1,2\r3,4\r"), {"--target", "y"}, 65, "carriage returns alone");
  expect_refused(folder.write("f.csv", "PAR1\x15\x04"), {"--target", "y"}, 65, "a Parquet file");
  expect_refused(folder.write("f.sav", "$FL2@(#) SPSS\n"), {"--target", "y"}, 65, "a file of SPSS");
  expect_refused(folder.write("f.png", "\x89PNG\r\n\x1a\n"), {"--target", "y"}, 65, "a picture");
  expect_refused(folder.write("arr.json", "[\n{\"a\":1,\"y\":2},\n{\"a\":3,\"y\":4}\n]\n"), {"--target", "y"}, 65,
                 "a JSON array");
  expect_refused(folder.write("lines.csv", "{\"a\":1,\"y\":2}\n{\"a\":3,\"y\":4}\n"), {"--target", "y"}, 65,
                 "give --format jsonl");
  expect_refused(folder.write("sep.csv", "sep=;\na;y\n1;2\n"), {"--target", "y"}, 65,
                 "give --skip-lines 1 and --delimiter ';'");
  expect_refused(folder.write("semi.csv", "a;y\n1;2\n"), {"--target", "y"}, 78, "holds ';': add --delimiter ';'");
}

TEST_F(FitInput, HintsAtCommentsAboveTheHeader) {
  const auto row = [](const std::string& a, const std::string& y, int) { return a + ',' + y; };
  const std::string file = folder.write("commented.csv", rows("# exported\n# by a tool\na,y\n", row));
  expect_refused(file, {"--target", "y"}, 78, "--comment '#', or --skip-lines to their number");
  expect_slope(file, {"--target", "y", "--comment", "#"}, "a");
}

TEST_F(FitInput, TellsThatDatesAreTimesAlready) {
  const auto row = [](const std::string& a, const std::string& y, int i) {
    return "2011-01-" + std::to_string(10 + i % 20) + ',' + a + ',' + y;
  };
  const std::string file = folder.write("dated.csv", rows("day,a,y\n", row));
  const CommandResult result = fit(file, {"--target", "y", "--features", "a,day", "--look"});
  EXPECT_THAT(result.out + result.err,
              AllOf(HasSubstr("--features takes day_of_week(day)"), Not(HasSubstr("write them"))));
}

TEST_F(FitInput, NamesTheColumnThatWasMeant) {
  const std::string file = folder.write("t.csv", "length,weight,y\n1,2,3\n");
  expect_refused(file, {"--target", "wieght"}, 78, "(did you mean 'weight'?), whose columns are 'length', 'weight'");
  expect_refused(file, {"--target", "Y"}, 78, "did you mean 'y'?");
  expect_refused(file, {"--target", "log(y)", "--features", "length,wight"}, 78, "did you mean 'weight'?");
  expect_refused(file, {"--target", "log(x)"}, 78, "no column 'x'");
  expect_refused(file, {"--target", "y", "--features", "length,,weight"}, 64, "is empty");
  expect_refused(folder.write("twice.csv", "a,a,y\n1,2,3\n"), {"--target", "a"}, 78, "column 'a' is twice in");
}

// What a header calls a column wins over what the text could mean.
TEST_F(FitInput, TakesColumnsWhoseNamesLookLikeMapsOrLists) {
  const auto with = [](const std::string& a, const std::string& y, int i) {
    return a + "," + y + "," + (i % 2 == 0 ? "u" : "v");
  };
  const std::string file = folder.write("names.csv", rows("\"x,1\",log(y),c=d\n", with));
  expect_slope(file, {"--target", "log(y)", "--features", "x,1"}, "x,1");
  expect_slope(file, {"--target", "log(y)", "--features", "x\\,1 , c=d=u"}, "x,1");
  expect_slope(file, {"--target", "log(y)", "--features", "x,1", "--features", "c=d=v"}, "x,1");
  const std::string body = folder.write("body.csv", rows("a,Body Mass (g)\n", plain));
  expect_slope(body, {"--target", "Body Mass (g)"}, "a");
}

TEST_F(FitInput, TellsItsOperatorWhyRecordsCannotBeUsedAndTheCure) {
  const auto told = [&](const std::string& name, const std::string& text, const std::vector<std::string>& options) {
    const std::string file = folder.write(name, text);
    std::vector<std::string> looking = options;
    looking.emplace_back("--look");
    const CommandResult look = fit(file, looking);
    const bool is_none = look.out.find("of which 0 (0%) can be used") != std::string::npos;
    EXPECT_EQ(look.code, is_none ? 66 : 0) << look.err;
    EXPECT_THAT(look.out, AllOf(StartsWith("NOT PRIVATE"), HasSubstr("nothing is spent")));
    EXPECT_FALSE(std::filesystem::exists(file + ".fit"));
    std::vector<std::string> asking = options;
    asking.insert(asking.end(), {"--min-usable", "0.9"});
    const CommandResult refused = fit(file, asking);
    EXPECT_EQ(refused.code, 66) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(file + ".fit"));
    const CommandResult result = fit(file, options);
    EXPECT_THAT(result.err, HasSubstr("operator only, not private: "));
    EXPECT_THAT(result.out, Not(HasSubstr("operator only")));
    return result.err;
  };
  const auto label = [](const char* no, const char* yes) {
    return [=](const std::string& a, const std::string&, int) { return a + "," + (a[0] == '-' ? no : yes); };
  };
  EXPECT_THAT(told("signs.csv", rows("a,y\n", label("-1", "1")), {"--target", "y", "--logistic"}),
              AllOf(HasSubstr("a number other than 0 and 1"), HasSubstr("its texts are '-1', '1': --target y=1")));
  EXPECT_THAT(told("words.csv", rows("a,y\n", label("no", "yes")), {"--target", "y", "--logistic"}),
              HasSubstr("its texts are 'no', 'yes': --target y=yes"));
  const auto count = [](const std::string& a, const std::string&, int i) { return a + (i % 4 == 0 ? ",-2" : ",3"); };
  EXPECT_THAT(told("counts.csv", rows("a,y\n", count), {"--target", "y", "--poisson"}),
              HasSubstr("(25%) the target 'y' is negative, and these count as unusable; --poisson wants counts"));
  const auto ragged = [](const std::string& a, const std::string& y, int i) {
    return a + "," + y + (i % 2 == 1 ? ",7" : "");
  };
  EXPECT_THAT(
      told("ragged.csv", rows("a,y\n", ragged), {"--target", "y"}),
      HasSubstr("3,000 of 6,000 records (50%) cannot be read at all: more fields than columns (such as line 3)"));
  const auto comma = [](std::string a, std::string y, int) {
    std::ranges::replace(a, '.', ',');
    std::ranges::replace(y, '.', ',');
    return a + ";" + y;
  };
  EXPECT_THAT(told("comma.csv", rows("a;y\n", comma), {"--target", "y", "--delimiter", ";"}),
              HasSubstr("look like numbers with decimal commas: add --decimal ,"));
  const auto date = [](const std::string&, const std::string& y, int) { return "2010/02/03," + y; };
  EXPECT_THAT(told("date.csv", rows("d,y\n", date), {"--target", "y", "--features", "d"}),
              HasSubstr("as ISO 8601 has them, such as 2010-01-31T15:00, and take hour(d)"));
  const auto nested = [](const std::string& a, const std::string& y, int) {
    return "{\"user\":{\"a\":" + a + "},\"y\":" + y + "}";
  };
  EXPECT_THAT(told("nested.jsonl", rows("", nested), {"--target", "y", "--features", "a"}),
              HasSubstr("missing (such as line 1) (did you mean '/user/a'?); the first record has '/user/a', 'y'"));
}

TEST_F(FitInput, SaysThatATextNeverOccursAndThatAColumnNeverVaries) {
  const auto row = [](const std::string& a, const std::string& y, int) {
    return a + "," + (y[0] == '-' ? "no" : "yes") + ",2013";
  };
  const std::string file = folder.write("t.csv", rows("a,y,year\n", row));
  EXPECT_THAT(fit(file, {"--target", "y=YES", "--logistic", "--features", "a", "--look"}).out,
              HasSubstr("no record has the text of 'y=YES'"));
  EXPECT_THAT(fit(file, {"--target", "y=yes", "--logistic", "--look"}).out,
              HasSubstr("'year' is the same in every record"));
}

// A fit leaves text out and says so; who looks first is told how to make features of it.
TEST_F(FitInput, LooksAtColumnsOfText) {
  const auto row = [](const std::string& a, const std::string& y, int i) {
    return a + (i % 2 == 0 ? ",red," : ",blue,") + y;
  };
  const std::string file = folder.write("t.csv", rows("a,c,y\n", row));
  EXPECT_THAT(fit(file, {"--target", "y", "--look"}).out,
              AllOf(HasSubstr("have no number for 'c'"), HasSubstr("a feature of one is c=")));
  EXPECT_THAT(fit(file, {"--target", "y"}).out, HasSubstr("; left out: c (0%)"));
}

// Each octave of a column that spreads over 50 of them holds so few values that noise hides it.
TEST_F(FitInput, SaysWhereNoiseHidesNumbersThatAreSpreadWidely) {
  const auto row = [](const std::string& a, const std::string& y, int i) {
    return fmt::format("{},{:e},{}", a, (i % 2 == 0 ? 1 : -1) * std::exp2(i * 37 % 101 - 38.0), y);
  };
  const std::string file = folder.write("t.csv", rows("a,wide,y\n", row));
  const CommandResult result = fit(file, {"--target", "y"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("; left out: wide ("));
  EXPECT_THAT(result.err, AllOf(HasSubstr("operator only"), HasSubstr("every record has a number for 'wide'"),
                                HasSubstr("--features 'log(wide)'")));
}

// A column that never varies cannot be told from the intercept, so that neither has a number that means anything.
TEST_F(FitInput, MarksWhatNoiseDoesNotDetermine) {
  const auto row = [](const std::string& a, const std::string& y, int) { return a + ",2013," + y; };
  const CommandResult result = fit(folder.write("t.csv", rows("a,year,y\n", row)), {"--target", "y"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("year            not determined"), HasSubstr("intercept       not determined"),
                    HasSubstr("and does not determine intercept, year"), HasSubstr("\na  ")));
  const CommandResult json = fit(folder.write("u.csv", rows("a,year,y\n", row)), {"--target", "y", "--json"});
  EXPECT_THAT(json.out, HasSubstr("\"not_determined\":[\"intercept\",\"year\"]"));
}

// A guess that stands somewhere is taken for an answer there.
TEST_F(FitInput, ShowsNoGuessAnywhere) {
  const auto row = [](const std::string& a, const std::string& y, int) { return a + ",2013," + y; };
  const std::string file = folder.write("t.csv", rows("a,year,y\n", row));
  const std::string config = (folder.path() / "t.toml").string();
  const std::string page = (folder.path() / "t.html").string();
  const CommandResult result = fit(file, {"--target", "y", "--json", "--write-config", config, "--report", page});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\"estimate\":{\"intercept\":null,\"a\":"),
                                HasSubstr("\"noise_stddev\":{\"intercept\":null,\"a\":0.")));
  EXPECT_THAT(read_file(file + ".fit/releases.jsonl"),
              AllOf(HasSubstr("\"estimate\":{\"intercept\":null,\"a\":"),
                    HasSubstr(",\"year\":null},\"not_determined\":[\"intercept\",\"year\"],\"average\":null")));
  const CommandResult inspected =
      run_command(NUSTREAM_COMMAND, {"inspect", file + ".fit", "--insecure-seed", "3", "--chart"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("  year                     not determined\n"));
  const CommandResult exported = run_command(NUSTREAM_COMMAND, {"export", file + ".fit", "--csv"});
  EXPECT_THAT(exported.out, AllOf(HasSubstr("estimate.intercept,estimate.a,estimate.year"), HasSubstr(",end,,")));
  const std::string shown = read_file(page);
  EXPECT_THAT(shown, AllOf(HasSubstr("<th scope=\"row\">year</th><td>not determined</td>"),
                           HasSubstr("to each coefficient that is determined has a standard deviation of "),
                           Not(HasSubstr("nan"))));
  // The start has 0 in working coordinates there: the target's centre, 3, where the features have theirs.
  const std::string written = read_file(config);
  EXPECT_THAT(written,
              AllOf(HasSubstr("# Noise did not determine \"intercept\", \"year\""), HasSubstr("\"year\" = 0 }")));
  const CommandResult run = run_command(NUSTREAM_COMMAND, {"replay", config, "--insecure-seed", "4", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  simdjson::dom::parser parser;
  EXPECT_NEAR(parser.parse(run.out)["estimate"]["a"].get_double().value(), 2, 0.2);
}

TEST_F(FitInput, AdvisesFewerBucketsWhereNoiseHidesOne) {
  const auto row = [](const std::string& a, const std::string& y, int) { return a + ",same," + y; };
  const CommandResult result =
      fit(folder.write("t.csv", rows("a,c,y\n", row)), {"--target", "y", "--features", "a,hash(c)", "--hash", "8"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("not determined"), HasSubstr("take fewer buckets (--hash), or spend")));
}

TEST_F(FitInput, NamesMarksBetweenThousands) {
  const auto told = [this](const std::string& text, const std::string& decimal) {
    const auto row = [&](const std::string& a, const std::string&, int) { return a + ";" + text; };
    return fit(folder.write("t.csv", rows("a;y\n", row)),
               {"--target", "y", "--features", "a", "--delimiter", ";", "--decimal", decimal, "--look"})
        .out;
  };
  EXPECT_THAT(told("1.003,50", ","),
              HasSubstr("; most have dots between thousands (1.003,50): write them without\n"));
  EXPECT_THAT(told("1.003,50", "."), HasSubstr("write them without, and add --decimal , for the commas\n"));
  EXPECT_THAT(told("1,003.50", "."),
              HasSubstr("; most have commas between thousands (1,003.50): write them without"));
}

TEST_F(FitInput, MeansTheRowAfterAChange) {
  const auto row = [](const std::string& a, const std::string& y, int i) {
    const std::string values = "{\"a\":" + a + ",\"y\":" + y + "}";
    return "{\"payload\":{\"before\":" + values + ",\"after\":" + (i % 2 == 0 ? "null" : values) + "}}";
  };
  const CommandResult look =
      fit(folder.write("t.jsonl", rows("", row)), {"--target", "y", "--features", "a", "--look"});
  EXPECT_THAT(look.out,
              AllOf(HasSubstr("did you mean '/payload/after/a'?"), Not(HasSubstr("mean '/payload/before"))));
}

TEST_F(FitInput, SaysThatAMeanIsNoRegression) {
  const auto row = [](const std::string&, const std::string& y, int) { return "red," + y; };
  const std::string file = folder.write("t.csv", rows("c,y\n", row));
  const CommandResult result = fit(file, {"--target", "y"});
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("mean of y, 6,000 records; no feature is left: this is the target's mean alone"),
                    HasSubstr("c (0%): less than half as many numbers as the target has")));
  EXPECT_THAT(fit(file, {"--target", "y", "--mean"}).out, Not(HasSubstr("no feature is left")));
  EXPECT_EQ(fit(file, {"--target", "y", "--quiet"}).out, "");
}

}  // namespace
}  // namespace nustream::tests
