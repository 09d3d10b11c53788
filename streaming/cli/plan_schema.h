// What a plan's JSON says of the columns: what features are made of, and how much each record counts.
#pragma once

#include "nustream/record/schema.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// Writes "features":[…] with one object for each key of the file, whatever number of features it makes, and "weight"
/// and "exposure" where there are any:
///
///   "features":[{"kind":"log","column":"x","features":1},{"kind":"hash","column":"city","features":8}],
///   "weight":{"column":"n","max":5},"exposure":{"column":"days","log":false,"max":30}
///
/// Kinds are the names of transforms, and one_hot, hash, bins and interaction. A one_hot has "texts" and "other";
/// bins have "edges", of which an open side is null.
void append_schema(const record::Schema& schema, publish::JsonWriter& json);

}  // namespace nustream::cli
