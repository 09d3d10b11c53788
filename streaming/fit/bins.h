// The features of --bins and --other: intervals of a column's numbers, and what is in none of a list's entries. Edges
// and lists are public, and are not read off the data.
#pragma once

#include <string>
#include <vector>

#include "fit/fit.h"
#include "fit/input.h"
#include "nustream/record/schema.h"

namespace nustream::fit {

/// The edges of one column's intervals: [edges[0], edges[1]), [edges[1], edges[2]) and so on.
struct Bins {
  std::string column;
  std::vector<double> edges;  ///< two or more, rising; the outer ones may be infinite
};

/// Reads entries such as age=18,30,45,65; `target` is the target's column. Throws Failure(usage), which names option
/// and column, for an entry without edges or whose edges do not rise, for a column that is there twice, and for that
/// of the target.
[[nodiscard]] std::vector<Bins> read_bins(const std::vector<std::string>& entries, const std::string& target);

/// Adds what --bins and --other name behind the features that are listed. A bin is 1 where the column's number lies
/// in it, else 0; a number outside of all bins makes all of them 0. With --other the two sides have features too. Of
/// a list of texts (column=a|b among the features) --other makes the feature column=other, which is 1 where the text
/// is none of the list.
///
/// Where the features of a column would add up to 1 in every record, as the intercept does, the first of them is left
/// out, and the others' coefficients compare with it. Throws Failure(usage) for a column of --other that has neither
/// bins nor a list of texts, or is there twice.
void add_groups(const std::vector<Bins>& bins, const std::vector<std::string>& others,
                std::vector<record::Feature>& features);

}  // namespace nustream::fit
