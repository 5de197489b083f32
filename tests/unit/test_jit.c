/* NVRTC compiles without a device, and the cache returns what it made. Skipped without NVRTC. */
#include "cache_support.h"

#include "base/buffer.h"
#include "gpu/jit/jit.h"
#include "gpu/pass/types.h"

#include <elf.h>
#include <sys/wait.h>

extern const char gc_text_axpy[];
extern const char gc_source_kernels[], gc_source_compiled[];

/* The text of the kernel with a constant, and with another one. */
static char text[4096], other_text[4096];

static gconv_device_info device_of(int major, int minor)
{
    gconv_device_info device = {.kind = GCONV_DEVICE_CUDA,
                                .compute_major = major,
                                .compute_minor = minor,
                                .driver_version = 13000};
    strcpy(device.name, "a device for tests");
    return device;
}

typedef struct binary {
    void *bytes;
    size_t size;
    gconv_status status;
    gconv_error error;
} binary;

static void release_binary(binary *old)
{
    free(old->bytes);
}

#define OWNED_BINARY RELEASED_BY(release_binary) binary

static binary get_binary(const char *source, gc_jit_when when)
{
    gconv_device_info device = device_of(9, 0);
    binary got = {0};
    got.status = gc_jit_binary(&device, source, when, &got.bytes, &got.size, &got.error);
    return got;
}

static void assert_cubin(const binary *got)
{
    assert_int_equal(got->status, GCONV_OK);
    assert_true(got->size > 64);
    assert_memory_equal(got->bytes,
                        "\x7f"
                        "ELF",
                        4);
}

/* Machine code comes of this source. */
static void assert_code(const char *source, gc_jit_when when)
{
    OWNED_BINARY got = get_binary(source, when);
    assert_cubin(&got);
}

static void assert_not_cached(const char *source)
{
    assert_int_equal(get_binary(source, GC_JIT_CACHED_ONLY).status, GCONV_ERROR_UNSUPPORTED);
}

TEST(machine_code_for_a_device)
{
    OWNED_BINARY got = {0};
    got.status = gc_jit_compile(9, 0, text, &got.bytes, &got.size, NULL);
    assert_cubin(&got);
}

TEST(ptx_for_what_comes_later)
{
    OWNED void *bytes;
    size_t size;
    assert_ok(gc_jit_compile(99, 0, text, &bytes, &size, NULL));
    assert_int_equal(((char *)bytes)[size - 1], '\0');
    assert_contains(bytes, ".visible .entry axpy(");
}

TEST(too_old_is_refused)
{
    void *bytes;
    size_t size;
    assert_int_equal(gc_jit_compile(1, 3, text, &bytes, &size, &error), GCONV_ERROR_UNSUPPORTED);
    assert_null(bytes);
    assert_contains(error.message, "compute capability 1.3");
}

TEST(errors_tell_file_and_line)
{
    const char source[] = "#line 1 \"wrong.cuh\"\n\nint f() { return missing; }\n";
    binary got = get_binary(source, GC_JIT_COMPILE);
    assert_int_equal(got.status, GCONV_ERROR_DEVICE);
    assert_int_equal(got.error.status, GCONV_ERROR_DEVICE);
    assert_null(got.bytes);
    assert_contains(got.error.message, "wrong.cuh(2): error");
    assert_contains(got.error.message, "missing");
    assert_int_equal(count_cached("", NULL), 0);
}

/* Only what was compiled of the same text is found. */
TEST(compiled_once)
{
    assert_not_cached(text);
    OWNED_BINARY compiled = get_binary(text, GC_JIT_COMPILE);
    assert_cubin(&compiled);
    OWNED_BINARY cached = get_binary(text, GC_JIT_CACHED_ONLY);
    assert_int_equal(cached.status, GCONV_OK);
    assert_int_equal(cached.size, compiled.size);
    assert_memory_equal(cached.bytes, compiled.bytes, cached.size);
    assert_not_cached(other_text);
    assert_not_cached("");
    assert_code(other_text, GC_JIT_UNKEPT);
    assert_not_cached(other_text);
}

