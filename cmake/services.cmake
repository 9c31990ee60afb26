# services.cmake - the units of systemd/, for `make install` and the packages.
set(SEEN_SYSTEMD_DIR lib/systemd/system CACHE STRING
    "Folder to install the units of systemd in")

file(GLOB units CONFIGURE_DEPENDS systemd/*.in)
foreach(source ${units})
    cmake_path(GET source STEM LAST_ONLY name)
    configure_file(${source} ${PROJECT_BINARY_DIR}/systemd/${name} @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/systemd/${name} COMPONENT programs
            DESTINATION ${SEEN_SYSTEMD_DIR})
endforeach()
