#!/usr/bin/env python3
"""Runs gconv again and again, each time with another fault of faults.h, and judges every run.

A run is right in three cases:
  - It ends with 0, and everything is as in a run without faults.
  - It ends with 1 after one line `gconv: ...`, in a batch a line for each image and the summary.
    Each output that is not done is what it was before.
  - SIGKILL ended it. Each output is the old one or the new one. The next run does everything.
No temporary file is left, except where removing files is what fails. SIGKILL leaves at most one for
each worker.

All scenarios take 10400 runs: half a minute of two processors, four minutes under the sanitizers.
Ends with 1 where a run was wrong, after a line for each: the scenario, the fault, and what was
wrong. To repeat one of them alone:

    tests/faults/sweep.py build --fault memory:fail:12 edges
"""
import argparse
import concurrent.futures
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

SECONDS_MAX = 20  # a run that takes longer hangs
WORKERS_MAX = 4
OLD = b'what was there before'

# As in faults.h.
KINDS = 'memory open read write sync rename link close stat mode mkdir unlink thread'.split()

# Kinds that are met together, and what is done to their calls.
PLAN = [
    ('memory', 'fail'), ('open', 'fail eintr'), ('read', 'fail short eintr'),
    ('write', 'fail short eintr'), ('sync', 'fail eintr'), ('rename', 'fail lose'), ('link', 'fail'),
    ('close', 'fail eintr'), ('stat', 'fail'), ('mode', 'fail'), ('mkdir', 'fail'), ('unlink', 'fail'),
    ('thread', 'fail'), ('rename,link', 'fail'), ('system', 'kill'), ('memory', 'kill'),
]

# Name, arguments of gconv in a directory with in/ and out/, and outputs below out/: +NAME is there
# beforehand, =NAME as a copy of in/NAME, and @NAME as a link to out/target, which is there too. Then
# `in=FILE` for standard input, `ends=N` for another status than 0 without faults, and words: `batch`;
# `times`, if figures on standard output differ from run to run; `once`, if another run would not do
# the same; `vague`, if standard output leaves out what could not be found out.
SCENARIOS = {row[0]: row[1:] for row in [
    ('edges', 'edges -d cpu -j 1 in/colour.jpg out/edges.png', '+edges.png', ''),
    ('sketch', 'sketch -d cpu -j 1 in/colour.jpg out/sketch.png', '+sketch.png', ''),
    ('overlay', 'edges -d cpu -j 1 --sigma 2 --threshold 10% --thin --overlay white in/colour.jpg '
     'out/overlay.png', '+overlay.png', ''),
    ('new', 'edges -d cpu -j 1 --no-clobber in/grey.png out/new.png', 'new.png', 'once'),
    ('png', 'filter -d cpu -j 1 -k gauss3 in/laden.png out/laden.png', '+laden.png', ''),
    ('jpeg', 'filter -d cpu -j 1 -k in/motion.txt in/laden.jpg out/laden.jpg', '+laden.jpg', ''),
    ('deep', 'filter -d cpu -j 1 -k gaussian:1 -k laplace3 --abs in/deep.png out/deep.png',
     '+deep.png', ''),
    ('alpha', 'filter -d cpu -j 1 -k gauss3 --verify in/alpha.png out/alpha.png', '+alpha.png', ''),
    ('tiff', 'filter -d cpu -j 4 -k gauss3 --compression 6 in/tall.pgm out/tall.tif', '+tall.tif', ''),
    ('link', 'filter -d cpu -j 1 -k emboss3 in/colour.jpg out/link.png', '@link.png', ''),
    ('in-place', 'edges -d cpu -j 2 --in-place out/grey.png out/colour.jpg', '=grey.png =colour.jpg',
     'batch once'),
    ('float', 'filter -d cpu -j 1 -k log:2 --sync in/grey.png out/grey.pfm', '+grey.pfm', ''),
    ('pipe', 'filter -d cpu -j 1 -k sharpen3 --format ppm', '', 'in=in/stream.ppm'),
    ('stream', 'edges -d cpu -j 1 --format pgm', '', 'in=in/two.ppm'),
    ('threads', 'filter -d cpu -j 4 -k box:9 in/tall.pgm out/tall.pgm', '+tall.pgm', ''),
    ('json', 'edges -d cpu -j 1 --json in/grey.png out/grey.png', '+grey.png', 'times'),
    ('batch', 'edges -d cpu -j 2 -t 40 --background black -o out in/grey.png in/colour.jpg in/alpha.png '
     'in/tall.pgm', '+grey.png colour.png +alpha.png tall.png', 'batch'),
    ('recursive', 'filter -d cpu -j 1 -k box3 -r -o out/made in/tree',
     'made/a.png made/b/c.pgm made/b/unnamed.jpg made/b/d/e.png', 'batch'),
    ('compare', 'compare -d cpu -j 2 -i reference,cpu --time 0.0001 in/grey.png', '', 'times'),
    ('info', 'info', '', 'vague'),
    ('tune', 'tune -d cpu', '', 'ends=4'),
]}

