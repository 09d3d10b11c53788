// The file of a fit: how the options say to read it, the names in its header, and the maps of columns that the
// command line may name.
#pragma once

#include <string>
#include <vector>

#include "config/input.h"
#include "fit/fit.h"
#include "nustream/record/schema.h"

namespace nustream::fit {

/// The names of a header, in its order; empty where names are not public (JSON lines).
using Names = std::vector<std::string>;

/// Reads `column` or a public map of it: log(column), log1p(column), sqrt(column), square(column), hour(column),
/// day_of_week(column), or column=text, which is 1 where the field is that text. A text that is a name of the header
/// is that column, even if it looks like a map. Before "=" the longest name of the header is taken. Throws
/// Failure(usage) for any other text with brackets.
[[nodiscard]] record::Feature read_term(const std::string& text, const Names& header);

/// The column of which the text is a map, such as log(column) or hash(column); "" for any other text, and for a name
/// of the header.
[[nodiscard]] std::string column_in_map(const std::string& text, const Names& header);

/// The features of one entry of --features. That is the one of read_term(); or one for each text of column=a|b|c
/// ("\\|" stands for a bar within a text); or, of hash(column), one for each of `buckets` buckets of texts
/// (record::bucket_of()) but the first, because all of them together would say the same as the intercept. Throws
/// Failure(usage) where `buckets` is 0 and a hash is asked for, and as read_term() does.
[[nodiscard]] std::vector<record::Feature> read_features(const std::string& text, const Names& header,
                                                         std::uint32_t buckets);

/// The entries of all lists, whose entries are separated by commas. Blanks around an entry are dropped, and "\,"
/// stands for a comma within a name. A list that as a whole is a name of the header is one entry. Throws
/// Failure(usage) where an entry is empty.
[[nodiscard]] std::vector<std::string> split_list(const std::vector<std::string>& lists, const Names& header,
                                                  const char* option);

/// [stream] as the options describe it. A file name that ends in .tsv means tabs. Throws Failure(usage) for standard
/// input, Failure(io) for a pipe, and Failure(configuration) for an option that [stream] would refuse.
[[nodiscard]] config::InputSettings input_of(const Options& options);

/// The public names of the columns. JSON lines and segments have only those of --columns. Throws Failure(data) where
/// the file is not what the options say, or has no header, and Failure(configuration) where its lines hold another
/// delimiter.
[[nodiscard]] Names names_of(const config::InputSettings& input);

/// The first line after those that are skipped: the header of a CSV, unless the file has none. Throws Failure(data)
/// where there is no line.
[[nodiscard]] std::string first_line(const config::InputSettings& input);

/// A message about settings, in which options replace keys, such as --skip-lines 1 for stream.skip_lines = 1.
[[nodiscard]] std::string in_options(std::string message);

}  // namespace nustream::fit
