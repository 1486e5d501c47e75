# The two commands: "make run" starts Patchbay, "make test" runs all tests.
# Both install what is missing first. "make help" lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
export GOTOOLCHAIN := local
export GOFLAGS := -trimpath -buildvcs=false

OS := $(shell uname -s)
ifeq ($(OS),Linux)
  TAGS := desktop,production,webkit2_41
else
  TAGS := desktop,production
endif
LDFLAGS := -s -w
ifeq ($(OS),Darwin)
  export CGO_LDFLAGS := -framework UniformTypeIdentifiers
  HAS_DISPLAY := yes
else
  HAS_DISPLAY := $(if $(DISPLAY)$(WAYLAND_DISPLAY),yes)
endif

GO_FILES := $(shell find . -name '*.go' -not -path './frontend/node_modules/*' -not -path './build/*') go.mod go.sum build/appicon.png
GO_DATA := $(shell find backend -name '*.sql' -o -name '*.json')
PAGE_FILES := $(shell find frontend/src frontend/public -type f) frontend/index.html frontend/vite.config.ts frontend/tsconfig.json
ARTIFACTS := $(CURDIR)/artifacts
GENERATED := app_bound.go frontend/src/api/generated

.PHONY: help run test dev build bench gen check clean deps-page deps-window deps-test \
	check-gen check-go check-page test-go test-page test-servers test-conformance test-browser test-window soak

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk '!seen[$$0]++' | expand -t 18

ifeq ($(HAS_DISPLAY),yes)
run: deps-window bin/patchbay bin/patchbay-desktop ## Install what is missing, build, and start Patchbay
	@bin/patchbay-desktop
else
run: deps-page bin/patchbay ## Install what is missing, build, and start Patchbay
	@echo "patchbay: there is no display here, so the page is served to a browser instead."
	@bin/patchbay serve
endif

test: deps-test ## Install what is missing and run all tests
	@$(MAKE) --no-print-directory check test-go test-page test-conformance test-browser test-window
	@echo "patchbay: all tests passed. Screenshots are in artifacts/."

check: check-gen check-go check-page ## Formatting, static checks, and whether generated files are current

build: deps-window bin/patchbay bin/patchbay-desktop ## Build the window and the command line into bin/

dev: deps-page bin/patchbay frontend/node_modules/.installed ## Serve the page with live reload against a real backend
	@build/dev.sh

bench: deps-test frontend/dist/index.html ## Run the benchmarks beside the hot paths
	go test -run '^$$' -bench . -benchmem ./backend/...

gen: .tools/tsgen ## Generate what is derived from the contract
	mkdir -p frontend/src/api/generated
	.tools/tsgen ./backend/core ./backend/event ./backend/api/wire > frontend/src/api/generated/types.ts
	go run ./internal/gen

clean: ## Remove everything that was built
	rm -rf bin .tools artifacts frontend/dist frontend/node_modules build/conformance/node_modules

deps-page:
	@build/install-deps.sh page
deps-window:
	@build/install-deps.sh window
deps-test:
	@build/install-deps.sh test

frontend/node_modules/.installed: frontend/package.json frontend/package-lock.json
	@echo "patchbay: installing the page's packages"
	npm --prefix frontend ci --no-audit --no-fund
	@touch $@

frontend/dist/index.html: frontend/node_modules/.installed $(PAGE_FILES)
	@echo "patchbay: building the page"
	npm --prefix frontend run build
	@touch $@

bin/patchbay: frontend/dist/index.html $(GO_FILES) $(GO_DATA)
	@echo "patchbay: building the command line"
	CGO_ENABLED=0 go build -ldflags "$(LDFLAGS)" -o $@ ./cmd/patchbay

bin/patchbay-desktop: frontend/dist/index.html $(GO_FILES) $(GO_DATA)
	@echo "patchbay: building the window (the first time takes some minutes)"
	go build -tags $(TAGS) -ldflags "$(LDFLAGS)" -o $@ .

bin/patchbay-e2e: frontend/dist/index.html $(GO_FILES) $(GO_DATA)
	go build -tags $(TAGS),e2e -ldflags "$(LDFLAGS)" -o $@ .

.tools/tsgen: build/tools/go.mod build/tools/go.sum $(wildcard build/tools/tsgen/*.go)
	cd build/tools && go build -o ../../.tools/ ./tsgen
.tools/staticcheck: build/tools/go.mod build/tools/go.sum
	cd build/tools && go build -o ../../.tools/ honnef.co/go/tools/cmd/staticcheck

check-gen: .tools/tsgen
	@build/check-gen.sh $(GENERATED)

check-go: .tools/staticcheck frontend/dist/index.html
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "Not formatted (run gofmt -w): $$unformatted"; exit 1; fi
	go mod verify >/dev/null
	go vet ./...
	CGO_ENABLED=0 GOOS=windows go vet -tags desktop,production ./...
	CGO_ENABLED=0 GOOS=darwin go vet -tags bindings ./...
	.tools/staticcheck ./...

check-page: frontend/node_modules/.installed
	npm --prefix frontend run check

test-go: bin/patchbay
	go test -race -timeout 20m ./...

test-page: frontend/node_modules/.installed
	npm --prefix frontend test

test-servers: ## Run real MCP servers from npm, also those that are large or start a browser
	PATCHBAY_ALL_SERVERS=1 go test -count=1 -run 'TestReal' -timeout 30m -v ./backend/mcp

DURATION ?= 2m
soak: ## Ill-treat a fleet of servers for DURATION (2m unless told) and look for leaks
	PATCHBAY_SOAK=$(DURATION) go test -race -count=1 -run 'TestSoak' -timeout 0 -v ./backend/mcp

build/conformance/node_modules/.installed: build/conformance/package.json build/conformance/package-lock.json
	@echo "patchbay: installing the conformance suite"
	npm --prefix build/conformance ci --no-audit --no-fund
	@touch $@

bin/conformance-client: $(GO_FILES)
	CGO_ENABLED=0 go build -o $@ ./internal/conformance/client

test-conformance: bin/conformance-client build/conformance/node_modules/.installed ## Run the official MCP conformance suite
	@ARTIFACTS=$(ARTIFACTS) build/conformance/run.sh $(CURDIR)/bin/conformance-client

test-browser: bin/patchbay frontend/node_modules/.installed
	@mkdir -p $(ARTIFACTS)
	npm --prefix frontend run e2e

ifeq ($(OS),Linux)
test-window: bin/patchbay bin/patchbay-e2e
	@mkdir -p $(ARTIFACTS)
	PATCHBAY_WINDOW=$(CURDIR)/bin/patchbay-e2e ARTIFACTS=$(ARTIFACTS) go test -count=1 -tags window -timeout 5m ./internal/windowtest
else
test-window:
	@echo "patchbay: the window is driven by a test on Linux only"
endif
