# Completion of gconv(1) for fish.

set -g __gconv_commands edges filter compare bench tune info help

# The command on the command line, if one is there.
function __gconv_command
    for word in (commandline -opc)[2..-1]
        if contains -- $word $__gconv_commands
            echo $word
            return
        end
    end
end

# Whether an option of these commands may come: one of them is named, or none is yet.
function __gconv_for
    set -l command (__gconv_command)
    test -z "$command"; or contains -- $command $argv
end

function __gconv_no_command
    set -l command (__gconv_command)
    test -z "$command"
end

function __gconv_after
    set -l command (__gconv_command)
    contains -- "$command" $argv
end

function __gconv_filters
    printf '%s\tbuilt-in filter\n' box3 box5 emboss3 gauss3 gauss5 identity laplace3 laplace8 log5 \
        prewitt-x prewitt-y roberts-x roberts-y scharr-x scharr-y sharpen3 sobel-x sobel-y
    printf '%s\tgenerator\n' box: gaussian: log:
    __fish_complete_path (commandline -ct)
end

function __gconv_implementations
    if __gconv_after tune
        printf '%s\n' direct separable
        return
    end
    printf '%s\n' auto reference cpu naive shared const tiled adaptive twopass direct separable fused tensor fft
    __gconv_after compare bench; and echo all
end

complete -c gconv -f
complete -c gconv -n '__gconv_after edges filter compare' -F

# ---- Commands
complete -c gconv -n __gconv_no_command -a edges -d 'Find edges'
complete -c gconv -n __gconv_no_command -a filter -d 'Convolve with one filter or a chain'
complete -c gconv -n __gconv_no_command -a compare -d 'Every implementation on one image'
complete -c gconv -n __gconv_no_command -a bench -d 'Time implementations over filter sizes'
complete -c gconv -n __gconv_no_command -a tune -d 'Search the best configurations of this GPU'
complete -c gconv -n __gconv_no_command -a info -d 'Devices, implementations, filters'
complete -c gconv -n __gconv_no_command -a help -d 'Explain gconv or a command'
complete -c gconv -n '__gconv_after help' -a 'edges filter compare bench tune info help'

# ---- What is computed
complete -c gconv -n '__gconv_for filter compare bench' -s k -l kernel -x -a '(__gconv_filters)' -d 'Filter'
complete -c gconv -n '__gconv_for edges compare' -s t -l threshold -x -d 'Edge where |response| > T'
complete -c gconv -n '__gconv_for edges' -l rule -x -a 'abs positive negative' -d 'Side of the response'
complete -c gconv -n '__gconv_for edges' -l invert -d 'Black edges on white'
complete -c gconv -n '__gconv_for edges filter compare bench' -s b -l border -x -a 'mirror mirror101 replicate wrap constant constant: zero' -d 'What lies outside the image'
complete -c gconv -n '__gconv_for filter compare bench' -l correlate -d 'Correlate instead of convolving'
complete -c gconv -n '__gconv_for filter' -l scale -x -d 'Multiply the result'
complete -c gconv -n '__gconv_for filter' -l offset -x -d 'Add to the result, in 8-bit levels'
complete -c gconv -n '__gconv_for filter' -l abs -d 'Take the absolute value first'
complete -c gconv -n '__gconv_for filter compare' -l alpha -x -a 'auto keep filter premultiply' -d 'Transparency'

# ---- Output files
complete -c gconv -n '__gconv_for edges filter' -l depth -x -a '1 8 16' -d 'Bits a sample of the output'
complete -c gconv -n '__gconv_for edges filter' -s f -l format -x -a 'png jpeg pnm pgm ppm pfm' -d 'Output format'
complete -c gconv -n '__gconv_for edges filter' -l quality -x -d 'JPEG quality, 1 to 100'
complete -c gconv -n '__gconv_for edges filter' -l compression -x -a '0 1 2 3 4 5 6 7 8 9' -d 'PNG compression'
complete -c gconv -n '__gconv_for edges filter' -l strip -d 'Drop profile, resolution and EXIF'
complete -c gconv -n '__gconv_for edges filter' -s o -l output -x -a '(__fish_complete_directories)' -d 'Write to this directory'
complete -c gconv -n '__gconv_for edges filter' -s n -l no-clobber -d 'Leave existing outputs alone'
complete -c gconv -n '__gconv_for edges filter' -l in-place -d 'Let outputs replace their inputs'
complete -c gconv -n '__gconv_for edges filter' -l sync -d 'Flush outputs to the disk'

# ---- Inputs
complete -c gconv -n '__gconv_for edges filter' -s r -l recursive -d 'Directories with all below'
complete -c gconv -n '__gconv_for edges filter compare' -l max-pixels -x -d 'Refuse larger images'
complete -c gconv -n '__gconv_for edges filter compare' -l tolerant -d 'Take truncated images'
complete -c gconv -n '__gconv_for edges filter compare' -l no-auto-orient -d 'Leave EXIF orientation'

# ---- Where it is computed
complete -c gconv -n '__gconv_for edges filter compare bench tune' -s i -l impl -x -a '(__gconv_implementations)' -d 'Implementation'
complete -c gconv -n '__gconv_for edges filter compare bench tune' -s d -l device -x -a 'auto cpu cuda cuda:' -d 'Device'
complete -c gconv -n '__gconv_for edges filter compare bench' -s j -l threads -x -d 'CPU threads'
complete -c gconv -n '__gconv_for edges filter compare bench' -l tile -x -d 'Tiling factor'
complete -c gconv -n '__gconv_for edges filter compare bench' -l block -x -d 'Thread block, WxH'

# ---- Reports
complete -c gconv -n '__gconv_for edges filter' -l verify -d 'Compare with the reference'
complete -c gconv -n '__gconv_for edges filter compare' -l explain -d 'Say why this implementation'
complete -c gconv -n '__gconv_for edges filter' -l timings -d 'Time of each stage'
complete -c gconv -n '__gconv_for compare bench tune' -l time -x -d 'Seconds that measuring may take'
complete -c gconv -n '__gconv_for edges filter compare bench tune info' -l json -d 'Machine-readable results'
complete -c gconv -n '__gconv_for edges filter compare bench tune' -l progress -x -a 'auto always never' -d 'Show progress'
complete -c gconv -s q -l quiet -d 'Errors only'
complete -c gconv -s v -l verbose -d 'Also warnings'
complete -c gconv -s h -l help -d 'Help on gconv or the command'
complete -c gconv -s V -l version -d 'Version and build'
