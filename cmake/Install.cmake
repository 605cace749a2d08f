# Makes `cmake --install` install the program and the files that authors of backends and models need; mokume_module()
# installs the libraries. The program finds everything relative to itself, so that an installed tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS mokume DESTINATION bin)
install(TARGETS opencl_probe DESTINATION lib/mokume/libexec)
install(DIRECTORY configs/ DESTINATION share/mokume/configs)
install(FILES LICENSE CHANGELOG.md DESTINATION share/doc/mokume)

# The program prints its manual page and its completions for shells.
set(texts "")
# mokume_text(<file below share> <arguments of mokume...>): installs the output of mokume as a file.
function(mokume_text file)
  set(path ${CMAKE_BINARY_DIR}/share/${file})
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(below ${file} DIRECTORY)
  add_custom_command(OUTPUT ${path} DEPENDS mokume VERBATIM COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND mokume ${ARGN} > ${path})
  set(texts ${texts} ${path} PARENT_SCOPE)
  install(FILES ${path} DESTINATION share/${below})
endfunction()
mokume_text(man/man1/mokume.1 manual)
mokume_text(bash-completion/completions/mokume completion bash)
mokume_text(zsh/vendor-completions/_mokume completion zsh)
mokume_text(fish/vendor_completions.d/mokume.fish completion fish)
add_custom_target(mokume_texts ALL DEPENDS ${texts})

# Builds what `cmake --install` and scripts/install-program copy, without tests and benchmarks.
get_property(modules GLOBAL PROPERTY MOKUME_MODULES)
add_custom_target(program DEPENDS mokume mokume_offline mokume_texts opencl_probe ${modules})

# Installs the headers, the files for find_package(mokume) and the templates.
install(DIRECTORY core/abi core/sdk ${MOKUME_GENERATED_DIR}/abi DESTINATION include/mokume
  FILES_MATCHING PATTERN *.h PATTERN *.hpp)
set_target_properties(mokume_sdk PROPERTIES EXPORT_NAME sdk)
install(TARGETS mokume_sdk EXPORT mokume)
set(package lib/cmake/mokume)
install(EXPORT mokume NAMESPACE mokume:: FILE mokume-targets.cmake DESTINATION ${package})
# Until 1.0, a library must be built with the headers of the program that loads it.
write_basic_package_version_file(${MOKUME_GENERATED_DIR}/mokume-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/mokume-config.cmake ${MOKUME_GENERATED_DIR}/mokume-config-version.cmake cmake/MokumeModule.cmake
  cmake/embed.cmake cmake/exports.map DESTINATION ${package})
install(DIRECTORY backends/null/ DESTINATION share/mokume/templates/backend)
install(DIRECTORY plugins/template/ DESTINATION share/mokume/templates/model)
