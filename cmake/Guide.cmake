# The text of `gconv info IMPLEMENTATION`: comments at the heads of sources, and lab/guide.txt.

file(GLOB heads src/gpu/methods/ladder/*.cu src/gpu/methods/ladder/*.cpp)
foreach(name direct/direct.cu separable/separable.cu fused/fused.cu tensor/tensor.cu
    tilefft/tilefft.cpp fft/fft.cu detector/detector.cu)
  list(APPEND heads src/gpu/methods/${name})
endforeach()
gconv_embed_text(${CMAKE_CURRENT_BINARY_DIR}/gc_guide_text.c gc_guide_text ${heads} lab/guide.txt)
target_sources(gconv_lab PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/gc_guide_text.c)
