# What every target of the project is compiled with.
add_library(nustream_compile INTERFACE)
# Contraction is off everywhere: a fused multiply-add would change the noise's bits from machine to machine.
target_compile_options(nustream_compile INTERFACE
  -ffp-contract=off -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${NUSTREAM_WERROR}>:-Werror>)
# Behind precompiled headers gcc 12 sees overruns in std::string where there are none.
set(nustream_precompiled_flags $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
# Functions are bound when the program starts. If a function were bound at its first call, the binder would leave what
# lies in registers, keys among it, deep in a thread's stack, where nothing writes over it. And after the start no
# function's address can be changed.
target_link_options(nustream_compile INTERFACE LINKER:-z,relro,-z,now)
# nustream_ship(TARGET): hardens a target that is shipped, and makes its bytes independent of where it was built. Tests
# and benchmarks are not shipped; debug and sanitizer builds cannot be fortified. tests/deployment/hardening.py checks the
# result.
add_library(nustream_shipped INTERFACE)
set(nustream_hardened -fPIE -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND nustream_hardened -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND nustream_hardened -mbranch-protection=standard)
endif()
foreach(option IN LISTS nustream_hardened)
  target_compile_options(nustream_shipped INTERFACE $<$<CONFIG:Release>:${option}>)
endforeach()
# Error messages name sources by their place in the project, so that two build folders make the same bytes. Of several
# prefixes that match the last one counts; it is the build folder's, which may lie in the project.
target_compile_options(nustream_shipped INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
                                                  -ffile-prefix-map=${PROJECT_BINARY_DIR}/=)
target_link_options(nustream_shipped INTERFACE $<$<CONFIG:Release>:-pie> LINKER:-z,noexecstack)
function(nustream_ship target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:nustream_shipped>)
endfunction()
# The presets compile several files at once, which takes half the time; debug and tidy look at each file alone.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
# nustream_batches_of_rooms(TARGET): makes each batch of one room's files alone, so that names that collide do so in every
# preset, whichever rooms it builds.
function(nustream_batches_of_rooms target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    string(REGEX REPLACE "/.*" "" room ${source})
    list(APPEND of_${room} ${source})
    list(LENGTH of_${room} count)
    math(EXPR batch "(${count} - 1) / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${batch})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
if(CMAKE_UNITY_BUILD)
  # -Wsubobject-linkage warns of anonymous namespaces in headers, and in a batch every source looks like a header.
  # Where a batch inlines much, gcc 12 takes a std::optional for uninitialised (-Wmaybe-uninitialized).
  target_compile_options(nustream_compile INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
                                                    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(NUSTREAM_SANITIZE)
  # Where it inlines only the operator new of Boost.Asio's coroutine frames, gcc 12 takes these frames for malloc's.
  target_compile_options(nustream_compile INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
  target_compile_options(nustream_compile INTERFACE -fsanitize=${NUSTREAM_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(nustream_compile INTERFACE -fsanitize=${NUSTREAM_SANITIZE})
  if(NUSTREAM_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # -Wtsan warns of Asio's fences, which the thread sanitizer does not follow. Asio's queues are under mutexes, which
    # the sanitizer does follow.
    target_compile_options(nustream_compile INTERFACE -Wno-tsan)
  endif()
endif()
if(NUSTREAM_FAILPOINTS)
  target_compile_definitions(nustream_compile INTERFACE NUSTREAM_FAILPOINTS)
endif()
