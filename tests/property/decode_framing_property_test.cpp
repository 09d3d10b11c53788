// The framing finds the same lines however the bytes arrive.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "decode/line_buffer.h"
#include "error.h"

namespace nustream::decode {
namespace {

// A source that gives a text in pieces of random size, with signals in between, and may fail at its end.
class Pieces : public ByteSource {
 public:
  Pieces(std::string text, std::size_t largest, bool fails, std::uint64_t seed)
      : text_(std::move(text)), largest_(largest), fails_(fails), random_(seed) {}
  Result read(std::span<char> buffer) override {
    if (random_() % 5 == 0) return {.interrupted = true};
    if (at_ == text_.size() && fails_) throw Failure(Exit::io, "the source failed");
    const std::size_t bytes = std::min({buffer.size(), text_.size() - at_, 1 + random_() % largest_});
    std::memcpy(buffer.data(), text_.data() + at_, bytes);
    at_ += bytes;
    return {.bytes = bytes, .end = bytes == 0};
  }
  bool ready(int) override { return true; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }

 private:
  std::string text_;
  std::size_t largest_;
  bool fails_;
  std::mt19937_64 random_;
  std::size_t at_ = 0;
};

constexpr const char* over_long = "(too long)";

// Every line as one entry. A line longer than `longest` becomes `over_long`: the buffer may drop such a line or hand
// it out whole, and both count as the same.
std::vector<std::string> lines_of(Pieces source, std::size_t longest, std::mt19937_64& random) {
  LineBuffer buffer(longest);
  std::vector<std::string> lines;
  try {
    while (true) {
      const LineBuffer::State state = buffer.advance(source);
      if (state == LineBuffer::State::end) return lines;
      if (state == LineBuffer::State::over_long) lines.emplace_back(over_long);
      if (state != LineBuffer::State::lines) continue;
      // Only some of the lines are used, so that the buffer has to carry the rest along.
      for (std::size_t some = 1 + random() % 4; some > 0 && !buffer.lines().empty(); --some) {
        const std::string line(buffer.lines().substr(0, buffer.lines().find('\n')));
        lines.push_back(line.size() > longest ? over_long : line);
        buffer.consume(line.size() + 1);
      }
    }
  } catch (const Failure&) {
    while (!buffer.lines().empty()) ADD_FAILURE() << "lines left behind";
    return lines;
  }
}

// The definition of lines: what stands between newlines, and, where the text ends without a fault, what follows the
// last newline.
std::vector<std::string> split(const std::string& text, std::size_t longest, bool fails) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(end - at > longest ? over_long : text.substr(at, end - at));
  }
  if (at < text.size() && !fails) lines.push_back(text.size() - at > longest ? over_long : text.substr(at));
  return lines;
}

TEST(FramingProperty, AnyPiecesGiveTheSameLines) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 600, ' ');
    const std::uint64_t newlines = 2 + random() % 60;
    for (char& c : text) c = random() % newlines == 0 ? '\n' : "ab\",\r\0"[random() % 6];
    const std::size_t longest = 1 + random() % 80;
    const bool fails = random() % 3 == 0;
    const Pieces source(text, 1 + random() % 100, fails, random());
    ASSERT_EQ(lines_of(source, longest, random), split(text, longest, fails)) << i;
  }
}

TEST(FramingProperty, LinesLongerThanTheBuffer) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 30; ++i) {
    std::string text;
    for (int line = 0; line < 6; ++line) {
      text += std::string(random() % 3 == 0 ? random() % 1'500'000 : random() % 50, 'x');
      if (line < 5 || random() % 2 == 0) text += '\n';
    }
    const std::size_t longest = 100 + random() % 400'000;
    const bool fails = random() % 3 == 0;
    const Pieces source(text, 1 + random() % 500'000, fails, random());
    ASSERT_EQ(lines_of(source, longest, random), split(text, longest, fails)) << i;
  }
}

}  // namespace
}  // namespace nustream::decode
