# docs.cmake - man pages, guides and shell completion. The program prints them from the
# definitions of its commands; the man pages in doc/*.scd are written by hand.
#
#     seen help --man check ──> man/seen-check.1.scd ── scdoc ──> man/seen-check.1
#     doc/seen-format.5.scd ──> man/seen-format.5.scd ── scdoc ──> man/seen-format.5
#     seen help --completion bash ──> completion/seen
#     seen help --completion zsh  ──> completion/_seen
set(SEEN_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Folder to install the completion for zsh in")
find_program(SCDOC scdoc)

set(man ${PROJECT_BINARY_DIR}/man)
set(completion ${PROJECT_BINARY_DIR}/completion)
file(MAKE_DIRECTORY ${man} ${completion})
set(docs "")

# Make man/NAME with `scdoc < SOURCE`, after the commands that make SOURCE. The
# last character of NAME is the section to install it in.
function(seen_man name source)
    add_custom_command(OUTPUT ${man}/${name} ${ARGN}
        COMMAND ${SCDOC} < ${source} > ${man}/${name} VERBATIM)
    string(REGEX MATCH "[0-9]$" section ${name})
    install(FILES ${man}/${name} COMPONENT programs
            DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    set(docs ${docs} ${man}/${name} PARENT_SCOPE)
endfunction()

# Help and written pages name guides as doc/remote.md; a man page says where that is.
set(absolute "s,\\(^\\|[ (]\\)doc/\\([a-z]\\),\\1${CMAKE_INSTALL_FULL_DOCDIR}/\\2,g")

if(SCDOC)
    foreach(command "" ${SEEN_COMMANDS})
        string(REGEX REPLACE "-$" "" page "seen-${command}")
        set(source ${man}/${page}.1.scd)
        seen_man(${page}.1 ${source} DEPENDS seen BYPRODUCTS ${source}
                 COMMAND seen help --man ${command} > ${source}
                 COMMAND sed -i ${absolute} ${source})
    endforeach()
    file(GLOB pages CONFIGURE_DEPENDS doc/*.[0-9].scd)
    foreach(written ${pages})
        cmake_path(GET written STEM LAST_ONLY name)
        set(source ${man}/${name}.scd)
        seen_man(${name} ${source} DEPENDS ${written} BYPRODUCTS ${source}
                 COMMAND sed ${absolute} ${written} > ${source})
    endforeach()
else()
    message(STATUS "man pages are left out: scdoc was not found")
endif()

foreach(pair bash:seen zsh:_seen)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 shell)
    list(GET pair 1 name)
    add_custom_command(OUTPUT ${completion}/${name}
        COMMAND seen help --completion ${shell} > ${completion}/${name}
        DEPENDS seen VERBATIM)
    list(APPEND docs ${completion}/${name})
endforeach()
install(FILES ${completion}/seen COMPONENT programs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completion}/_seen COMPONENT programs
        DESTINATION ${SEEN_ZSH_DIR})

add_custom_target(docs ALL DEPENDS ${docs})

file(GLOB guides CONFIGURE_DEPENDS doc/*.md doc/*.json doc/*.svg)
file(GLOB examples CONFIGURE_DEPENDS doc/examples/*)
install(FILES ${examples} COMPONENT programs
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES ${guides} README.md SECURITY.md CHANGELOG.md LICENSE TYPE DOC
        COMPONENT programs)
