find_package(Eigen3 REQUIRED NO_MODULE)
target_link_libraries(nustream_service PRIVATE Eigen3::Eigen)
target_sources(nustream_service PRIVATE audit/audit.cpp audit/bounds.cpp audit/canary.cpp audit/claimed_part.cpp audit/finding.cpp
                                               audit/game.cpp audit/game_rows.cpp audit/line_encoder.cpp audit/matched_filter.cpp audit/page.cpp audit/played.cpp audit/record_writer.cpp
                                               audit/report.cpp audit/stages.cpp audit/statistic.cpp
                                               audit/sums_stages.cpp audit/worst_user.cpp)
