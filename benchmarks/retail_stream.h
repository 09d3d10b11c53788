// The bundled retail stream as rows, with the settings of its example.
#pragma once

#include <string>

#include "config/config.h"
#include "decode/reader.h"

namespace nustream::benchmarks {

struct RetailStream {
  config::Config config;
  record::RowBatch rows;
};

/// Reads all 397,884 records of examples/retail under `root`. The descent is that of the recorded figures, which an
/// independent implementation has computed too: the average of the later half, with many gradients clipped.
inline RetailStream read_retail(const std::string& root) {
  RetailStream stream{config::read_config(root + "/examples/retail/retail.toml",
                                          {"descent.clip_norm=2", "descent.average_from=198942", "noise.nu=0.002"}),
                      {}};
  stream.rows.dimension = stream.config.descent.dimension;
  const auto reader = decode::open_reader(stream.config.input, stream.config.schema);
  while (reader->read(stream.rows, 1 << 16)) {
  }
  return stream;
}

}  // namespace nustream::benchmarks
