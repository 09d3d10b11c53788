target_sources(nustream_core PRIVATE
  users/border.cpp
  users/changes.cpp
  users/charge.cpp
  users/contribution.cpp
  users/gate.cpp
  users/huge_pages.cpp
  users/limits.cpp
  users/loop.cpp
  users/over_windows.cpp
  users/period.cpp
  users/placement.cpp
  users/sensitivity.cpp
  users/table.cpp
  users/user_index.cpp)
