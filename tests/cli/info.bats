#!/usr/bin/env bats
# gconv info IMPLEMENTATION: what it does, in words.

load common

@test "info describes every implementation in words, with a drawing" {
    expect 0 gconv info --json
    for name in $(key name | grep -v / | sed -n '/^reference$/,/^detector$/p'); do
        COLUMNS=80 expect 0 gconv info $name
        like "$out" "*$name*: *
Idea: *
Needs: *
Loses: *"
        like "$out" '*

  *'
        [ "$(printf '%s\n' "$out" | sed '/^refuses:/,$d' | wc -l)" -le 36 ]
        same "$(printf '%s\n' "$out" | sed '/^$/,$!d; /^not usable/,$d' | awk 'length > 80')" ''
    done
    prints 0 '*van Werkhoven et al. 2014, section 2*one block, factor 3*refuses: *not usable here: *' gconv info tiled
    # A variant has the words of what it varies, or its own.
    prints 0 'tiled:nopad: *
tiled: 1xN *tiled:nopad does not pad*' gconv info tiled:nopad
    prints 0 '*twopass:lecture1d: *Abramov*' gconv info twopass:lecture1d
    prints 0 '*cpu: rows *cpu:tiles transforms tiles*' gconv info cpu:tiles
    json 0 gconv info --json tiled
    same "$(key command) $(key implementation)" 'info tiled'
    complains 2 "there is no implementation 'tild'; did you mean 'tiled'?" gconv info tild
    complains 2 "there is no implementation '9999'; see gconv info" gconv info 9999
    complains 2 "'gauss5' is a filter and no implementation; gconv kernel gauss5 shows it" gconv info gauss5
    complains 2 "'gaussian' is a filter and no implementation; gconv kernel gaussian:SIGMA\[,SIZE\] shows it" gconv info gaussian
    complains 2 "'tiff' is a format and no implementation; gconv info *" gconv info tiff
    complains 2 "'b' is one operand too many: gconv info *" gconv info tiled b
}

@test "info adaptive: the factors of the rule by the limits of devices, as the page has them" {
    expect 0 gconv info adaptive
    table=$(printf '%s\n' "$out" | sed -n '/^GTX 480/,$s/  */ /gp')
    same "$(printf '%s\n' "$table" | wc -l)" 6
    same "$(printf '%s\n' "$table" | sed 's/ $//')" "$(sed -n '/^## Other devices/,/^## /p' "$SOURCE/docs/reproduction.md" |
        sed -n 's/^| \(GTX\|Tesla\|RTX\|H200\)/\1/p' | sed 's/ *| */ /g; s/ $//')"
    # Other limits in place of those of an H200.
    prints 0 '*
asked for  32x16     13    12    10      7     14     10      7      4' gconv info adaptive --shared-memory 65536 --block 32x16
    prints 0 '*
asked for  32x32      5     4     4      3      6      5      3      2' gconv info adaptive --shared-memory 49152
    same "$(gconv info adaptive | grep -c '^asked for')" 0
    complains 2 '--block and --shared-memory are for gconv info adaptive' gconv info tiled --block 8x4
    complains 2 '--block and --shared-memory are for gconv info adaptive' gconv info --block 8x4
}
