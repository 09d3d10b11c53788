// The status page: one HTML document of what a surface shows, drawn here, so that it works without script.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "serve/lane_status.h"
#include "serve/shown_lane.h"

namespace nustream::serve {

/// What only the operator's page shows of a lane. Not private.
struct OperatorLane {
  LaneId lane{0};
  LaneStatus state = LaneStatus::waiting;
  std::string reason{};
  double records = 0;
  double rejected = 0;
  double lag = 0;                                   ///< records of the input that wait
  double clipped_ratio = 0;                         ///< of the last committed batch
  std::optional<double> commit_seconds{};           ///< mean
  std::optional<double> release_latency_seconds{};  ///< mean
};

/// The same of the process.
struct OperatorView {
  std::string phase;
  std::string readiness;                       ///< lines: what stands in the way
  std::optional<double> records_per_second{};  ///< of late
  std::vector<OperatorLane> lanes{};
};

/// What a page is made of.
struct PageView {
  std::string stream;
  bool ready = false;
  const publish::ShownRelease* model = nullptr;  ///< the combined model; null where there is none
  const History* model_history = nullptr;        ///< of it, since this process publishes it
  std::vector<const ShownLane*> lanes{};         ///< by number
  bool is_open = true;                           ///< false: these lanes were open here before, and none is now
  LaneId lane{0};                                ///< the one whose coefficients are drawn, where it is shown
  std::size_t first_coefficient = 0;             ///< of those that are drawn
  std::string seen{};                            ///< the id of the event that tells of this: text_of(SeenLanes)
  const OperatorView* operators = nullptr;       ///< null on the public page
  bool is_file = false;                          ///< of a report: all coefficients are drawn, and nothing is linked
};

/// So many coefficients are drawn on one page; the table has all.
inline constexpr std::size_t coefficients_of_a_page = 12;

/// Which lane and coefficients a path asks for: "/", "/lanes/3", "/lanes/3/from/12". Nothing for any other path.
struct PagePlace {
  std::optional<LaneId> lane{};
  std::size_t first_coefficient = 0;
};
[[nodiscard]] std::optional<PagePlace> page_place(std::string_view path);

/// The lane that is drawn; null where it is not shown.
[[nodiscard]] const ShownLane* lane_of(const PageView& view);

/// Scripts and styles come from this listener alone, none stands in the page, and nobody may frame it.
inline constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

/// Without the operator's view a function of public values alone: no clock, no count of requests.
[[nodiscard]] std::string status_page(const PageView& view);

}  // namespace nustream::serve
