# libraries.cmake - libseen.so, libseen.a, and the files to find them by.
#
# The libraries export only seen_ symbols. The compiler hides everything except
# what the public headers declare with visibility "default". That is enough for
# the shared library. In a static library hidden symbols could still clash with
# those of the program, so its objects are first linked into one object, in
# which hidden symbols become local:
#
#     *.o ── cc -r ──> one object ── objcopy --localize-hidden ──> libseen.a
include(CMakePackageConfigHelpers)

# --- shared -----------------------------------------------------------------

set(map ${PROJECT_SOURCE_DIR}/cmake/libseen.map)

add_library(libseen SHARED $<TARGET_OBJECTS:seen_objects>
                           $<TARGET_OBJECTS:share_objects>)
add_library(seen::seen ALIAS libseen)
set_target_properties(libseen PROPERTIES
    OUTPUT_NAME seen EXPORT_NAME seen
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C LINK_DEPENDS ${map})
target_include_directories(libseen INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(libseen PRIVATE ${SEEN_NEEDS})
target_link_options(libseen PRIVATE ${SEEN_LINK}
                    -Wl,--version-script=${map} -Wl,--no-undefined)

# --- static -----------------------------------------------------------------

set(one ${PROJECT_BINARY_DIR}/libseen.o)
add_custom_command(OUTPUT ${one}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${one}
            $<TARGET_OBJECTS:seen_objects> $<TARGET_OBJECTS:share_objects>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${one}
    DEPENDS seen_objects $<TARGET_OBJECTS:seen_objects>
            share_objects $<TARGET_OBJECTS:share_objects>
    COMMENT "Making hidden symbols local in libseen.o"
    COMMAND_EXPAND_LISTS VERBATIM)
set_source_files_properties(${one} PROPERTIES
    EXTERNAL_OBJECT ON GENERATED ON)

add_library(libseen_static STATIC ${one})
add_library(seen::static ALIAS libseen_static)
set_target_properties(libseen_static PROPERTIES
    OUTPUT_NAME seen EXPORT_NAME static LINKER_LANGUAGE C)
target_include_directories(libseen_static INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(libseen_static INTERFACE      # names, not local paths
                      idn2 isal zstd OpenSSL::Crypto Threads::Threads m)

# --- installed --------------------------------------------------------------

install(DIRECTORY include/seen TYPE INCLUDE COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(TARGETS libseen EXPORT shared
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS libseen_static EXPORT static
        ARCHIVE COMPONENT development)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/seen)
install(EXPORT shared NAMESPACE seen:: FILE seenShared.cmake
        DESTINATION ${package} COMPONENT development)
install(EXPORT static NAMESPACE seen:: FILE seenStatic.cmake
        DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/seenConfig.cmake.in seenConfig.cmake
    INSTALL_DESTINATION ${package}
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(seenConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/seenConfig.cmake
              ${PROJECT_BINARY_DIR}/seenConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)

# seen.pc derives the prefix from its own place, so the tree can be moved.
set(pc_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up ${pc_folder} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up "${up}")
foreach(kind LIB INCLUDE)
    if(IS_ABSOLUTE ${CMAKE_INSTALL_${kind}DIR})
        set(pc_${kind} ${CMAKE_INSTALL_${kind}DIR})
    else()
        set(pc_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
    endif()
endforeach()
configure_file(cmake/seen.pc.in seen.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/seen.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
