# Sourced by build.sh: makes the archive that runs wherever it is unpacked. Beside libgconv.so lie
# all shared libraries that gconv needs or loads, but those of the C and C++ compilers. Debian's
# static libraries are not compiled for use in a shared one. libheif is left to the machine:
# Debian's comes with x265, which is under the GPL.
# shellcheck shell=sh disable=SC2154

archive=$(tarball_name)
tree "$work"
configure "$work/tarball" -DGCONV_CUDA="$cuda" -DGCONV_MPI=OFF -DGCONV_ISAL=ON -DGCONV_TIFF=ON \
  -DGCONV_WEBP=ON -DGCONV_HEIF=ON -DGCONV_JXL=ON -DCMAKE_INSTALL_LIBDIR=lib \
  -DCMAKE_INSTALL_LIBEXECDIR=libexec
cmake --build "$work/tarball" --parallel "$jobs"
cmake --install "$work/tarball" --prefix "$work/$archive" --strip
strip --strip-debug --enable-deterministic-archives "$work/$archive/lib/libgconv.a"

echo | cc -x c - -shared -o "$work/codecs.so" -Wl,--no-as-needed -ltiff -lwebp -lwebpdemux \
  -lwebpmux -ljxl -lnettle
needed "$work/$archive/bin/gconv" "$work/codecs.so" >"$work/bundled"
xargs cp -L -t "$work/$archive/lib" <"$work/bundled"
for file in "$work/$archive"/lib/*.so.*; do
  patchelf --set-rpath "\$ORIGIN" "$file"
done
patchelf --set-rpath "\$ORIGIN/../lib" "$work/$archive/bin/gconv"
patchelf --set-rpath "\$ORIGIN/../../lib" "$work/$archive/libexec/gconv/gconv-lab"

toolkit=
[ "$cuda" = OFF ] || toolkit=$(nvcc --version | sed -n 's/.*, V//p')
python3 "$here/sbom.py" "$archive" "$package_version" "$work/$archive" ${toolkit:+"$toolkit"} \
  <"$work/bundled" >"$work/sbom.json"
cp "$work/sbom.json" "$work/$archive/share/doc/gconv/sbom.spdx.json"
cp "$work/sbom.json" "$out/$archive.spdx.json"
(cd "$work" && pack "$archive") | xz -T1 -6 >"$out/$archive.tar.xz"
