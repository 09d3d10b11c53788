// Reads rows in the decode tests: schemas, compressed files, and all rows of an input.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "config/input.h"
#include "decode/reader.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::tests {

// Settings of files of lines with two columns.
inline config::InputSettings csv(bool header = true) {
  config::InputSettings settings;
  settings.header = header;
  if (!header) settings.columns = {"a", "b"};
  return settings;
}

inline config::InputSettings jsonl() {
  config::InputSettings settings;
  settings.format = config::Format::json_lines;
  return settings;
}

/// A schema of features that are columns as they are, and a target, without an intercept.
inline record::Schema columns(const std::vector<std::string>& features, const std::string& target = {}) {
  const auto as_is = [](const std::string& name) {
    record::Feature feature;
    feature.name = name;
    feature.first.column = name;
    return feature;
  };
  record::Schema schema;
  for (const std::string& name : features) schema.features.push_back(as_is(name));
  if (!target.empty()) schema.target = as_is(target);
  return schema;
}

/// All rows of a reader, read `rows_max` at a time.
inline record::RowBatch read_all(decode::Reader& reader, std::size_t rows_max = 7) {
  record::RowBatch batch;
  while (reader.read(batch, rows_max)) {
  }
  return batch;
}
inline record::RowBatch read_all(const decode::InputSettings& settings, const record::Schema& schema,
                                 std::size_t rows_max = 7) {
  return read_all(*decode::open_reader(settings, schema), rows_max);
}

/// `text` as zlib compresses it. `window_bits` is what zlib's manual says: -15 is deflate alone, and 15 + 16 a gzip
/// member.
inline std::string deflated(const std::string& text, int window_bits) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// One gzip member with `text`.
inline std::string gzip(const std::string& text) {
  return deflated(text, 15 + 16);
}

/// One zstd frame with `text`.
inline std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(size) != 0) throw std::runtime_error("ZSTD_compress");
  out.resize(size);
  return out;
}

}  // namespace nustream::tests