/* An entry of the cache is taken as it is where this NVRTC made it, else made again. */
TEST(the_entry_is_used)
{
    assert_code(text, GC_JIT_COMPILE);
    const struct timespec past[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct stat before, after;
    assert_int_equal(stat(only_entry(), &before), 0);
    assert_int_equal(utimensat(AT_FDCWD, only_entry(), past, 0), 0);
    assert_code(text, GC_JIT_COMPILE);
    assert_int_equal(stat(only_entry(), &after), 0);
    assert_true(before.st_ino == after.st_ino);
    assert_true(after.st_mtime > 1);
}

/* What key_of in jit/compile.cpp makes of a kernel is not known here, but stands in the name. */
static gc_hash only_key(void)
{
    gc_hash key = {0};
    const char *digits = strstr(only_entry(), "/kernel-");
    assert_non_null(digits);
    unsigned long long high, low;
    assert_int_equal(sscanf(digits, "/kernel-%16llx%16llx.bin", &high, &low), 2);
    key.high = high;
    key.low = low;
    return key;
}

TEST(other_compilers_code_is_made_again)
{
    assert_code(text, GC_JIT_COMPILE);
    const struct {
        char code[100];
        int release;
    } other = {"code of another compiler", 1020};
    assert_ok(gc_cache_store("kernel", only_key(), &other, sizeof other, NULL));
    OWNED_BINARY cached = get_binary(text, GC_JIT_CACHED_ONLY);
    assert_int_equal(cached.status, GCONV_OK);
    assert_int_equal(cached.size, sizeof other.code);
    assert_string_equal(cached.bytes, other.code);
    assert_code(text, GC_JIT_COMPILE);
    assert_code(text, GC_JIT_CACHED_ONLY);
}

TEST(damaged_is_compiled_again)
{
    assert_code(text, GC_JIT_COMPILE);
    const long offsets[] = {0, 100, -1, -20, -30, -36};
    for (size_t i = 0; i < COUNT(offsets); i++) {
        damage_byte(only_entry(), offsets[i]);
        assert_not_cached(text);
        assert_code(text, GC_JIT_COMPILE);
    }
}

TEST(refused_is_compiled_again)
{
    gconv_device_info device = device_of(9, 0);
    assert_code(text, GC_JIT_COMPILE);
    gc_jit_refuse(&device, text, false);
    assert_int_equal(count_cached(".bin", NULL), 0);
    assert_code(text, GC_JIT_COMPILE);
    assert_int_equal(count_cached(".bin", NULL), 1);
}

/* It is not compiled again and again, but by another NVRTC it is. */
TEST(refused_for_good)
{
    gconv_device_info device = device_of(9, 0);
    gc_jit_refuse(&device, text, true);
    binary refused = get_binary(text, GC_JIT_COMPILE);
    assert_int_equal(refused.status, GCONV_ERROR_UNSUPPORTED);
    assert_contains(refused.error.message, "refuses");
    assert_null(refused.bytes);
    assert_not_cached(text);
    const int release = 1020;
    assert_ok(gc_cache_store("kernel", only_key(), &release, sizeof release, NULL));
    assert_code(text, GC_JIT_COMPILE);
}

TEST(processes_compile_at_once)
{
    enum { PROCESSES = 4 };
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            binary got = get_binary(text, GC_JIT_COMPILE);
            _exit(got.status != GCONV_OK);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int result;
        assert_true(wait(&result) > 0);
        assert_int_equal(result, 0);
    }
    assert_code(text, GC_JIT_CACHED_ONLY);
    assert_int_equal(count_cached("", NULL), 1);
}

