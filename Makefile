# Short commands for CMake; CMakePresets.json defines the builds.
#
#   make              build build/seen, build/libseen.so, .a, man pages
#   make run          the tour: shows every command
#   make check        build and run the quick tests, nine tenths of all
#   make test         build and run every test, with sanitizers and fuzzers
#   make test-load    repeat the tests on an idle machine IDLE=0 times, and
#                     LOADED=3 times beside busy loops and a writer
#   make bench        measure speed, also of other programs: BENCH=filters, cdx, serve, crawl, work
#   make lab          repeat published experiments: LAB=--quick, into build/lab
#   make install      PREFIX=/usr/local DESTDIR=
#   make uninstall    the same PREFIX and DESTDIR; removes what install installs
#   make deb          build Debian packages into build/deb, and check them
#   make deb-test     install, upgrade and remove them in a chroot; needs root
#   make fuzz         run each fuzzer for FUZZ_TIME=600 seconds
#   make kill-test    kill a writer KILLS=5000 times and check its files
#   make soak         long tests that make test skips, as 50 kills of a worker
#   make fault-test   every command meets every fault, one at a time; takes an
#                     hour; FAULT=--short, FAULT=adds: a sample, one scenario
#   make hostile-test crawl ten good hosts beside one that does its worst, in 90
#                     ways; takes an hour; HOSTILE='--only rules,bomb'
#   make power-test   cut the power CUTS=200 times on a mounted ext4; needs root
#   make coverage     report which lines the tests execute (needs gcovr)
#   make format, format-check, setup, clean
PREFIX ?= /usr/local
FUZZ_TIME ?= 600
KILLS ?= 5000
CUTS ?= 200
BENCH ?= filters
LAB ?= --quick
IDLE ?= 0
LOADED ?= 3
JOBS ?= $(shell nproc)
# More than half of the tests' time is waiting, so two more run than there are
# CPUs.
TESTS = $$(($(JOBS) + 2))

# CMake runs again by itself when its files change.
product: build/build.ninja
	@cmake --build build --target product -j $(JOBS)

build/build.ninja:
	@./setup --check
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null

setup:
	@./setup

run:
	@./setup --run
	@$(MAKE) --no-print-directory product
	@SEEN=$(CURDIR)/build/seen ./demo/tour

# For everyday work: the release build with warnings as errors, and its tests
# except the slow ones, which test/CMakeLists.txt lists.
check: setup strict
	@cmake --build --preset release -j $(JOBS) -- --quiet
	@ctest --preset release -j $(TESTS) -LE slow

# Four builds, then one ctest for the tests of all of them, with one summary.
# If all pass, build/tested names the tree, for cmake/release.
test: test-builds
	@tree=$$(cmake/release --tree); \
	SEEN_TEST_ALL=1 ctest --preset release -j $(TESTS) && \
	cmake/release --tested "$$tree"

# A test must pass every time: repeat them all, and name those that fail.
test-load: test-builds
	@test/load --idle $(IDLE) --loaded $(LOADED)

test-builds: setup strict
	@for build in asan tsan $(FUZZ_BUILD); do \
	    cmake --preset $$build >/dev/null || exit 1; \
	done
	@for build in release asan tsan $(FUZZ_BUILD); do \
	    echo "== build $$build"; \
	    cmake --build --preset $$build -j $(JOBS) -- --quiet || exit 1; \
	done

# Warnings are errors for developers, not for users who only run `make`.
strict:
	@cmake --preset release -DSEEN_WERROR=ON >/dev/null

FUZZ_BUILD = $(if $(shell command -v clang),fuzz)

fuzz: setup
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@for fuzzer in build-fuzz/fuzz-*; do \
	    name=$${fuzzer##*/fuzz-}; seeds=test/fuzz/$$name; \
	    [ -d $$seeds ] || seeds=; \
	    echo "== fuzz $$name"; \
	    $$fuzzer -max_total_time=$(FUZZ_TIME) -print_final_stats=1 \
	        -artifact_prefix=build-fuzz/ build-fuzz/corpus/$$name $$seeds \
	        || exit 1; \
	done

kill-test: build/build.ninja
	@cmake --build build -j $(JOBS)
	@SEEN_KILLS=$(KILLS) ctest --test-dir build -R kill --timeout 14400 \
	    --output-on-failure --no-tests=error

# Tests with "soak" in their names do their work only if SEEN_SOAK is set.
soak: build/build.ninja
	@cmake --build build -j $(JOBS)
	@SEEN_SOAK=1 ctest --test-dir build -R soak --timeout 14400 --verbose \
	    --no-tests=error

fault-test: build/build.ninja
	@cmake --build build -j $(JOBS) --target seen inject
	@SEEN=build/seen test/fault/sweep.py $(FAULT)

hostile-test: product
	@SEEN=build/seen test/hostile/neighbours.py $(HOSTILE)

power-test: build/build.ninja
	@cmake --build build -j $(JOBS) --target seen inject
	@SEEN=build/seen test/fault/power.py --cuts $(CUTS)

bench: product
	@build/seen-bench $(BENCH)

lab: product
	@build/seen-lab all $(LAB) --report build/lab

coverage:
	@command -v gcovr >/dev/null || \
	    { echo "seen: coverage needs gcovr: apt-get install gcovr"; exit 1; }
	@cmake --preset coverage >/dev/null
	@cmake --build --preset coverage -j $(JOBS)
	@ctest --preset coverage
	@gcovr --root . --exclude test/ --exclude build-coverage/ build-coverage

install: product
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) build >/dev/null
	@cmake --build build --target product -j $(JOBS)
	@DESTDIR=$(DESTDIR) cmake --install build

uninstall: product
	@DESTDIR=$(DESTDIR) cmake/uninstall build $(PREFIX)

deb:
	@./setup --deb
	@debian/packages

deb-test:
	@[ -e build/deb ] || $(MAKE) --no-print-directory deb
	@test/package/deb

format:
	@cmake/format

format-check:
	@cmake/format --check

clean:
	@rm -rf build build-dev build-asan build-tsan build-fuzz build-coverage

.PHONY: product setup run check test test-load test-builds strict fuzz \
        kill-test soak fault-test hostile-test power-test bench lab coverage \
        install uninstall deb deb-test format format-check clean
