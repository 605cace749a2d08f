# Compiler flags, and the functions that every folder uses.
include_guard()
include(CheckCXXCompilerFlag)

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

# Contraction would make a result depend on what the compiler fused; the code calls fma where it means it.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Werror -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarms of g++ 12: members of a std::variant that is not in that state, and std::string's operator+ (PR
  # 105329).
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized> $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_UNITY_BUILD)
  add_compile_options(-Wno-shadow)  # names of other files in the unity build
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
set(MOKUME_LIBRARY_DIR ${CMAKE_BINARY_DIR}/lib/mokume)
set(MOKUME_GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)

# The hash of the boundary's headers: both sides of a dlopen must agree on it until 1.0.
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

# mokume_module(<target> KIND backends|plugins|transports NAME <name> SOURCES ...): a shared library loaded at run time,
# with one exported symbol and no undefined ones.
function(mokume_module target)
  cmake_parse_arguments(arg "" "KIND;NAME" "SOURCES" ${ARGN})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE mokume_sdk)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set(script ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${script})
  if(NOT MOKUME_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${arg_NAME} LINK_DEPENDS ${script}
    LIBRARY_OUTPUT_DIRECTORY ${MOKUME_LIBRARY_DIR}/${arg_KIND})
  # The registry refuses files that others may write to, and a umask of 002 would create such files.
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND chmod go-w $<TARGET_FILE:${target}> $<TARGET_FILE_DIR:${target}> VERBATIM)
endfunction()

# mokume_embed(<target> <file>...): embeds each file as `inline constexpr char k<Stem>[]` in
# <generated>/<stem>.embed.hpp.
function(mokume_embed target)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  foreach(file IN LISTS ARGN)
    get_filename_component(stem ${file} NAME_WE)
    set(out ${dir}/${stem}.embed.hpp)
    string(SUBSTRING ${stem} 0 1 first)
    string(TOUPPER ${first} first)
    string(SUBSTRING ${stem} 1 -1 rest)
    add_custom_command(OUTPUT ${out}
      COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUT=${out} -DNAME=k${first}${rest}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${out})
  endforeach()
  target_include_directories(${target} PRIVATE ${dir})
endfunction()
