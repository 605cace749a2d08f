# Sets compiler flags, and includes the functions that every folder uses.
include_guard()
include(CheckCXXCompilerFlag)
include(MokumeModule)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Hot loops request -O3 and an instruction set themselves.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# Contraction would make results depend on what the compiler fuses. The code calls fma where it should fuse.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Werror -ffp-contract=off)
# Errors and failing tests name a file's place in the tree, not its place on the machine that built it.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 raises false alarms about members of a std::variant that is not in that state, and about std::string's
  # operator+ (PR 105329).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized> $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
else()
  add_compile_options(-Wno-overlength-strings)  # an embedded kernel is longer than the 65,536 bytes that C++ promises
endif()

set(MOKUME_SANITIZE "" CACHE STRING "address, undefined or thread")
if(MOKUME_SANITIZE)
  add_compile_options(-fsanitize=${MOKUME_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MOKUME_SANITIZE})
endif()

find_program(MOKUME_CCACHE ccache)
if(MOKUME_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${MOKUME_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MOKUME_CCACHE})
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(MOKUME_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)

# Until 1.0, both sides of a dlopen must agree on the hash of the headers in core/abi.
file(GLOB abi_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/core/abi/*.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${abi_headers})
set(abi_text "")
foreach(header IN LISTS abi_headers)
  file(SHA256 ${header} one)
  string(APPEND abi_text ${one})
endforeach()
string(SHA256 abi_hash "${abi_text}")
string(SUBSTRING ${abi_hash} 0 16 abi_hash)
file(CONFIGURE OUTPUT ${MOKUME_GENERATED_DIR}/abi/abi_hash.h CONTENT
"/* Generated: the hash of core/abi. */
#ifndef MOKUME_ABI_HASH_H
#define MOKUME_ABI_HASH_H
#define MK_ABI_HASH 0x${abi_hash}ull
#endif
")
