# headroom
#
#   make                      all programs, into build/
#   make test                 every test; `make check-fast` only those that need no quota and no virtual machine
#   make demo                 the main experiment, short form
#   make lint                 formatting, static analysis, shell scripts, who may include whom
#   make coverage             which lines of lib/ the unit tests run
#   make fuzz SECONDS=60      fuzzes the parsers (FUZZ=kernel: one harness); make fuzz-corpus keeps what was found
#   make install PREFIX=/usr/local DESTDIR=      (and uninstall)
#   make bench                figures beside those of other tools, into docs/benchmarks.md (BENCH=sidecar QUICK=1 RUNS=10 WRK2=PATH)
#   make bench-deps           installs those other tools
#   make image                container images `headroom` and `headroom-sidecar`, by docker or buildah (docs/docker.md)
#   make image-test           tries them on a real engine       make base-image    where the base image cannot be pulled
#   make deps                 installs every Debian package that any of these needs (each installs its own part itself)
#
#   make CC=clang             another compiler       make SAN=1      ASan + UBSan, into build/san; TSAN=1: TSan
#   make CFLAGS=-O3           flags are respected    make static     static binaries, into build/static
#   make V=1                  whole commands         make B=DIR      another folder than build/

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PREFIX ?= /usr/local
INSTALL ?= install
PKG_CONFIG ?= pkg-config

Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-4s %s\n' $(1) $(2))

# --- variants -------------------------------------------------------------------------------------------------
B := build
PURPOSE := build
ifdef SAN
B := build/san
VARIANT_FLAGS := -fsanitize=address,undefined,float-cast-overflow -fno-omit-frame-pointer -fno-sanitize-recover=all
endif
ifdef TSAN
B := build/tsan
VARIANT_FLAGS := -fsanitize=thread -fno-omit-frame-pointer
endif
ifdef FUZZER
B := build/fuzz
VARIANT_FLAGS := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-omit-frame-pointer -fno-sanitize-recover=all
endif
ifdef COVERAGE
B := build/coverage
VARIANT_FLAGS := --coverage -O0 -DHEADROOM_COVERAGE
endif
ifdef STATIC
B := build/static
PURPOSE := static
STATIC_PREFIX := $(CURDIR)/build/static-deps
export PKG_CONFIG_PATH := $(STATIC_PREFIX)/lib/pkgconfig:$(PKG_CONFIG_PATH)
PKG_STATIC := --static
VARIANT_FLAGS := -ffunction-sections -fdata-sections
VARIANT_LDFLAGS := -static -Wl,--gc-sections
endif

