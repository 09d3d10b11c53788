// The dry run: rows are looked at as a run would take them, and nothing is stepped, charged or kept.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "check/findings.h"
#include "check/label_texts.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "decode/json_names.h"
#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// One thread at a time. `config` and `mechanism` outlive it.
class DataCheck {
 public:
  DataCheck(const config::Config& config, const config::Mechanism& mechanism);

  /// What records are to be read by: the run's schema, and for labels one feature more, which counts their texts.
  [[nodiscard]] const record::Schema& schema() const noexcept { return schema_; }
  /// Looks at rows that were read by schema(), and clears them.
  void take(record::RowBatch& rows);
  /// Names of members that records have: of JSON, for whoever reads them.
  [[nodiscard]] decode::MemberNames& members() noexcept { return members_; }
  /// `source`: of which input, in words.
  [[nodiscard]] Findings findings(const std::string& source) const;

 private:
  void profile(const record::RowBatch& rows, std::size_t row);
  [[nodiscard]] bool refuses(const std::string& label) const;
  void find_labels(Findings& found) const;

  const config::Config& config_;
  const config::Mechanism& mechanism_;
  std::size_t dimension_;
  std::unique_ptr<LabelTexts> labels_;  ///< null where the target is no label
  record::Schema schema_;
  std::vector<std::uint64_t> taken_;  ///< of each number of a text, how many usable records had it
  decode::MemberNames members_;
  Findings found_;
};

}  // namespace nustream::check
