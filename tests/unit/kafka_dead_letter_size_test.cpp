// What is left out of a dead letter, and in which order, where its topic accepts less than the letter holds.
#include "kafka/dead_letter.h"

#include <gtest/gtest.h>

#include <string>

namespace nustream::tests {
namespace {

journal::DeadLetter letter() {
  return {Position{7},
          "column 'x': not a number",
          std::string(100, 'k'),
          std::string(1000, 'v'),
          {{"one", std::string(50, '1')}, {"two", std::nullopt}, {"three", std::string(50, '3')}},
          1'700'000'000'000};
}

TEST(DeadLetterSize, WhatFitsStaysAsItIs) {
  journal::DeadLetter whole = letter();
  ASSERT_TRUE(kafka::fit(whole, "input", kafka::bytes_bound(whole, "input")));
  EXPECT_EQ(whole.key, letter().key);
  EXPECT_EQ(whole.value, letter().value);
  EXPECT_TRUE(whole.headers == letter().headers);
}

TEST(DeadLetterSize, HeadersGoFirstThenTheKeysEndThenTheValues) {
  const std::size_t all = kafka::bytes_bound(letter(), "input");
  std::size_t headers = 3;
  std::size_t key = 100;
  std::size_t value = 1000;
  for (std::size_t bytes_max = all;; --bytes_max) {
    journal::DeadLetter cut = letter();
    if (!kafka::fit(cut, "input", bytes_max)) break;
    EXPECT_LE(kafka::bytes_bound(cut, "input"), bytes_max);
    EXPECT_LE(cut.headers.size(), headers);
    EXPECT_TRUE(cut.headers.empty() || cut.key->size() == 100) << bytes_max;
    EXPECT_TRUE(cut.key->empty() || cut.value->size() == 1000) << bytes_max;
    EXPECT_EQ(cut.reason, letter().reason);
    headers = cut.headers.size();
    key = cut.key->size();
    value = cut.value->size();
  }
  EXPECT_EQ(headers + key + value, 0U) << "the reason stays until nothing else is left";
}

TEST(DeadLetterSize, WhatDoesNotFitAtAllIsLeftAlone) {
  journal::DeadLetter whole = letter();
  EXPECT_FALSE(kafka::fit(whole, "input", 200));
  EXPECT_EQ(whole.value, letter().value);
  journal::DeadLetter tombstone = letter();
  tombstone.value.reset();
  ASSERT_TRUE(kafka::fit(tombstone, "input", kafka::bytes_bound(tombstone, "input")));
  EXPECT_FALSE(tombstone.value.has_value()) << "nothing is not an empty text";
}

}  // namespace
}  // namespace nustream::tests
