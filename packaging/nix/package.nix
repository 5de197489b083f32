# For callPackage. `packaging/build.sh recipes` fills in version, address and hash.
{
  lib,
  stdenv,
  fetchurl,
  cmake,
  ninja,
  isa-l,
  libheif,
  libjpeg,
  libjxl,
  libpng,
  libtiff,
  libwebp,
  nettle,
  xxHash,
  zlib,
  cudaPackages,
  cudaSupport ? false,
}:

let
  # Loaded when a file, a filter or an option asks for them, along the run path.
  loaded = [
    libheif
    libjxl
    libtiff
    libwebp
    nettle
  ]
  ++ lib.optionals cudaSupport [
    cudaPackages.cuda_nvrtc
    cudaPackages.libcufft
  ];
in
stdenv.mkDerivation {
  pname = "gconv";
  version = "@VERSION@";

  src = fetchurl {
    url = "@URL@";
    sha256 = "@SHA256@";
  };

  nativeBuildInputs = [
    cmake
    ninja
  ]
  ++ lib.optional cudaSupport cudaPackages.cuda_nvcc;

  buildInputs = [
    isa-l
    libpng
    libjpeg
    xxHash
    zlib
  ]
  ++ loaded
  ++ lib.optional cudaSupport cudaPackages.cuda_cudart;

  cmakeFlags = [
    "-DBUILD_TESTING=OFF"
    "-DGCONV_MPI=OFF"
    "-DGCONV_CUDA=${if cudaSupport then "ON" else "OFF"}"
    "-DCMAKE_INSTALL_RPATH=${lib.makeLibraryPath loaded}"
  ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/gconv edges --verify ../samples/harbour.jpg edges.png
  '';

  meta = {
    description = "Convolve images and find edges, with the same results on every machine";
    homepage = "@HOMEPAGE@";
    license = lib.licenses.mit;
    mainProgram = "gconv";
    platforms = lib.platforms.unix;
  };
}
