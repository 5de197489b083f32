# Completion of gconv(1) and gconv-mpi(1) for fish.

# gconv-mpi computes batches: two of the commands, without rows of one image.
set -l both -c gconv -c gconv-mpi
set -g __gconv_commands edges filter check compare bench tune kernel info help

# Prints the command on the command line; nothing where there is none yet.
function __gconv_command
    for word in (commandline -opc)[2..-1]
        if contains -- $word $__gconv_commands
            echo $word
            return
        end
    end
end

# Whether options of these commands may follow: the command is one of them, or there is none yet.
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
        printf '%s\n' direct separable adaptive:unrolled
        return
    end
    printf '%s\n' auto reference cpu cpu:taps cpu:sparse cpu:bytes cpu:products cpu:tiles cpu:box cpu:vectors naive naive:const shared const tiled tiled:nopad adaptive adaptive:nc adaptive:ours adaptive:kth adaptive:unrolled twopass twopass:lecture twopass:lecture1d twopass:transposed twopass:tiled direct separable fused tensor tilefft fft
    __gconv_after compare bench; and echo all
end

function __gconv_devices
    printf '%s\n' auto cuda cuda:
    __gconv_after tune; or echo cpu
    __gconv_after compare bench tune; or echo cuda:all
end

complete $both -f
complete $both -n '__gconv_after edges filter check compare' -F

# ---- Commands
complete $both -n __gconv_no_command -a edges -d 'Find edges'
complete $both -n __gconv_no_command -a filter -d 'Convolve with one filter or with a chain of filters'
complete -c gconv -n __gconv_no_command -a check -d 'Check the outputs of a journal'
complete -c gconv -n __gconv_no_command -a compare -d 'Check and time every implementation on one image'
complete -c gconv -n __gconv_no_command -a bench -d 'Time implementations on synthetic images'
complete -c gconv -n __gconv_no_command -a tune -d 'Search the fastest configurations on this GPU'
complete -c gconv -n __gconv_no_command -a kernel -d 'Show a filter or a chain as gconv reads it'
complete -c gconv -n __gconv_no_command -a info -d 'List devices, implementations and filters'
complete $both -n __gconv_no_command -a help -d 'Explain gconv or one of its commands'
complete -c gconv -n '__gconv_after help' -a 'edges filter check compare bench tune kernel info help'
complete -c gconv-mpi -n '__gconv_after help' -a 'edges filter help'

# ---- What is computed
complete $both -n '__gconv_for filter compare bench kernel' -s k -l kernel -x -a '(__gconv_filters)' -d 'Filter'
complete $both -n '__gconv_for edges compare' -s t -l threshold -x -d 'A pixel is an edge if |response| > T'
complete $both -n '__gconv_for edges' -l rule -x -a 'abs positive negative' -d 'Side of the response that counts'
complete $both -n '__gconv_for edges' -l invert -d 'Black edges on white'
complete $both -n '__gconv_for edges filter compare bench' -s b -l border -x -a 'mirror mirror101 replicate wrap constant constant: zero' -d 'What lies outside the image'
complete $both -n '__gconv_for filter compare bench' -l correlate -d 'Correlate instead of convolving'
complete $both -n '__gconv_for filter' -l scale -x -d 'Multiply the result'
complete $both -n '__gconv_for filter' -l offset -x -d 'Add to the result, in 8-bit levels'
complete $both -n '__gconv_for filter' -l abs -d 'Take the absolute value before scale and offset'
complete $both -n '__gconv_for filter compare' -l alpha -x -a 'auto keep filter premultiply' -d 'What happens to transparency'
complete $both -n '__gconv_for edges filter compare' -l background -x -a 'white black grey' -d 'Colour behind transparent pixels'

# ---- Output files
complete $both -n '__gconv_for edges filter' -l depth -x -a '1 8 16' -d 'Bits of a sample of the output'
complete $both -n '__gconv_for edges filter' -s f -l format -x -a 'png jpeg pnm pgm ppm pfm' -d 'Output format'
complete $both -n '__gconv_for edges filter' -l quality -x -d 'JPEG quality, 1 to 100'
complete $both -n '__gconv_for edges filter' -l compression -x -a '0 1 2 3 4 5 6 7 8 9' -d 'PNG compression, 0 to 9'
complete $both -n '__gconv_for edges filter' -l strip -d 'Drop colour profile, resolution and EXIF'
complete $both -n '__gconv_for edges filter' -s o -l output -x -a '(__fish_complete_directories)' -d 'Write every output to this directory'
complete $both -n '__gconv_for edges filter' -s n -l no-clobber -d 'Leave existing outputs alone'
complete $both -n '__gconv_for edges filter' -l update -d 'Leave outputs alone that are not older than their inputs'
complete $both -n '__gconv_for edges filter' -l dry-run -d 'Print what would be done'
complete $both -n '__gconv_for edges filter' -l on-error -x -a 'continue stop' -d 'After an image that fails'
complete $both -n '__gconv_for edges filter' -l parents -d 'Keep the whole path of every input'
complete $both -n '__gconv_for edges filter' -l name -x -d 'Name outputs by a template'
complete $both -n '__gconv_for edges filter check' -l journal -r -d 'Record every image, and skip what is done'
complete $both -n '__gconv_for edges filter' -l hash -x -a 'xxh3 sha256' -d 'Hashes of the journal'
complete $both -n '__gconv_for edges filter' -l retry-failed -d 'Try images again that failed'
complete $both -n '__gconv_for edges filter' -l in-place -d 'Let outputs replace their inputs'
complete $both -n '__gconv_for edges filter' -l preserve -d 'Give every output the times of its input'
complete $both -n '__gconv_for edges filter' -l sync -d 'Flush every output to the disk'

