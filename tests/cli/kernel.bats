#!/usr/bin/env bats
# gconv kernel: what it shows of filters and chains, and what it writes.

load common

# fact NAME: the value of the last line with this label in $out.
fact() { printf '%s\n' "$out" | sed -n "s/^  $1  *//p" | tail -n 1; }

@test "a filter is shown as it was read" {
    tells 0 '' gconv kernel sobel-x
    same "$out" 'sobel-x: a built-in filter
  weights    1   0  -1
             2   0  -2
             1   0  -1
  size     3 x 3
  anchor   1, 1
  divisor  1
  sum      0
  gain     0
  rank     1
  column     1   2   1
  row        1   0  -1
  chain    exact on 8 bits
  chain    exact on 16 bits'
    first=$out
    expect 0 gconv kernel -k sobel-x
    same "$out" "$first"
    printf 'anchor 0 1\ndivisor 4\noffset -3\n1/2 1\n2 3.5\n' >k.txt
    expect 0 gconv kernel k.txt
    like "$out" 'k.txt: rows of weights, computed in whole numbers over 8
  weights  0.5   1
             2 3.5*'
    same "$(fact anchor) $(fact divisor) $(fact offset) $(fact sum) $(fact gain) $(fact rank)" '0, 1 4 -3 7 1.75 2'
    same "$(fact chain)" 'exact on 16 bits'
    echo '1/3 1/3 1/3' >k.txt # sum and gain are those of the whole numbers
    expect 0 gconv kernel k.txt
    same "$(fact sum) $(fact gain)" '1 1'
}

@test "kernel says how texts were read" {
    printf '0,5 0,5\n' >comma.txt
    printf '3 3 16\n1 2 1\n2 4 2\n1 2 1\n' >rows.txt
    printf '3 3 16 0\n1 2 1\n2 4 2\n1 2 1\n' >vips.txt
    printf 'column 1 2\nrow 3\n' >vectors.txt
    expect 0 gconv kernel comma.txt rows.txt vips.txt vectors.txt '2x1: 1,2' gaussian:1,5 log:1 box:3x1
    same "$(printf '%s\n' "$out" | grep '^[^ ]' | grep -v '^with')" \
        'comma.txt: rows of weights: each comma separates two weights (a decimal has a point)
rows.txt: rows of weights, not as the libvips matrix of 3x3 that it could be
vips.txt: a libvips matrix
vectors.txt: a column and a row
2x1: 1,2: an ImageMagick string
gaussian:1,5: SIGMA 1 and SIZE 5
log:1: SIGMA 1 and SIZE 7
box:3x1: a box'
}

@test "a chain has a product, and is exact or not" {
    expect 0 gconv kernel
    first=$out
    expect 0 gconv kernel gauss5 laplace3
    same "$out" "$first"
    same "$(fact size) $(fact anchor) $(fact divisor)" '7 x 7 3, 3 289'
    expect 0 gconv kernel -k gauss3 -k box3 -k '2x1: 1,-1'
    same "$(fact size) $(fact anchor) $(fact divisor) $(fact row)" '6 x 5 2, 2 144 1   2   1  -1  -2  -1'
    json 0 gconv kernel --json -k gauss3 -k box3 -k '2x1: 1,-1'
    same "$(key exact | paste -sd ' ' -)" 'true true true true true false'
    expect 0 gconv kernel box:200 box:57
    like "$out" '*with the filters before it: no single filter: a filter of 256 x 256 (sides are 1 to 255)*'
    expect 0 gconv kernel '1x1: 1e30' '1x1: 1e8'
    like "$out" '*  chain    refused on 16 bits: the values of this chain can exceed float32 after 2 *'
    complains 2 'emboss3: has an offset, and only the last filter of a chain may have one' gconv kernel emboss3 gauss3
}

@test "one filter in the place of a chain gives the same pixels, away from the border" {
    make_image png:grey in.png 60 50 noise
    printf 'anchor 0 2\n1 2\n0 3\n-1 1\n' >k.txt
    expect 0 gconv kernel k.txt roberts-x sobel-y --write product.txt
    for option in '' --correlate; do
        silently gconv filter $option -b wrap -f pfm -k k.txt -k roberts-x -k sobel-y in.png chain.pfm
        silently gconv filter $option -b wrap -f pfm -k product.txt in.png product.pfm
        cmp chain.pfm product.pfm
    done
}

@test "tables fit the line, and say what they leave out" {
    for columns in 1 30 80 200; do
        expect 0 env COLUMNS=$columns "$GCONV" kernel gaussian:20 box:300x2
        like "$out" '*... (121 rows in all)*(121 in all)*(300 in all)*'
        [ $columns -lt 80 ] || [ "$(printf '%s\n' "$out" | wc -L)" -le $((columns + 14)) ]
    done
    expect 0 gconv kernel gaussian:2
    [ "$(printf '%s\n' "$out" | wc -L)" -le 94 ]
}

