# Defines the functions that build backends and models, in this tree and, through find_package(mokume), outside of it.
include_guard()

# The build writes libraries to this directory, which --plugins accepts.
set(MOKUME_LIBRARY_DIR ${CMAKE_BINARY_DIR}/lib/mokume)
# If this is ON, mokume_module() installs the libraries.
set(MOKUME_INSTALL ON)

# The registry refuses directories that others may write to, and a umask of 002 would create such directories.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)

# mokume_module(<target> KIND backends|plugins|transports NAME <name> SOURCES ...): builds a library that is loaded at
# run time, with one exported symbol and no undefined symbols. `cmake --install` copies the library to where the program
# of the same prefix finds it.
function(mokume_module target)
  cmake_parse_arguments(arg "" "KIND;NAME" "SOURCES" ${ARGN})
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE mokume::sdk)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${script})
  if(NOT MOKUME_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${arg_NAME} LINK_DEPENDS ${script}
    LIBRARY_OUTPUT_DIRECTORY ${MOKUME_LIBRARY_DIR}/${arg_KIND})
  # The registry refuses files that others may write to, and a umask of 002 would create such files.
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND chmod go-w $<TARGET_FILE:${target}> $<TARGET_FILE_DIR:${target}> VERBATIM)
  if(MOKUME_INSTALL)
    install(TARGETS ${target} DESTINATION lib/mokume/${arg_KIND})
    set_property(GLOBAL APPEND PROPERTY MOKUME_MODULES ${target})
  endif()
endfunction()

# mokume_onnx(<target>): gives a target that includes sdk/onnx.hpp the messages of ONNX files, which protoc generates
# from ONNX's schema. The messages have no descriptors, since a second copy would end the process (docs/adr/0044).
function(mokume_onnx target)
  if(NOT TARGET mokume_onnx)
    set(CMAKE_FIND_PACKAGE_PREFER_CONFIG ON)  # newer ones need Abseil, which only their own file knows
    find_package(Protobuf REQUIRED)
    find_file(MOKUME_ONNX_SCHEMA NAMES onnx.proto onnx-ml.proto PATH_SUFFIXES onnx REQUIRED)
    set(dir ${CMAKE_BINARY_DIR}/generated)
    configure_file(${MOKUME_ONNX_SCHEMA} ${dir}/onnx.proto COPYONLY)
    add_custom_command(OUTPUT ${dir}/onnx.pb.cc ${dir}/onnx.pb.h DEPENDS ${dir}/onnx.proto VERBATIM
      COMMAND protobuf::protoc --cpp_out=lite:${dir} --proto_path=${dir} onnx.proto)
    add_library(mokume_onnx STATIC ${dir}/onnx.pb.cc)
    set_target_properties(mokume_onnx PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(mokume_onnx PRIVATE -w)
    target_include_directories(mokume_onnx SYSTEM PUBLIC ${dir})
    target_link_libraries(mokume_onnx PUBLIC protobuf::libprotobuf-lite)
  endif()
  target_link_libraries(${target} PUBLIC mokume_onnx)
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
              -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed.cmake
      DEPENDS ${file} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed.cmake VERBATIM)
    target_sources(${target} PRIVATE ${out})
  endforeach()
  target_include_directories(${target} PRIVATE ${dir})
endfunction()
