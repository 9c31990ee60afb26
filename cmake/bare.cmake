# bare.cmake - copy a script of JavaScript without its comments.
#
#     cmake -D FROM=js/seen.js -D TO=build/js/seen.js -P cmake/bare.cmake
#
# Browsers load these files: comments are a fifth of their compressed size. Only
# comments between /* and */, and lines that have nothing else, are left out.
cmake_minimum_required(VERSION 3.25)
file(READ ${FROM} text)
string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
string(REGEX REPLACE "\n *//[^\n]*" "" text "${text}")
string(REGEX REPLACE "\n[ \n]*\n" "\n" text "${text}")
string(REGEX REPLACE "^\n+" "" text "${text}")
file(WRITE ${TO} "${text}")