IMAGES = [
    'png:grey in/grey.png 40 30', 'jpeg:ycc in/colour.jpg 40 30', 'ppm in/stream.ppm 40 30',
    'png:rgb:exif=6:phys=2835:icc:interlaced in/laden.png 40 30',
    'jpeg:ycc:exif=3:icc:progressive in/laden.jpg 40 30', 'png:rgb:16 in/deep.png 40 30',
    'png:rgba in/alpha.png 40 30', 'pgm in/tall.pgm 60 2000', 'png:grey in/tree/a.png 20 10',
    'pgm in/tree/b/c.pgm 20 10', 'jpeg:grey in/tree/b/unnamed 20 10',
    'png:grey:1 in/tree/b/d/e.png 20 10',
]


def content(path):
    """The bytes of a file; None if there is none."""
    try:
        with open(path, 'rb') as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)


def make_inputs(make_image):
    os.makedirs('in/tree/b/d')
    for image in IMAGES:
        subprocess.run([make_image, 'make', *image.split(), 'noise'], check=True)
    write('in/motion.txt', b'divisor sum\n1 0 0\n0 1 0\n0 0 1\n')
    write('in/two.ppm', 2 * content('in/stream.ppm'))


class Output:
    def __init__(self, word):
        name = word.lstrip('+=@')
        self.path = 'out/' + name
        self.is_link = word[0] == '@'
        self.old = content('in/' + name) if word[0] == '=' else OLD if name != word else None
        self.expected = None

    def state(self):
        now = content(self.path)
        if self.is_link and not os.path.islink(self.path):
            return 'wrong'
        return 'old' if now == self.old else 'new' if self.expected in (None, now) else 'wrong'


class Outcome:
    """What a run left."""

    def __init__(self, status, hangs, outputs):
        self.status, self.hangs = status, hangs
        self.printed, self.said = content('printed'), content('said').decode(errors='replace')
        states = [output.state() for output in outputs]
        self.done, self.old, self.wrong = (states.count(s) for s in ('new', 'old', 'wrong'))
        self.temporaries, self.strange = 0, None  # a file that nobody asked for
        wanted = {output.path for output in outputs} | {'out/target'}
        for directory, _, names in os.walk('out'):
            for path in {directory + '/' + name for name in names} - wanted:
                if '/.' in path and '.gconv-' in path:
                    self.temporaries += 1
                else:
                    self.strange = path

    def judge_messages(self):
        """Of a run that failed: why its messages are wrong, or None."""
        lines = self.said.split('\n')
        if lines.pop() != '' or not all(line.startswith('gconv: ') for line in lines):
            return 'something else than messages on standard error'
        summary = re.search(r'^gconv: (\d+) of \d+ images done, (\d+) failed', self.said, re.M)
        if summary is None:
            if len(lines) != 1:
                return 'not exactly one message'
            agrees = self.done == 0 or lines[0].startswith('gconv: standard output: ')
        else:
            done, failed = map(int, summary.groups())
            if len(lines) != failed + 1:
                return 'not a message for each image and a summary'
            agrees = done <= self.done and failed > 0
        return None if agrees else 'the messages do not agree with the outputs'


