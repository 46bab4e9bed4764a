# headroom: `make` builds, `make test`, `make demo`; CONTRIBUTING.md tells the rest.
#
#   make CC=clang          another compiler          make SAN=1   ASan + UBSan, into build/san
#   make CFLAGS=-O3        flags are respected       make STATIC=1  static binaries, into build/static
#   make install PREFIX=/usr/local DESTDIR=

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PREFIX ?= /usr/local
INSTALL ?= install
PKG_CONFIG ?= pkg-config

# `make V=1` shows whole commands
Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-4s %s\n' $(1) $(2))

# --- variants -------------------------------------------------------------------------------------------------
B := build
ifdef SAN
B := build/san
VARIANT_FLAGS := -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
endif
ifdef STATIC
B := build/static
STATIC_PREFIX := $(CURDIR)/build/static-deps
export PKG_CONFIG_PATH := $(STATIC_PREFIX)/lib/pkgconfig:$(PKG_CONFIG_PATH)
PKG_STATIC := --static
VARIANT_FLAGS := -ffunction-sections -fdata-sections
VARIANT_LDFLAGS := -static -Wl,--gc-sections
endif

# --- flags ----------------------------------------------------------------------------------------------------
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
HARDENING := -fstack-protector-strong -fPIE
ALL_CPPFLAGS := -D_GNU_SOURCE -Ilib $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(HARDENING) -ffile-prefix-map=$(CURDIR)=. $(VARIANT_FLAGS) $(CFLAGS)
ALL_LDFLAGS = $(if $(STATIC),,-pie -Wl,-z,relro,-z,now) $(VARIANT_LDFLAGS) $(VARIANT_FLAGS) $(LDFLAGS)

# --- what is built from what ------------------------------------------------------------------------------------
# Every folder is an archive of all its files but main.c; a program is its main.c, its archive and lib.
FOLDERS := lib sidecar probe-app load lab
archive = $(B)/$(1).a
sources = $(wildcard $(1)/*.c)
objects = $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(call sources,$(1))))

PROGRAMS := $(B)/headroom $(B)/headroom-sidecar $(B)/headroom-probe $(B)/headroom-load
$(B)/headroom: FOLDER := lab
$(B)/headroom-sidecar: FOLDER := sidecar
$(B)/headroom-probe: FOLDER := probe-app
$(B)/headroom-load: FOLDER := load
$(B)/headroom: $(B)/lab/main.o $(call archive,lab)
$(B)/headroom-sidecar: $(B)/sidecar/main.o $(call archive,sidecar)
$(B)/headroom-probe: $(B)/probe-app/main.o $(call archive,probe-app)
$(B)/headroom-load: $(B)/load/main.o $(call archive,load)

libs = $(shell $(PKG_CONFIG) --libs $(PKG_STATIC) $(PACKAGES_$(1)))
PACKAGES_lib := jansson
PACKAGES_sidecar := libmicrohttpd jansson
PACKAGES_probe-app := libmicrohttpd libcrypto jansson
PACKAGES_load := libcurl jansson
PACKAGES_lab := libcurl jansson
PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags jansson libcurl libmicrohttpd libcrypto 2>/dev/null)

UNIT_SOURCES := $(wildcard tests/unit/*/test_*.c)
UNITS := $(patsubst %.c,$(B)/%,$(UNIT_SOURCES))

.PHONY: all units static
all: $(PROGRAMS)
units: $(UNITS)

$(PROGRAMS): $(call archive,lib) $(B)/flags
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(call archive,$(FOLDER)) $(call archive,lib) $(call libs,$(FOLDER)) -lm -pthread

define FOLDER_RULES
$$(call archive,$(1)): $$(call objects,$(1))
	@rm -f $$@
	$$(Q)$$(AR) rcs $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call FOLDER_RULES,$(f))))

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(PACKAGE_CFLAGS) $(ALL_CFLAGS) $(if $(filter lib/opts.c,$<),-DHEADROOM_VERSION='"$(VERSION)"') -MMD -MP -c -o $@ $<

# tests/unit/<folder>/test_x.c is linked with that folder's archive
$(B)/tests/unit/%: tests/unit/%.c $(foreach f,$(FOLDERS),$(call archive,$(f))) $(B)/flags
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(PACKAGE_CFLAGS) -I. $(ALL_CFLAGS) -Wno-missing-prototypes -MMD -MP $(ALL_LDFLAGS) -o $@ $< \
	  $(if $(filter-out lib,$(firstword $(subst /, ,$*))),$(call archive,$(firstword $(subst /, ,$*)))) $(call archive,lib) \
	  $(call libs,$(firstword $(subst /, ,$*))) -lcmocka -lm -pthread

# Changes whenever the compiler, a flag or the version does: then everything that depends on it is made anew.
FLAGS_TEXT := $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' > $@
$(B)/version: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(VERSION)' | cmp -s - $@ || printf '%s\n' '$(VERSION)' > $@
$(B)/lib/opts.o: $(B)/version
.PHONY: FORCE

-include $(shell find $(B) -name '*.d' 2>/dev/null)
