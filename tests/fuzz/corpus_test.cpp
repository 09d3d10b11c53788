// Plays every committed input of every kind, and random changes of these inputs: what fuzzing found stays found.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <vector>

#include "fuzz.h"
#include "temporary_folder.h"

namespace nustream::fuzz {
namespace {

constexpr std::uint64_t changes_of_each = 60;

std::vector<std::string> corpus(const std::string& kind) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(NUSTREAM_FUZZ_CORPUS "/" + kind)) files.push_back(file);
  std::sort(files.begin(), files.end());
  std::vector<std::string> inputs;
  for (const auto& file : files) inputs.push_back(tests::read_file(file));
  return inputs;
}

/// The input with bits, bytes and stretches changed, left out, repeated, or taken from another input.
std::string changed(std::string input, const std::vector<std::string>& all, std::mt19937_64& random) {
  for (auto changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    const std::size_t length = std::min<std::size_t>(random() % 16, input.size() - at);
    const std::string& other = all[random() % all.size()];
    const std::size_t from = other.empty() ? 0 : random() % other.size();
    switch (random() % 5) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      default:
        input.insert(at, other.substr(from, random() % 32));
    }
  }
  return input;
}

std::string hex_of(const std::string& input) {
  std::string hex;
  for (const char byte : input) {
    constexpr const char* digits = "0123456789abcdef";
    hex += digits[static_cast<unsigned char>(byte) >> 4U];
    hex += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return hex;
}

void play(const std::string& kind, const std::string& input) {
  try {
    targets().at(kind)(input);
  } catch (const std::exception& failure) {
    ADD_FAILURE() << kind << ": " << failure.what() << "\nthe input, hexadecimal: " << hex_of(input);
  }
}

class Corpus : public ::testing::TestWithParam<const char*> {};

TEST_P(Corpus, HoldsWhateverTheBytesAre) {
  const std::vector<std::string> inputs = corpus(GetParam());
  ASSERT_FALSE(inputs.empty());
  std::mt19937_64 random(19);
  for (const std::string& input : inputs) {
    play(GetParam(), input);
    for (std::uint64_t i = 0; i < changes_of_each && !HasFailure(); ++i) {
      play(GetParam(), changed(input, inputs, random));
    }
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Corpus,
                         ::testing::Values("csv", "json", "compressed", "archive", "kind", "toml", "state", "folder",
                                           "checkpoint", "ledger", "key", "message", "segment", "report", "request",
                                           "witness"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(Corpora, EveryKindIsPlayed) {
  EXPECT_EQ(targets().size(), 16U);
}

}  // namespace
}  // namespace nustream::fuzz
