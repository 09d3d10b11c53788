// Bytes that are no UTF-8: they spoil the record that holds them, and nothing beside it.
#include "decode/json_members.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

#include "decode/reader.h"
#include "decode_rows.h"
#include "temporary_folder.h"

namespace nustream::decode {
namespace {

std::string mended(const std::string& text) {
  std::string out;
  copy_as_utf8(text, out);
  return out;
}

TEST(Utf8, TextThatIsUtf8StaysAsItIs) {
  for (const std::string text :
       {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89!", "\xed\x9f\xbf\xee\x80\x80"}) {
    EXPECT_EQ(mended(text), text);
  }
}

TEST(Utf8, BytesOfNoCharacterAreReplacedOneByOne) {
  EXPECT_EQ(mended("caf\xe9,"), "caf\x7f,");
  EXPECT_EQ(mended("\xc3"), "\x7f");
  EXPECT_EQ(mended("\xc0\xaf"), "\x7f\x7f") << "an overlong slash";
  EXPECT_EQ(mended("\xed\xa0\x80"), "\x7f\x7f\x7f") << "half of a surrogate pair";
  EXPECT_EQ(mended("\xf4\x90\x80\x80"), "\x7f\x7f\x7f\x7f") << "beyond the last code point";
}

// What is shown has U+FFFD in their places.
TEST(Utf8, BytesOfNoCharacterAreShownAsReplaced) {
  EXPECT_EQ(as_utf8("caf\xc3\xa9 caf\xe9,"), "caf\xc3\xa9 caf\xef\xbf\xbd,");
  EXPECT_EQ(as_utf8("\xc3"), "\xef\xbf\xbd");
  EXPECT_EQ(as_utf8(""), "");
}

// The comparison is with simdjson's own check, which shares no code with this one.
TEST(Utf8, OfAnyBytesBecomesUtf8AndOnlyWhatWasNoneChanges) {
  std::mt19937 random(7);
  const std::string pieces[] = {"a",    "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x89",
                                "\xe9", "\x80",     "\xed\xa0\x80", "\xf4",
                                "\xc0", "\xe2\x82"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t k = random() % 12; k > 0; --k) text += pieces[random() % std::size(pieces)];
    const std::string out = mended(text);
    EXPECT_EQ(out.size(), text.size());
    EXPECT_TRUE(simdjson::validate_utf8(out));
    if (simdjson::validate_utf8(text)) {
      EXPECT_EQ(out, text);
    }
  }
}

TEST(JsonLines, BytesThatAreNoUtf8SpoilNoOtherMember) {
  const tests::TemporaryFolder folder;
  InputSettings settings;
  settings.format = Format::json_lines;
  settings.files = {folder.write(
      "in", "{\"n\":\"caf\xe9\",\"x\":1,\"y\":2}\n{\"x\":\"1\xe9\",\"y\":2}\n{\"\xe9\":0,\"x\":3,\"y\":4}\n")};
  const auto batch = tests::read_all(settings, tests::columns({"x"}, "y"));
  EXPECT_EQ(batch.x, (std::vector<double>{1, 0, 3}));
  ASSERT_EQ(batch.rejects.size(), 1U);
  EXPECT_EQ(batch.rejects.front().reason, "column 'x': not a number");
}

}  // namespace
}  // namespace nustream::decode