# --- flags ----------------------------------------------------------------------------------------------------
# Only in a checkout of its own: an unpacked archive inside of somebody else's checkout is none.
VERSION := $(or $(shell test -e .git && git describe --tags --always --dirty 2>/dev/null),unknown)
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
HARDENING := -fstack-protector-strong -fPIE
ALL_CPPFLAGS = -D_GNU_SOURCE -Ilib $(PACKAGE_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(HARDENING) -ffile-prefix-map=$(CURDIR)=. $(VARIANT_FLAGS) $(CFLAGS)
ALL_LDFLAGS = $(if $(STATIC),,-pie -Wl,-z,relro,-z,now) $(VARIANT_LDFLAGS) $(VARIANT_FLAGS) $(LDFLAGS)

# --- libraries --------------------------------------------------------------------------------------------------
FOLDERS := lib sidecar probe-app load lab
PACKAGES_lib := jansson
PACKAGES_sidecar := libmicrohttpd jansson
PACKAGES_probe-app := libmicrohttpd libcrypto jansson
PACKAGES_load := libcurl jansson
PACKAGES_lab := libcurl jansson

# What pkg-config says is kept in a makefile of its own. It is made before anything else, whenever packages came or went:
# that installs what is missing, then make reads itself again. Goals that compile nothing do not need it.
NO_PACKAGES := clean distclean coverage fuzz fuzz-corpus deps bench-deps lint help uninstall static image image-arm64 base-image
ifneq ($(filter-out $(NO_PACKAGES),$(or $(MAKECMDGOALS),all)),)
ifeq ($(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
include $(B)/packages.mk
else
-include $(wildcard $(B)/packages.mk)
endif
endif

DPKG_STATUS := $(wildcard /var/lib/dpkg/status)
$(B)/packages.mk: Makefile scripts/deps.sh $(if $(STATIC),scripts/static-deps.sh) $(DPKG_STATUS)
	@CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' scripts/deps.sh $(PURPOSE)
	$(if $(STATIC),@CC='$(CC)' scripts/static-deps.sh '$(STATIC_PREFIX)')
	@mkdir -p $(@D)
	@set -e; { \
	  flags=$$($(PKG_CONFIG) --cflags $(sort $(foreach f,$(FOLDERS),$(PACKAGES_$(f))))); echo "PACKAGE_CFLAGS := $$flags"; \
	  $(foreach f,$(FOLDERS),libs=$$($(PKG_CONFIG) --libs $(PKG_STATIC) $(PACKAGES_$(f))); echo "LIBS_$(f) := $$libs";) \
	} > $@

# The same for what the unit tests are linked with.
$(B)/packages-test: scripts/deps.sh $(DPKG_STATUS)
	$(if $(STATIC),,@scripts/deps.sh test)
	@mkdir -p $(@D)
	@touch $@

# --- what is built from what ------------------------------------------------------------------------------------
# Every folder is an archive of all its files but main.c; a program is its main.c, its archive and lib.
archive = $(B)/$(1).a
sources = $(wildcard $(1)/*.c)
objects = $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(call sources,$(1))))

NAMES := headroom headroom-sidecar headroom-probe headroom-load
PROGRAMS := $(NAMES:%=$(B)/%)
$(B)/headroom: FOLDER := lab
$(B)/headroom-sidecar: FOLDER := sidecar
$(B)/headroom-probe: FOLDER := probe-app
$(B)/headroom-load: FOLDER := load
$(B)/headroom: $(B)/lab/main.o $(call archive,lab)
$(B)/headroom-sidecar: $(B)/sidecar/main.o $(call archive,sidecar)
$(B)/headroom-probe: $(B)/probe-app/main.o $(call archive,probe-app)
$(B)/headroom-load: $(B)/load/main.o $(call archive,load)

UNIT_SOURCES := $(wildcard tests/unit/*/test_*.c)
UNITS := $(patsubst %.c,$(B)/%,$(UNIT_SOURCES))
HARNESSES := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/*/fuzz_*.c))

.PHONY: all units harnesses static help
all: $(PROGRAMS)
units: $(UNITS) harnesses
harnesses: $(HARNESSES)
static:
	@$(MAKE) STATIC=1 all
help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

$(PROGRAMS): $(call archive,lib) $(B)/flags
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(call archive,$(FOLDER)) $(call archive,lib) $(LIBS_$(FOLDER)) -lm -pthread

define FOLDER_RULES
$$(call archive,$(1)): $$(call objects,$(1))
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call FOLDER_RULES,$(f))))

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(if $(filter lib/opts.c,$<),-DHEADROOM_VERSION='"$(VERSION)"') -MMD -MP -c -o $@ $<

# tests/unit/<folder>/test_x.c is linked with that folder's archive
define UNIT_RULES
$(B)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $(call archive,$(1)) $(call archive,lib) $(B)/flags | $(B)/packages-test
	@mkdir -p $$(@D)
	$$(call say,TEST,$$<)
	$$(Q)$$(CC) $$(ALL_CPPFLAGS) -I. $$(ALL_CFLAGS) -Wno-missing-prototypes -MMD -MP $$(ALL_LDFLAGS) -o $$@ $$< \
	  $(call archive,$(1)) $(call archive,lib) $(if $(STATIC),-L$(STATIC_PREFIX)/lib) -lcmocka $(LIBS_$(1)) -lm -pthread
endef
$(foreach f,$(FOLDERS),$(eval $(call UNIT_RULES,$(f))))

# The style and the script of report.html are files of their own, and become part of the program as arrays.
$(call archive,lab): $(B)/lab/page_assets.o
$(B)/lab/page_assets.c: lab/page.css lab/page.js Makefile
	@mkdir -p $(@D)
	@{ echo '#include "page_assets.h"'; for type in css js; do echo "const char page_$$type[] = {"; \
	  LC_ALL=C od -An -v -t x1 lab/page.$$type | sed 's/ \(..\)/0x\1,/g'; echo '0};'; done; } > $@
$(B)/lab/page_assets.o: $(B)/lab/page_assets.c lab/page_assets.h $(B)/flags
	$(Q)$(CC) $(ALL_CPPFLAGS) -Ilab $(ALL_CFLAGS) -c -o $@ $<

# tests/fuzz/<folder>/fuzz_x.c likewise, with a main() of libFuzzer (FUZZER=1) or one that runs the inputs that are kept
define FUZZ_RULES
$(B)/tests/fuzz/$(1)/%: tests/fuzz/$(1)/%.c $(if $(FUZZER),,$(B)/tests/fuzz/replay.o) $(call archive,$(1)) $(call archive,lib) $(B)/flags
	@mkdir -p $$(@D)
	$$(call say,FUZZ,$$<)
	$$(Q)$$(CC) $$(ALL_CPPFLAGS) -I. $$(ALL_CFLAGS) -Wno-missing-prototypes -MMD -MP $$(ALL_LDFLAGS) -o $$@ $$< \
	  $(if $(FUZZER),-fsanitize=fuzzer,$(B)/tests/fuzz/replay.o) $(call archive,$(1)) $(call archive,lib) $(LIBS_$(1)) -lm -pthread
endef
$(foreach f,$(FOLDERS),$(eval $(call FUZZ_RULES,$(f))))

# Changes whenever the compiler, a flag, a library or the version does: then everything that depends on it is made anew.
FLAGS_TEXT = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(foreach f,$(FOLDERS),$(LIBS_$(f)))
keep_text = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' > $@
$(B)/flags: FORCE
	$(call keep_text,$(FLAGS_TEXT))
$(B)/version: FORCE
	$(call keep_text,$(VERSION))
$(B)/lib/opts.o: $(B)/version
.PHONY: FORCE

-include $(shell find $(B)/tests/unit $(B)/tests/fuzz $(FOLDERS:%=$(B)/%) -name '*.d' 2>/dev/null)

# --- tests ------------------------------------------------------------------------------------------------------
# TESTS='unit/lib/test_kv cli/sidecar-once' runs only those.
.PHONY: test check-fast demo lint coverage fuzz fuzz-corpus valgrind
check-fast: all units
	@scripts/deps.sh test
	@tests/run --build $(B) $(or $(TESTS),unit cli)
test: all units
	@scripts/deps.sh test vm manifests page
	@$(MAKE) STATIC=1 all units
	@tests/run --build $(B) $(or $(TESTS),unit cli page manifests live vm)
demo: all
	@$(B)/headroom demo
lint:
	@scripts/deps.sh lint build manifests
	@scripts/lint.sh
coverage:
	@$(MAKE) COVERAGE=1 all units
	@scripts/coverage.sh build/coverage lib
# Memcheck over the unit tests and the harnesses; what it finds is a failure.
valgrind: all units
	@scripts/deps.sh test valgrind
	@HEADROOM_TEST_EMULATOR='valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' \
	  tests/run --build $(B) $(or $(TESTS),unit)
# SECONDS are those of all harnesses together; FUZZ='kernel gate' runs only those.
fuzz fuzz-corpus:
	@scripts/deps.sh fuzz
	@$(MAKE) FUZZER=1 CC="$$(command -v clang || echo clang-14)" harnesses
	@tests/fuzz/run --build build/fuzz --seconds $(or $(SECONDS),60) $(if $(filter fuzz-corpus,$@),--keep) $(FUZZ)

# --- benchmark --------------------------------------------------------------------------------------------------
# BENCH='sidecar load' measures only those sections; the others keep their earlier figures. The sidecar that is measured is
# the static one of the images; where that cannot be built, the one of every day, and the result says so.
.PHONY: bench bench-deps
bench: all
	-@$(MAKE) --no-print-directory STATIC=1 build/static/headroom-sidecar
	@tests/bench/run.py --build $(B) $(if $(QUICK),--quick) $(if $(RUNS),--runs $(RUNS)) $(if $(WRK2),--wrk2 $(WRK2)) $(BENCH)
bench-deps:
	@scripts/deps.sh bench

# --- images -----------------------------------------------------------------------------------------------------
# Below IMAGE_ROOT one tree for each image, as the Dockerfile copies it. The sidecar is a file of its own: it is what gets
# copied into other containers. The other three are one file under three names. To link them into one, each keeps its
# names to itself: only its main stays global, under another name.
.PHONY: image image-test image-arm64 base-image image-root
IMAGE_ROOT ?= $(B)/image
OBJCOPY ?= objcopy
STRIP ?= strip
MULTICALL_FOLDERS := lab:headroom probe-app:probe load:load
MULTICALL := $(foreach m,$(MULTICALL_FOLDERS),$(B)/multicall/$(lastword $(subst :, ,$(m))).o)
define MULTICALL_RULES
$(B)/multicall/$(2).o: $(B)/$(1)/main.o $(call archive,$(1))
	@mkdir -p $$(@D)
	$$(Q)$$(CC) -r -nostdlib -o $$@ $$< -Wl,--whole-archive $(call archive,$(1))
	$$(Q)$$(OBJCOPY) --redefine-sym main=main_$(2) --keep-global-symbol=main_$(2) $$@
endef
$(foreach m,$(MULTICALL_FOLDERS),$(eval $(call MULTICALL_RULES,$(firstword $(subst :, ,$(m))),$(lastword $(subst :, ,$(m))))))
$(B)/multicall/headroom: scripts/image-multicall.c $(MULTICALL) $(call archive,lib) $(B)/flags
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(MULTICALL) $(call archive,lib) $(LIBS_probe-app) \
	  $(LIBS_load) $(LIBS_lab) -lm -pthread
image-root: $(B)/multicall/headroom $(B)/headroom-sidecar
	@rm -rf $(IMAGE_ROOT)
	@mkdir -p $(IMAGE_ROOT)/sidecar/usr/local/bin $(IMAGE_ROOT)/headroom/usr/local/bin
	$(Q)$(STRIP) -s -o $(IMAGE_ROOT)/sidecar/usr/local/bin/headroom-sidecar $(B)/headroom-sidecar
	$(Q)$(STRIP) -s -o $(IMAGE_ROOT)/headroom/usr/local/bin/headroom $(B)/multicall/headroom
	@cp $(IMAGE_ROOT)/sidecar/usr/local/bin/headroom-sidecar $(IMAGE_ROOT)/headroom/usr/local/bin
	@ln -s headroom $(IMAGE_ROOT)/headroom/usr/local/bin/headroom-probe
	@ln -s headroom $(IMAGE_ROOT)/headroom/usr/local/bin/headroom-load
image:
	@scripts/image.sh
image-arm64:
	@scripts/image.sh --arch arm64
base-image:
	@scripts/base-image.sh
image-test: all
	@scripts/deps.sh image test vm
	@tests/run image

# --- packages, installation -------------------------------------------------------------------------------------
.PHONY: deps install uninstall clean
deps:
	@scripts/deps.sh all

DOCS := $(wildcard README.md CHANGELOG.md LICENSE)
BIN_DIR = $(DESTDIR)$(PREFIX)/bin
DOC_DIR = $(DESTDIR)$(PREFIX)/share/doc/headroom
install: all
	$(INSTALL) -d '$(BIN_DIR)' '$(DOC_DIR)'
	$(INSTALL) -m 755 $(PROGRAMS) '$(BIN_DIR)'
	$(if $(DOCS),$(INSTALL) -m 644 $(DOCS) '$(DOC_DIR)')
uninstall:
	rm -f $(NAMES:%='$(BIN_DIR)'/%)
	rm -rf '$(DOC_DIR)'

# The source packages that static builds fetched stay (build/cache): `make distclean` removes them as well.
.PHONY: distclean
clean:
	rm -rf $(filter-out build/cache build/static-deps build/vm,$(wildcard build/*))
distclean:
	rm -rf build