class Scenario:
    def __init__(self, name, gconv):
        arguments, outputs, words = SCENARIOS[name]
        self.name, self.gconv, self.arguments = name, gconv, arguments.split()
        self.words = words.split()
        values = dict(word.split('=') for word in self.words if '=' in word)
        self.input, self.status = values.get('in', os.devnull), int(values.get('ends', 0))
        self.outputs = [Output(word) for word in outputs.split()]
        self.runs = self.wrong = 0
        self.expect()

    def expect(self):
        """The run without faults that the others are held against."""
        self.reset()
        o = self.run(None)
        if o.status != self.status or o.old or o.temporaries or (o.status == 0 and o.said):
            sys.exit(f'{self.name} fails without faults: {o.said}')
        self.calls = dict(zip(KINDS, struct.unpack(f'{len(KINDS)}l', content('counts'))))
        if self.calls['memory'] == 0 or (self.outputs and self.calls['open'] == 0):
            sys.exit(f'{self.name}: the calls of this program are not met')
        for output in self.outputs:
            output.expected = content(output.path)
        self.printed = self.comparable(o.printed)

    def comparable(self, printed):
        """Without figures and marks on them, if these differ: letters, less those of numbers. Nor
        the lines of `compare` that explain marks, and what `cpu` chose: that is left out if memory
        is short, as --explain does."""
        if 'times' not in self.words:
            return printed
        lines = re.sub(rb'(?m)^(! noisy|cpu): .*\n', b'', printed)
        return lines.translate(None, b'0123456789.-+ex %!')

    def reset(self):
        for name, mode in (('out', 0o755), ('cache', 0o700)):
            shutil.rmtree(name, ignore_errors=True)
            os.mkdir(name, mode)
        for output in self.outputs:
            if output.is_link:
                os.symlink('target', output.path)
            if output.old is not None:
                write(output.path, output.old)

    def run(self, fault):
        write('counts', bytes(struct.calcsize(f'{len(KINDS)}l')))
        # LD_PRELOAD would split the library's own path at blanks and colons.
        environment = dict(os.environ, FAULTS_COUNTS='counts', LD_PRELOAD='./faults.so',
                           **({'FAULTS': fault} if fault else {}))
        with open(self.input, 'rb') as given, open('printed', 'wb') as out, open('said', 'wb') as err:
            child = subprocess.Popen(['gconv', *self.arguments], executable=self.gconv, stdin=given,
                                     stdout=out, stderr=err, env=environment)
        ended = os.pidfd_open(child.pid)
        hangs = not select.select([ended], [], [], SECONDS_MAX)[0]
        os.close(ended)
        if hangs:
            child.kill()
        return Outcome(child.wait(), hangs, self.outputs)

    def judge_end(self, o, fault):
        """Why a run that SIGKILL did not end is wrong, or None."""
        if o.hangs:
            return 'hangs'
        if o.wrong:
            return 'an output is neither the old one nor the new one'
        if o.strange:
            return o.strange
        if o.status < 0:
            return signal.strsignal(-o.status)
        if o.temporaries and not fault.startswith('unlink'):
            return 'a temporary file is left'
        if o.status not in (1, self.status):
            return 'the exit status is neither 1 nor that without faults'
        if o.status == 1:
            return o.judge_messages()
        if o.old:
            return 'succeeded, but left outputs out'
        if 'vague' not in self.words and self.comparable(o.printed) != self.printed:
            return 'something else on standard output'
        return 'succeeded, but complained' if o.status == 0 and o.said else None

    def judge_kill(self, o):
        """The same after SIGKILL: what is there, and that the next run makes up for it."""
        batch = 'batch' in self.words
        if o.wrong:
            return 'SIGKILL left an output that is neither the old one nor the new one'
        if o.temporaries > (WORKERS_MAX if batch else 1):
            return 'SIGKILL left more than a temporary file'
        after = self.run(None)
        # A batch removes what killed processes left.
        ends = after.status == self.status and after.temporaries == (0 if batch else o.temporaries)
        makes_up = 'once' in self.words or not (after.old or after.wrong)
        return None if ends and makes_up else 'the run after SIGKILL does not make up for it'

    def try_fault(self, fault):
        self.reset()
        o = self.run(fault)
        killed = not o.hangs and ':kill:' in fault and o.status == -signal.SIGKILL
        verdict = self.judge_kill(o) if killed else self.judge_end(o, fault)
        self.runs += 1
        if verdict is not None:
            self.wrong += 1
            print(f'{self.name}, {fault}: {verdict} (status {o.status})\n{o.said}', end='', flush=True)

    def try_all(self, every, begin):
        """Each sweep over calls begins elsewhere, so that kinds with few calls are met too. Returns
        where the next one begins."""
        for kinds, actions in PLAN:
            words = kinds.split(',')
            count = sum(calls for kind, calls in self.calls.items()
                        if kind in words or ('system' in words and kind != 'memory'))
            for action in actions.split():
                for later in ('',) if action == 'kill' else ('', '+'):
                    for n in range(1 + begin % every, count + 1, every):
                        self.try_fault(f'{kinds}:{action}:{n}{later}')
                    begin += 1
        return begin


