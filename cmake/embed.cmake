# embed.cmake - files as C arrays, so that the program carries its own page.
#
#     cmake -D OUT=page_data.c -D FOLDER=serve/page -P cmake/embed.cmake
#
# Every file of the folder becomes its bytes, its media type and its entity
# tag, a part of its SHA-256: browsers ask again only for what has changed.
# index.html is the page itself, "/"; all others go by their names. The same
# files give the same text, and bytes are written as bytes, since C promises
# only 4095 of them in a string literal.
cmake_minimum_required(VERSION 3.25)

set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_svg "image/svg+xml")

string(REPEAT "0x..," 15 line)          # fifteen bytes: 75 columns
set(arrays "")
set(rows "")
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.html ${FOLDER}/*.css
     ${FOLDER}/*.js ${FOLDER}/*.svg)
list(SORT names)
foreach(name ${names})
    string(MAKE_C_IDENTIFIER "page_${name}" symbol)
    string(REGEX MATCH "[a-z]+$" ending ${name})
    string(REGEX REPLACE "^index\\.html$" "" path ${name})
    file(SHA256 ${FOLDER}/${name} sum)
    string(SUBSTRING ${sum} 0 16 sum)

    file(READ ${FOLDER}/${name} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
    string(APPEND arrays
        "static const unsigned char ${symbol}[] = {\n${bytes}\n};\n\n")
    string(APPEND rows
        "    { \"/${path}\", \"${type_${ending}}\", \"\\\"${sum}\\\"\",\n"
        "      ${symbol}, sizeof ${symbol} },\n")
endforeach()

file(WRITE ${OUT}
    "/* Made by cmake/embed.cmake from serve/page; do not edit. */\n"
    "#include \"page.h\"\n\n${arrays}"
    "const struct page_file page_files[] = {\n${rows}};\n\n"
    "const size_t page_count = sizeof page_files / sizeof *page_files;\n")
