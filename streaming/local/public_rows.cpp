// Reads the public unlabeled rows and projects them onto the users' bounds, since the scale c is about rows as the
// reports saw them.
#include "local/model_text.h"

#include <algorithm>
#include <span>

#include "console/signals.h"
#include "decode/reader.h"
#include "error.h"
#include "nustream/record/batch.h"

namespace nustream::local {
namespace {

constexpr std::size_t rows_at_once = 4096;

/// Whether the row that ends before the position `next` could not be used.
bool is_reject(const record::RowBatch& batch, std::uint64_t next) {
  return std::ranges::any_of(batch.rejects, [&](const auto& reject) { return reject.position.value() + 1 == next; });
}

void append(record::RowBatch& batch, const Settings& settings, LoadedRows& loaded) {
  const std::size_t p = batch.dimension;
  for (std::size_t row = 0; row < batch.count(); ++row) {
    if (!batch.rejects.empty() && is_reject(batch, batch.next[row])) {
      ++loaded.unusable;
      continue;
    }
    const std::span<double> x(batch.x.data() + row * p, p);
    // project() wants a label; these rows have none, and the centre is within any bounds.
    double label = settings.bounds.label_centre;
    if (inference::project(settings.bounds, x, label).features) ++loaded.projected;
    loaded.x.insert(loaded.x.end(), x.begin(), x.end());
    ++loaded.rows;
  }
}

}  // namespace

LoadedRows load_public_rows(const Settings& settings) {
  decode::InputSettings input;
  input.files = {settings.public_rows};
  input.format = settings.input.format;
  input.delimiter = settings.input.delimiter;
  input.record_bytes_max = settings.input.record_bytes_max;
  record::Schema features = settings.schema;
  // The file has no labels, so none is asked for.
  features.target.reset();
  const auto reader = decode::open_reader(input, features);
  LoadedRows loaded;
  record::RowBatch batch;
  for (bool more = true; more;) {
    batch.clear();
    console::require_no_signal();
    more = reader->read(batch, rows_at_once);
    append(batch, settings, loaded);
  }
  if (loaded.rows == 0) {
    throw Failure(Exit::data,
                  "'" + settings.public_rows +
                      "' (local.public_rows) has no usable row; give it rows with every feature's column");
  }
  return loaded;
}

}  // namespace nustream::local
