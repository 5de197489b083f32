# Copies a CUDA source without the instructions of the device that instructions.hpp has in C++: the
# definition of each such function gets another name, so that calls of it find that in C++.
#
#   cmake -DINPUT=a.cuh -DOUTPUT=b.cuh -P Instructions.cmake
file(READ ${INPUT} text)
foreach(name gc_fragments_load4 gc_fragments_load2 gc_bytes_multiply gc_bytes_shift_in gc_lines_word gc_lines_signs gc_halves_pack
    gc_halves_unpack gc_halves_widen gc_halves_multiply gc_halves_look_up)
  string(REGEX REPLACE "(static __device__ inline [a-z0-9]+ )${name}\\(" "\\1${name}_of_device("
    text "${text}")
endforeach()
file(WRITE ${OUTPUT} "${text}")
