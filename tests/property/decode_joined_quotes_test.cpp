// Line breaks inside quotation marks, against records that were written with known ones, however the source cuts
// them.
#include "decode/byte_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>

namespace nustream::decode {
namespace {

/// A text in pieces of `most` bytes or fewer.
class Pieces : public ByteSource {
 public:
  Pieces(std::string text, std::size_t most, std::uint64_t seed) : text_(std::move(text)), most_(most), bits_(seed) {}

  Result read(std::span<char> buffer) override {
    if (at_ == text_.size()) return {0, true, false};
    const std::size_t bytes = std::min({buffer.size(), text_.size() - at_, 1 + bits_() % most_});
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), bytes, buffer.begin());
    at_ += bytes;
    return {bytes, false, false};
  }
  [[nodiscard]] bool ready(int /*milliseconds*/) override { return true; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }

 private:
  std::string text_;
  std::size_t most_;
  std::size_t at_ = 0;
  std::mt19937_64 bits_;
};

std::string joined(const std::string& text, std::size_t most = 1000, std::uint64_t lines_above = 0,
                   std::size_t quoted_bytes_max = 1000, char delimiter = ',') {
  const auto source =
      joined_quotes(std::make_unique<Pieces>(text, most, 7), delimiter, lines_above, quoted_bytes_max);
  std::string out;
  char buffer[64];
  for (;;) {
    const ByteSource::Result result = source->read(buffer);
    if (result.end) return out;
    out.append(buffer, result.bytes);
  }
}

TEST(JoinedQuotes, ReadLineBreaksInsideQuotesAsSpaces) {
  EXPECT_EQ(joined("a,b\n\"1\n2\",\"x\r\ny\"\n3,4\n"), "a,b\n\"1 2\",\"x  y\"\n3,4\n");
  EXPECT_EQ(joined("\"say \"\"\n\"\"\",1\n"), "\"say \"\" \"\"\",1\n");
  EXPECT_EQ(joined("\"\"\n\"\"\n"), "\"\"\n\"\"\n");  // empty ones
}

TEST(JoinedQuotes, OpenAtTheBeginningOfAFieldAlone) {
  EXPECT_EQ(joined("5\",1\n6,2\n"), "5\",1\n6,2\n");
  EXPECT_EQ(joined("a;\"1\n\"\n", 1000, 0, 1000, ';'), "a;\"1 \"\n");
  EXPECT_EQ(joined("a;\"1\n2\"\n"), "a;\"1\n2\"\n");
  EXPECT_EQ(joined("\xef\xbb\xbf\"a\nb\"\n"), "\xef\xbb\xbf\"a b\"\n");
}

TEST(JoinedQuotes, LeaveLinesAboveAsTheyAre) {
  EXPECT_EQ(joined("\"never closed\n\"a\nb\"\n", 1000, 1), "\"never closed\n\"a b\"\n");
}

// What nobody closes ends at its bound: the records behind it are records again.
TEST(JoinedQuotes, AreGivenUpBehindTheirBound) {
  const std::string text = "\"open\n" + std::string(20, 'x') + "\n1\n2\n";
  EXPECT_EQ(joined("\"a\"\"\"\"\"\"\n1\n", 1000, 0, 3), "\"a\"\"\"\"\"\"\n1\n");  // doubled ones count too
  EXPECT_EQ(joined("\xef\"a\nb\"\n"), "\xef\"a\nb\"\n");  // a part of a mark is a field's text
  EXPECT_EQ(joined(text, 1000, 0, 10), "\"open " + std::string(20, 'x') + "\n1\n2\n");
}

TEST(JoinedQuotes, AreThoseThatWereWritten) {
  std::mt19937_64 bits(3);
  constexpr std::string_view letters = "ab,\n\r\" ;1";
  for (int round = 0; round < 300; ++round) {
    std::string text;
    std::string wanted;
    const int fields = 1 + static_cast<int>(bits() % 40);
    for (int field = 0; field < fields; ++field) {
      const bool is_quoted = bits() % 2 == 0;
      std::string content;
      for (std::size_t i = bits() % 8; i > 0; --i) content += letters[bits() % letters.size()];
      if (!is_quoted) {
        std::erase_if(content, [](char c) { return c == ',' || c == '\n' || c == '\r'; });
        while (content.starts_with('"')) content.erase(0, 1);
        text += content;
        wanted += content;
      } else {
        text += '"';
        wanted += '"';
        for (const char c : content) {
          text += c;
          wanted += c == '\n' || c == '\r' ? ' ' : c;
          if (c == '"') text += c, wanted += c;
        }
        text += '"';
        wanted += '"';
      }
      const char end = bits() % 3 == 0 ? '\n' : ',';
      text += end;
      wanted += end;
    }
    for (const std::size_t most : {1U, 3U, 1000U}) ASSERT_EQ(joined(text, most), wanted) << text;
  }
}

}  // namespace
}  // namespace nustream::decode
