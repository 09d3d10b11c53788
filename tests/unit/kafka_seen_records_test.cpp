// Wherever a batch ends among the records that came at once, a record not far before its end is marked.
#include <gtest/gtest.h>

#include "kafka/seen_records.h"

namespace nustream::kafka {
namespace {

TEST(SeenRecords, AreNeverFarBeforeTheEndOfABatch) {
  const secrets::Keyring keys = secrets::Keyring::insecure(1);
  for (const std::size_t at_once : {1U, 7U, 8U, 9U, 64U, 400U, 512U}) {
    std::vector<decode::Message> messages(at_once);
    for (std::size_t i = 0; i < at_once; ++i) messages[i].offset = 1000 + i;
    for (std::size_t end = 1; end <= at_once; ++end) {
      SeenRecords seen({});
      seen.add(messages, keys);
      const std::vector<journal::SeenRecord> marks = seen.below(Position{1000 + end});
      ASSERT_FALSE(marks.empty()) << end << " of " << at_once;
      ASSERT_LE(marks.size(), SeenRecords::kept);
      const std::uint64_t last = marks.back().position.value();
      ASSERT_LT(last, 1000 + end);
      ASSERT_LE(1000 + end - last, SeenRecords::between_marks) << end << " of " << at_once;
      ASSERT_EQ(marks.back().mac, mark_of(messages[last - 1000], keys));
    }
  }
}

}  // namespace
}  // namespace nustream::kafka
