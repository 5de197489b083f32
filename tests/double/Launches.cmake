# Copies a CUDA source with its launches, kernel<<<grid, block>>>(arguments), written as C++:
# gc_double_launched(grid, block), kernel(arguments).
#
#   cmake -DINPUT=a.cu -DOUTPUT=b.cu -P Launches.cmake
file(READ ${INPUT} text)
string(ASCII 1 end)
string(REGEX REPLACE ">>>[ \n]*\\(" "${end}" text "${text}")
string(REGEX REPLACE "([A-Za-z_0-9]+)<<<([^${end}]*)${end}" "gc_double_launched(\\2), \\1(" text "${text}")
file(WRITE ${OUTPUT} "${text}")
