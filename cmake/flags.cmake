# flags.cmake - how everything of ours is compiled: warnings, hardening,
# sanitizers. seen_flags(TARGET) gives a target all of it, and nothing that
# an installed target would hand on to those who link it.
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(warnings
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual
    -Wwrite-strings -Wvla -Wformat=2 -Wundef)
if(SEEN_WERROR)
    list(APPEND warnings -Werror)
endif()

set(compile "")
set(link "")
# Linux and glibc are assumed everywhere: no file chooses for itself what the
# system's headers declare.
set(define _GNU_SOURCE=)

if(SEEN_PORTABLE)
    list(APPEND define SEEN_PORTABLE=1)
endif()

if(SEEN_SANITIZE)
    list(APPEND compile -fsanitize=${SEEN_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    list(APPEND link -fsanitize=${SEEN_SANITIZE})
    # gcc warns of what its own instrumentation seems to leave uninitialised.
    if(CMAKE_C_COMPILER_ID STREQUAL GNU)
        list(APPEND warnings -Wno-error=maybe-uninitialized)
    endif()
    if(SEEN_FUZZ)
        list(APPEND compile -fsanitize=fuzzer-no-link)
    endif()
elseif(SEEN_HARDEN)
    check_pie_supported(LANGUAGES C)
    foreach(flag -fstack-protector-strong -fstack-clash-protection
                 -fcf-protection)
        string(MAKE_C_IDENTIFIER "has${flag}" has)
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            list(APPEND compile ${flag})
        endif()
    endforeach()
    # Fortified functions need an optimiser; one who set a level keeps it.
    if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
        list(APPEND compile
             $<$<CONFIG:RelWithDebInfo,Release,MinSizeRel>:-U_FORTIFY_SOURCE>
             $<$<CONFIG:RelWithDebInfo,Release,MinSizeRel>:-D_FORTIFY_SOURCE=2>)
    endif()
    list(APPEND link -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()

set(SEEN_COMPILE ${warnings} ${compile})
set(SEEN_LINK ${link})
set(SEEN_DEFINE ${define})

function(seen_flags target)
    target_compile_options(${target} PRIVATE ${SEEN_COMPILE})
    target_compile_definitions(${target} PRIVATE ${SEEN_DEFINE})
    target_link_options(${target} PRIVATE ${SEEN_LINK})
endfunction()
