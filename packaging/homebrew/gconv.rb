# A formula for a tap of the project. `packaging/build.sh recipes` fills in address and hash.
class Gconv < Formula
  desc "Convolve images and find edges, with the same results on every machine"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "xxhash" => :build
  depends_on "isa-l"
  depends_on "jpeg-turbo"
  depends_on "jpeg-xl"
  depends_on "libheif"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on "nettle"
  depends_on "webp"

  on_linux do
    depends_on "zlib"
  end

  def install
    # The libraries of some formats are loaded by their names, along this path.
    args = %W[
      -DBUILD_TESTING=OFF
      -DGCONV_CUDA=OFF
      -DGCONV_MPI=OFF
      -DCMAKE_INSTALL_RPATH=#{HOMEBREW_PREFIX}/lib
    ]
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "samples/harbour.jpg"
  end

  test do
    system bin/"gconv", "edges", "--verify", pkgshare/"harbour.jpg", "edges.png"
    assert_path_exists testpath/"edges.png"
    (testpath/"version.c").write <<~C
      #include <gconv.h>
      #include <stdio.h>
      int main(void) { puts(gconv_version()); return 0; }
    C
    system ENV.cc, "version.c", "-I#{include}", "-L#{lib}", "-lgconv", "-o", "version"
    assert_match version.to_s, shell_output("./version")
  end
end