/* Without a cache it is compiled each time. */
TEST(no_cache_is_no_error)
{
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    assert_code(text, GC_JIT_COMPILE);
    assert_not_cached(text);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Of instructions of 16 bytes, as compute capability 9.0 has: the operation in the lowest 12 bits,
 * the predicate in the next 4, 7 if there is none. */
enum { REDUX = 0x3c4, ALWAYS = 7 };

/* Counts reductions of a warp (REDUX) in machine code, and those under a predicate. */
static void count_reductions(const char *source, int *all, int *guarded)
{
    OWNED_BINARY got = {0};
    *all = *guarded = 0;
    got.status = gc_jit_compile(9, 0, source, &got.bytes, &got.size, &got.error);
    assert_cubin(&got);
    const unsigned char *bytes = got.bytes;
    const Elf64_Ehdr *head = got.bytes;
    const Elf64_Shdr *sections = (const void *)(bytes + head->e_shoff);
    for (int s = 0; s < head->e_shnum; s++)
        for (size_t i = 0; (sections[s].sh_flags & SHF_EXECINSTR) && i < sections[s].sh_size;
             i += 16) {
            const unsigned char *at = bytes + sections[s].sh_offset + i;
            unsigned word = at[0] | (unsigned)at[1] << 8;
            *all += (word & 0xfff) == REDUX;
            *guarded += (word & 0xfff) == REDUX && word >> 12 != ALWAYS;
        }
}

/* The kernel of a filter of 3x3 ones from bytes to bytes, made as gc_kernel_source makes it. */
static char *source_of(int finish)
{
    gc_buffer source = {0};
    gc_buffer_put(&source, gc_source_kernels);
    gc_buffer_print(&source,
                    "struct gc_config {\n"
                    "static constexpr int width = 3, height = 3, left = 1, top = 1;\n"
                    "static constexpr int products = 0, rows = 4, warps = 4, schedule = %d;\n"
                    "static constexpr int input = %d, output = %d, finish = %d, border = %d;\n"
                    "static constexpr int channels = 1, alpha = %d;\n};\n"
                    "struct gc_constant_weights {\n"
                    "__device__ constexpr float at(int) const { return 0.1f; }\n"
                    "__device__ constexpr bool skips(int) const { return false; }\n};\n"
                    "#define GC_COMPILED_PASS gc_block_pass<gc_block_direct, gc_config>\n",
                    GC_ONE_TILE, GC_BYTE, GC_BYTE, finish, GC_PASS_WRAP, GC_PASS_NO_ALPHA);
    gc_buffer_put(&source, gc_source_compiled);
    return gc_buffer_take(&source, NULL);
}

/* ptxas of CUDA 12.9 to 13.1 gives reductions that stand under a condition a wrong guard, so that
 * none of them may have one (gc_exact_total). */
TEST(reductions_are_under_no_condition)
{
    const char guarded_one[] =
        "extern \"C\" __global__ void one(int *a)\n"
        "{\n"
        "int v = a[threadIdx.x];\n"
        "asm volatile(\"{.reg .pred p; setp.gt.s32 p, %1, 3;\"\n"
        "\"@p redux.sync.add.s32 %0, %0, 0xffffffff;}\" : \"+r\"(v) : \"r\"(a[40]));\n"
        "a[threadIdx.x] = v;\n"
        "}\n";
    int all, guarded;
    count_reductions(guarded_one, &all, &guarded);
    assert_true(all == 1 && guarded == 1);
    const int finishes[] = {GC_FINISH_ONCE, GC_FINISH_ONCE_INSIDE, GC_FINISH_SIDE};
    for (size_t i = 0; i < COUNT(finishes); i++) {
        OWNED char *source = source_of(finishes[i]);
        assert_non_null(source);
        count_reductions(source, &all, &guarded);
        assert_true(all >= 2);
        assert_int_equal(guarded, 0);
    }
}

static const char *missing(void)
{
    static binary got;
    snprintf(text, sizeof text, "#define FACTOR 3.0f\n%s", gc_text_axpy);
    snprintf(other_text, sizeof other_text, "#define FACTOR 5.0f\n%s", gc_text_axpy);
    if (gc_jit_available())
        return NULL;
    got = get_binary(text, GC_JIT_COMPILE);
    if (got.status != GCONV_ERROR_UNSUPPORTED)
        exit(EXIT_FAILURE);
    return got.error.message;
}

const test_suite suite = {.before = make_cache, .after = remove_cache, .missing = missing};