# ---- Inputs
complete $both -n '__gconv_for edges filter' -s r -l recursive -d 'Search directories with all directories below'
complete $both -n '__gconv_for edges filter' -l files-from -r -d 'Take names of inputs from a file'
complete $both -n '__gconv_for edges filter' -l files0-from -r -d 'The same with NUL bytes behind the names'
complete -c gconv -n '__gconv_for edges filter' -l shard -x -a 'auto auto/' -d 'Work on a part of the inputs'
complete -c gconv-mpi -n '__gconv_for edges filter' -l shard -x -d 'Work on a part of the inputs'
complete -c gconv -n '__gconv_for edges filter' -l rows -x -d 'Compute some rows of the output'
complete -c gconv -n '__gconv_for edges filter' -l join -d 'Write parts that cat joins'
complete $both -n '__gconv_for edges filter compare' -l max-pixels -x -d 'Refuse images of more pixels'
complete $both -n '__gconv_for edges filter compare' -l white -x -d 'The sample of a PFM input that is white'
complete $both -n '__gconv_for edges filter compare' -l tolerant -d 'Accept truncated images'
complete $both -n '__gconv_for edges filter compare' -l no-auto-orient -d 'Leave pixels and EXIF orientation as they are'

# ---- Where it is computed
complete $both -n '__gconv_for edges filter check compare bench tune' -s i -l impl -x -a '(__gconv_implementations)' -d 'Implementation'
complete $both -n '__gconv_for edges filter check compare bench tune' -s d -l device -x -a '(__gconv_devices)' -d 'Device'
complete $both -n '__gconv_for edges filter' -l decoder -x -a 'auto cpu cuda' -d 'What decodes JPEG'
complete $both -n '__gconv_for edges filter check compare bench' -s j -l threads -x -d 'CPU threads'
complete $both -n '__gconv_for edges filter compare bench' -l tile -x -d 'Pixels of a thread in tiled GPU implementations'
complete $both -n '__gconv_for edges filter compare bench' -l block -x -d 'Thread block of GPU implementations, WxH'
complete -c gconv -n '__gconv_for compare bench' -l shared-memory -x -d 'Shared memory that adaptive reckons with'

# ---- Reports
complete -c gconv -n '__gconv_for check' -l images -x -d 'How many images --verify computes again'
complete $both -n '__gconv_for edges filter check' -l verify -d 'Compare the result with the reference'
complete $both -n '__gconv_for edges filter compare' -l explain -d 'Say how the implementation was chosen'
complete $both -n '__gconv_for edges filter' -l timings -d 'Print the time of each stage'
complete -c gconv -n '__gconv_for bench' -l preset -x -a 'kth lecture adaptive-2011 adaptive-2014 fft-map fft-locality roofline ours quick' -d 'Experiment'
complete -c gconv -n '__gconv_for bench' -l sizes -x -d 'Sides of the image'
complete -c gconv -n '__gconv_for bench tune' -l filters -x -d 'Sides of filters'
complete -c gconv -n '__gconv_for bench' -l sample -x -d 'Measure only a part of the sweep: a number or a percentage'
complete -c gconv -n '__gconv_for bench' -l resume -r -F -d 'Keep measurements, and go on with them'
complete -c gconv -n '__gconv_for bench' -l baseline -r -F -d 'Compare with an earlier run'
complete -c gconv -n '__gconv_for bench' -l fail-above -x -d 'Exit with status 5 where something is slower, in per cent'
complete -c gconv -n '__gconv_for bench' -l csv -d 'Values with commas'
complete -c gconv -n '__gconv_for bench' -l markdown -d 'Table in Markdown'
complete -c gconv -n '__gconv_for compare bench' -l html -r -d 'Report with charts'
complete -c gconv -n '__gconv_for kernel' -l response -r -F -d 'Write the frequency response, as PNG or CSV'
complete -c gconv -n '__gconv_for kernel' -l write -r -F -d 'Write the filter, or the product of the chain'
complete -c gconv -n '__gconv_for kernel' -l notation -x -a 'gconv imagemagick libvips' -d 'Notation of --write'
complete -c gconv -n '__gconv_for bench' -l samples -x -a 'grey8 rgb8 rgba8 grey16 rgb16 all' -d 'Samples of the image'
complete -c gconv -n '__gconv_for compare bench tune' -l time -x -d 'How many seconds measuring may take'
complete $both -n '__gconv_for edges filter check compare bench tune kernel info' -l json -d 'Machine-readable results on standard output'
complete $both -n '__gconv_for edges filter check compare bench tune' -l progress -x -a 'auto always never' -d 'Show progress'
complete $both -s q -l quiet -d 'Print errors only'
complete $both -s v -l verbose -d 'Print warnings and a line for each image, too'
complete $both -s h -l help -d 'Help on gconv or the command'
complete $both -s V -l version -d 'Version and build'
