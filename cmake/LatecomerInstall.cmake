# Relocatable installation: the command finds its libraries relative to itself, the .pc file its prefix relative to itself.
include(CMakePackageConfigHelpers)

add_library(latecomer INTERFACE)
target_include_directories(latecomer INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS latecomer EXPORT latecomerTargets)
install(EXPORT latecomerTargets NAMESPACE latecomer:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/latecomer)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/latecomerConfig.cmake.in
  ${CMAKE_BINARY_DIR}/latecomerConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/latecomer
  PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/latecomerConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/latecomerConfig.cmake ${CMAKE_BINARY_DIR}/latecomerConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/latecomer)
# The .pc file names its prefix relative to its own directory, two levels up from lib/pkgconfig: so lib, not lib/<triplet>.
configure_file(${CMAKE_SOURCE_DIR}/cmake/latecomer.pc.in ${CMAKE_BINARY_DIR}/latecomer.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/latecomer.pc DESTINATION lib/pkgconfig)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