def sweep(options, build):
    """Tries the scenarios one after the other, in a directory of its own."""
    os.environ.update(XDG_CACHE_HOME=os.getcwd() + '/cache',
                      # The library stands before AddressSanitizer's own functions, and calls them.
                      # What the loader keeps is known by callers behind it.
                      ASAN_OPTIONS='verify_asan_link_order=0:fast_unwind_on_malloc=0')
    for name in ('GCONV_INSTRUCTIONS', 'OMP_NUM_THREADS', 'FAULTS'):
        os.environ.pop(name, None)
    os.symlink(build + '/tests/libgconv_faults.so', 'faults.so')
    make_inputs(build + '/tests/make_image')
    begin, runs, wrong = options.offset, 0, 0
    for name in options.scenarios or SCENARIOS:
        scenario = Scenario(name, build + '/gconv')
        if options.list:
            print(name + ':', *(f'{kind} {n}' for kind, n in scenario.calls.items() if n > 0))
        elif options.fault:
            scenario.try_fault(options.fault)
        else:
            begin = scenario.try_all(options.every, begin)
        runs, wrong = runs + scenario.runs, wrong + scenario.wrong
    if not options.list:
        print(f'{runs} runs, {wrong} wrong (every {options.every}, offset {options.offset})')
    return wrong > 0


def beside_each_other():
    """All scenarios, each by a process of its own."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = pool.map(lambda name: subprocess.call([sys.executable, '-B', *sys.argv, name]), SCENARIOS)
        return any(list(ends))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', nargs='?', default='build', help='the build directory')
    parser.add_argument('scenarios', nargs='*', metavar='SCENARIO', help='default: all')
    parser.add_argument('--every', type=int, default=1, metavar='K', help='each K-th call only')
    parser.add_argument('--offset', type=int, default=0, metavar='N', help='begin N calls later')
    parser.add_argument('--fault', help='this one alone, as in FAULTS')
    parser.add_argument('--list', action='store_true', help='print scenarios and calls that they make')
    options = parser.parse_intermixed_args()
    if options.every < 1 or options.offset < 0 or not set(options.scenarios) <= set(SCENARIOS):
        parser.error('--every takes 1 or more, --offset 0 or more; scenarios are '
                     + ' '.join(SCENARIOS))
    if not (options.scenarios or options.fault or options.list):
        return beside_each_other()
    build = os.path.realpath(options.build)
    with tempfile.TemporaryDirectory(prefix='gconv-faults-') as directory:
        os.chdir(directory)
        try:
            return sweep(options, build)
        finally:
            os.chdir('/')


sys.exit(main())