@test "JSON has an object for each filter" {
    json 0 gconv kernel --json laplace3 emboss3
    same "$(printf '%s\n' "$out" | wc -l)" 2
    same "$(key kernel | paste -sd ' ' -)" 'laplace3 emboss3'
    same "$(key rank | paste -sd ' ' -)" '2 2 4'
    same "$(key offset | paste -sd ' ' -)" 'null 128 128'
    printf '%s\n' "$out" | head -n 1 | grep -qF '"weights": [[0, 1, 0], [1, -4, 1], [0, 1, 0]]'
}

@test "--write writes each notation, and refuses what it cannot hold" {
    expect 0 gconv kernel gauss3 --write k.txt
    same "$(cat k.txt)" 'name gauss3
divisor 16
anchor 1 1
1 2 1
2 4 2
1 2 1'
    expect 0 gconv kernel gauss3 --write k.mat --notation libvips
    same "$(cat k.mat)" '3 3 16 0
1 2 1
2 4 2
1 2 1'
    expect 0 gconv kernel k.mat gauss3
    expect 0 gconv kernel '3x1+0+0: 0.1,2,-3' --write k.im --notation imagemagick
    same "$(cat k.im)" '3x1+0+0:
0.1,2,-3'
    holds k.im k.mat k.txt
    complains 2 "out: an ImageMagick string cannot hold a divisor: *" gconv kernel gauss3 --write out --notation imagemagick
    complains 2 "out: an ImageMagick string cannot hold an offset: *" gconv kernel emboss3 --write out --notation imagemagick
    complains 2 "out: a libvips matrix cannot hold an anchor *" gconv kernel k.im --write out --notation libvips
    complains 2 "out: a libvips matrix cannot hold a column and a row: *" gconv kernel box:300 --write out --notation libvips
    complains 2 "out: a filter of 256 x 256 *" gconv kernel box:200 box:57 --write out
    complains 2 "option '--notation': 'magick' is *" gconv kernel gauss3 --write out --notation magick
    complains 2 "--notation needs --write" gconv kernel gauss3 --notation gconv
    complains 2 "option '--write': '-' is no file*" gconv kernel gauss3 --write -
    complains 2 "the output would replace the filter 'k.txt'*" gconv kernel k.txt --write ./k.txt
    complains 1 'none/out: *' gconv kernel gauss3 --write none/out
    holds k.im k.mat k.txt
}

# value X Y: the magnitude at a frequency in response.csv.
value() { sed -n "s/^$1,$2,//p" response.csv; }

@test "--response is the transform of the chain" {
    tells 0 'gconv: response.csv: *, from 0 to 8' gconv kernel laplace3 --response response.csv
    same "$(wc -l <response.csv)" 66050
    same "$(head -n 1 response.csv)" x,y,magnitude
    same "$(value 0 0) $(value 0.5 0.5) $(value -0.5 0) $(value 0.25 0)" '0 8 4 2'
    expect 0 gconv kernel sobel-x sobel-x '2x1+1+0: 0,1' --response response.CSV
    mv response.CSV response.csv
    same "$(value 0.25 0) $(value 0 0.25)" '64 0'
    expect 0 gconv kernel box:300x1 box:9x4 --response response.csv
    same "$(value 0 0)" 1
    tells 0 '' gconv kernel -q gaussian:2 --response response.png
    dump response.png >pixels
    like "$(head -n 1 pixels)" '*257*257*'
    same "$(tail -n +2 pixels | sed -n 129p | tr -s ' ' '\n' | sed '/^$/d' | sed -n 129p)" 255
    same "$(tail -n +2 pixels | sed -n 1p | tr -s ' ' '\n' | sed '/^$/d' | sort -u)" 0
    expect 0 gconv kernel '2x1: 0,0' --response response.png
    same "$(dump response.png | tail -n +2 | tr -s ' ' '\n' | sed '/^$/d' | sort -u)" 0
    complains 2 "option '--response': 'response.jpg' does not end in .png or .csv" gconv kernel gauss3 --response response.jpg
    complains 2 "option '--response': 'png' does not *" gconv kernel gauss3 --response png
    complains 2 'r.png: the response of this chain exceeds double' \
        gconv kernel --response r.png $(printf '%s\n' 'divisor 1e-200' 1 >a.txt; printf '%s\n' 'divisor 1e-200' 2 >b.txt; echo a.txt b.txt)
}

@test "what is no filter is refused" {
    complains 2 "gaus5: no such file, * did you mean 'gauss5'*" gconv kernel gaus5
    complains 2 "option '--threshold' does not belong to 'gconv kernel'" gconv kernel -t 5 gauss5
    complains 2 ': the name of the filter is empty' gconv kernel ''
}
