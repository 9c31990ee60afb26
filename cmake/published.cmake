# published.cmake - the page of the server as one for any web server.
#
#     cmake -D PAGE=serve/page -D SCRIPT=publish/page -D JS=build/js
#           -D OUT=build/published -P cmake/published.cmake
#
# Only index.html differs: its policy and paths, figures that only a server has,
# and the words that name a server. Each of these must be there, so that a change of the page is noticed
# here. JS may be missing: then there is no reader, and no page is published.
cmake_minimum_required(VERSION 3.25)

file(READ ${PAGE}/index.html page)

function(swap old new)
    string(FIND "${page}" "${old}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "index.html lacks: ${old}")
    endif()
    string(REPLACE "${old}" "${new}" page "${page}")
    set(page "${page}" PARENT_SCOPE)
endfunction()

swap("<!doctype html>\n" "<!doctype html>
<!-- Written by seen publish; changes to it are lost. -->\n")
swap("<meta charset=\"utf-8\">\n" "<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'\">\n")
swap("href=\"page.css\"" "href=\"seen-page/page.css\"")
swap("<script src=\"page.js\" defer></script>"
     "<script src=\"seen-page/published.js\" type=\"module\"></script>
<script src=\"seen-page/page.js\" defer></script>")
swap("action=\"agg/\" method" "action=\"./\" method")
swap("The request goes to this server only;
no archive is contacted." "The address stays in your
browser, which fetches the parts of the filters that it needs.")
swap("<dt>Load</dt>
<dd>The share of the filter’s cells that are set. A classic filter is used best
when half of its cells are set.</dd>
" "")
swap("<dt>Room</dt>
<dd>How many more addresses fit before the rate exceeds the plan.</dd>
" "")
swap("<noscript><p>The table of archives and the form for many addresses need
JavaScript. The figures are also at <a href=\"archives\">archives</a>, as JSON;
the form above works without it.</p></noscript>"
     "<noscript><p>This page needs JavaScript. The filters and their figures are
in <a href=\"sitemap.xml\">sitemap.xml</a>.</p></noscript>")
swap(". For programs:
<a href=\"archives\">archives</a> and <code>agg/URL</code> answer in JSON,
<code>POST agg</code> takes a list." ". For programs:
<a href=\"sitemap.xml\">sitemap.xml</a> lists the filters; <code>seen check</code>
asks them where they are.")

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT})
file(WRITE ${OUT}/index.html "${page}")
foreach(file ${PAGE}/page.css ${PAGE}/page.js ${SCRIPT}/published.js)
    file(COPY ${file} DESTINATION ${OUT})
endforeach()
if(EXISTS ${JS}/seen.wasm)
    file(GLOB files ${JS}/*.js ${JS}/seen.wasm)
    file(COPY ${files} DESTINATION ${OUT})
endif()
