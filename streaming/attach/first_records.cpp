// The records that are measured go through the same decoder as those of a lane, with columns as they are. What a
// record contributes to the measuring is bounded there (measure/), and not here.
#include "attach/first_records.h"

#include <cstddef>
#include <vector>

#include "config/users.h"
#include "nustream/record/schema.h"

namespace nustream::attach {
namespace {

/// The schema with untransformed columns, whose users are told apart by `identifiers`.
record::Schema schema_to_measure(const config::Config& asked, users::Identifiers& identifiers) {
  record::Schema schema = measure::raw_schema(asked);
  if (schema.user) schema.user->reader = &identifiers;
  return schema;
}

}  // namespace

FirstRecords::FirstRecords(const config::Config& asked, const secrets::Keyring& keys, std::uint32_t lanes,
                           const users::UserKey* user_key, Position start)
    : keys_(keys),
      wanted_(asked.measuring.records),
      start_(start),
      end_(start),
      identifiers_(config::partitioner_of(asked), {LaneId{0}, lanes}),
      decoder_(asked.input, schema_to_measure(asked, identifiers_)),
      table_(measure::raw_table(asked)) {
  rows_.dimension = table_.features;
  if (user_key != nullptr) identifiers_.use(*user_key);
}

void FirstRecords::take(const kafka::Message& message) {
  batch_.clear();
  rows_.clear();
  // With headers, since a column may be one.
  kafka::add_to(batch_, message, true);
  decoder_.decode(batch_.messages(), rows_);
  seen_.add(batch_.messages(), keys_);
  // A record that cannot be used keeps its place, so that the number of measured records is public.
  std::vector<std::size_t> unusable;
  if (!rows_.rejects.empty()) unusable.push_back(count());
  table_.add(rows_, unusable);
}

}  // namespace nustream::attach
