# Warnings, sanitizers, ccache and mold: what every target shares.
add_library(hw_flags INTERFACE)
target_include_directories(hw_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(hw_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                          -Wno-missing-field-initializers)
target_compile_definitions(hw_flags INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_VISIBILITY
  TOML_HEADER_ONLY=0
  # Asio's cache for coroutine frames is searched slot by slot; the allocator finds one faster.
  BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 with coroutines reports a false mismatched-new-delete on Asio's frames.
  target_compile_options(hw_flags INTERFACE -Wno-mismatched-new-delete -Wno-maybe-uninitialized)
endif()
if(HEADWAY_SANITIZE)
  target_compile_options(hw_flags INTERFACE -fsanitize=${HEADWAY_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(hw_flags INTERFACE -fsanitize=${HEADWAY_SANITIZE})
  if(HEADWAY_SANITIZE MATCHES "undefined")
    target_compile_options(hw_flags INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

find_program(HEADWAY_CCACHE ccache)
if(HEADWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the source folder, so that a second clone hits the cache as well.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      ${HEADWAY_CCACHE})
endif()
find_program(HEADWAY_MOLD mold)
if(HEADWAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_package(Threads REQUIRED)
