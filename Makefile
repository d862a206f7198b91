# The two commands that a newcomer needs are `make run` and `make test`.

GO      ?= go
BIN     := bin/plimsoll
# The version stands in CHANGELOG.md; the commit is added where there is a repository.
NEWEST  := v$(shell sed -n 's/^## \[\([0-9][^]]*\)\].*/\1/p' CHANGELOG.md | head -n 1)
VERSION := $(NEWEST)$(shell git describe --always --dirty --exclude '*' 2>/dev/null | sed 's/^/+/')
LDFLAGS  = -s -w -X main.version=$(VERSION)
SHELL   := bash
TOOL    := $(GO) tool -modfile=tools/go.mod
# The race detector needs a C compiler; nothing else does.
RACE    := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && echo -race)

# Nothing of ours needs C, so no build depends on whether it is there.
export CGO_ENABLED := 0

.PHONY: help run build snapshot release publish releasable test test-clock test-current test-java test-native test-servers test-timed test-virtual test-kubernetes test-partitions lint mutants bench bench-kafka bench-rabbitmq bench-omb bench-producers bench-pulsar bench-stall bench-ceiling fuzz golden interop probes equal-footing studies verifications clean

help: ## Say what the targets do.
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build, then measure a replicated NATS JetStream cluster for about 40 seconds.
	./$(BIN) run

build: ## Build bin/plimsoll.
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/plimsoll

# Go fetches and builds it once, which takes some minutes.
GORELEASER ?= $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.1
GORELEASE   = VERSION='$(VERSION)' LDFLAGS='$(LDFLAGS)' COMMITTED="$$(git log -1 --format=%ct)" $(GORELEASER) release --clean
# Empty where docker can build images for other platforms.
NO_IMAGE    = $(shell { docker buildx version && docker info; } > /dev/null 2>&1 || echo --skip=docker)
PACKED     := bin/dist
UNPACKED   := bin/unpacked

snapshot: ## Build all files of a release in bin/dist, and the image where docker runs; publish nothing; try what is for this machine.
	@[ -z "$(NO_IMAGE)" ] || echo "NOTE: docker with buildx does not run here, so the container image is NOT built"
	$(GORELEASE) --snapshot $(NO_IMAGE)
	@rm -rf $(UNPACKED) && mkdir -p $(UNPACKED)
	tar -xzf $(PACKED)/plimsoll_$$(uname -s)_$$(uname -m).tar.gz -C $(UNPACKED)
	.ci/try $(UNPACKED)/plimsoll '$(VERSION)'
	@if ! command -v dpkg > /dev/null; then echo "NOTE: no dpkg here, so the Debian package is NOT tried"; \
	else dpkg -x $(PACKED)/plimsoll_$$(dpkg --print-architecture).deb $(UNPACKED) && \
		.ci/try $(UNPACKED)/usr/bin/plimsoll '$(VERSION)'; fi

TAG ?= $(NEWEST)
release: releasable ## Tag this commit with the newest version of CHANGELOG.md and push the tag; .github/workflows/release.yml does the rest.
	@git diff --quiet HEAD || { echo "there are changes that are not committed" >&2; exit 1; }
	git tag --annotate --message 'plimsoll $(TAG)' '$(TAG)'
	git push origin '$(TAG)'

# What a release must have; the newest version of CHANGELOG.md is the tag.
releasable:
	@[ '$(TAG)' = '$(NEWEST)' ] || { \
		echo "the tag is $(TAG), and the newest version in CHANGELOG.md is $(NEWEST): they must be the same" >&2; exit 1; }
	@! sed -n '/^## \[Unreleased\]/,/^## \[[0-9]/p' CHANGELOG.md | grep -q '^- ' || { \
		echo "CHANGELOG.md has lines below [Unreleased]: give them a version and its date" >&2; exit 1; }

publish: VERSION := $(NEWEST)
publish: releasable # What .github/workflows/release.yml runs.
	@mkdir -p bin
	awk -v heading='## [$(NEWEST:v%=%)]' '/^## / { on = index($$0, heading) == 1; next } on' CHANGELOG.md > bin/notes.md
	GORELEASER_CURRENT_TAG='$(TAG)' $(GORELEASE) --release-notes bin/notes.md

# Servers of two packages run side by side, those on Java and the others: most tests of servers wait.
# Meanwhile, what they leave of the cores runs the tests that any speed will do for: those that
# compute, and those on virtual time. Packages that start no goroutine give the race detector, which
# makes code some ten times as slow, nothing to find; truths of many messages skip themselves under
# it, and the command line is tested without.
SERVERS := ./systems/... ./internal/fault ./internal/testbed
VIRTUAL := . ./internal/bench ./internal/peak ./internal/prove ./system/strict ./internal/study ./internal/verify ./result
COMPUTE := ./internal/compare ./internal/omb ./internal/report/... ./internal/stats ./internal/verdict
UNRACED := ./internal/bench ./internal/load ./internal/peak ./internal/prove ./internal/verify
TESTSUM := $(TOOL) gotestsum --format pkgname-and-test-fails --hide-summary skipped
# `make test` has the whole tree vetted first.
GOTEST  := -vet=off -timeout 20m
# What runs at low priority may wait long for a core.
SLOWTEST := -vet=off -timeout 60m
# A library's own race, which nothing here can prevent, is in the file that is named.
RACING  := $(if $(RACE),CGO_ENABLED=1 GORACE=suppressions=$(CURDIR)/systems/pulsar/testdata/races )
# Runs a command where nothing else wants the core.
IDLY    := $(if $(shell command -v chrt),chrt --idle 0,nice -n 19)

test: ## Run every test, with the race detector where there is a C compiler; print the ten slowest.
	@mkdir -p bin && rm -f bin/tests-*.json && date +%s > bin/tests-began
	@[ -n "$(RACE)" ] || echo "NOTE: no C compiler, so these tests run WITHOUT the race detector"
	$(GO) vet ./...
	@$(MAKE) --no-print-directory --keep-going -j 2 test-virtual test-timed
	@echo "The ten slowest tests:"
	@cat bin/tests-*.json | $(TOOL) gotestsum tool slowest --threshold 1s --num 10
	@took=$$(($$(date +%s) - $$(cat bin/tests-began))); echo "All tests took $$((took / 60)) min $$((took % 60)) s."

test-timed: # Tests that need the machine's clock, one part after the other.
	@$(MAKE) --no-print-directory test-clock
	@$(MAKE) --no-print-directory test-servers

test-virtual: ## Run the tests that compute or run on virtual time, at low priority.
	@mkdir -p bin
	$(RACING)$(IDLY) $(TESTSUM) --jsonfile bin/tests-1.json -- $(RACE) -p 2 $(SLOWTEST) $(VIRTUAL)
	$(IDLY) $(TESTSUM) --jsonfile bin/tests-2.json -- -p 2 $(SLOWTEST) $(COMPUTE)
	$(IDLY) $(TESTSUM) --jsonfile bin/tests-8.json -- -p 2 $(SLOWTEST) -run Truth $(UNRACED)

test-clock: ## Run the tests that need the machine's clock, but no servers in other processes.
	@mkdir -p bin
	$(RACING)$(TESTSUM) --jsonfile bin/tests-3.json -- $(RACE) -p 2 $(GOTEST) \
		$$($(GO) list ./... | grep -vxFf <($(GO) list $(SERVERS) $(VIRTUAL) $(COMPUTE) ./command))
	$(TESTSUM) --jsonfile bin/tests-4.json -- $(GOTEST) -parallel 6 -skip RealSystems ./command

test-servers: ## Test every system whose servers are here, and faults (Java, Maven, RabbitMQ, Redis, PostgreSQL, root).
	@$(MAKE) --no-print-directory test-java & java=$$!; native=0; \
		$(MAKE) --no-print-directory test-native || native=$$?; wait $$java && exit $$native
	$(TESTSUM) --jsonfile bin/tests-7.json -- -parallel 2 $(GOTEST) -run RealSystems ./command

# The packages whose servers Maven fetches.
ONJAVA   = $(GO) list -f '{{range .Imports}}{{if eq . "github.com/plimsoll-bench/plimsoll/system/maven"}}{{$$.ImportPath}}{{end}}{{end}}' $(SERVERS)
test-java:
	@mkdir -p bin
	$(RACING)$(TESTSUM) --jsonfile bin/tests-5.json -- $(RACE) -p 1 -parallel 4 $(GOTEST) $$($(ONJAVA))

test-native:
	@mkdir -p bin
	$(RACING)$(TESTSUM) --jsonfile bin/tests-6.json -- $(RACE) -p 1 -parallel 4 $(GOTEST) $$($(GO) list $(SERVERS) | grep -vxFf <($(ONJAVA)))

# A folder with a newer Debian, for newer servers: CONTRIBUTING.md says how to make it.
CURRENT ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/debian13
test-current: ## Test the drivers of RabbitMQ, Redis and PostgreSQL on the servers of a newer Debian (root, and its folder in CURRENT).
	@test -x $(CURRENT)/usr/bin/strace || { echo "$(CURRENT) is no Debian with strace: CONTRIBUTING.md says how to make it"; exit 2; }
	@for name in rabbitmq redis postgres; do \
		folder=$(CURRENT)/work/$$name; rm -rf $$folder && mkdir -p $$folder && \
		CGO_ENABLED=0 $(GO) test -c -o $$folder/tests ./systems/$$name && \
		cp -r systems/$$name/. $$folder && \
		chroot $(CURRENT) env HOME=/root sh -c "cd /work/$$name && ./tests -test.parallel 4 -test.timeout 20m" || failed="$$failed $$name"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# The folder with Kubernetes' programs: docs/KUBERNETES.md says what is in it.
KUBERNETES ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/kubernetes
test-kubernetes: ## Run a fleet on a real Kubernetes on this machine (root, and Kubernetes' programs in KUBERNETES).
	PLIMSOLL_KUBERNETES=$(KUBERNETES) $(GO) test -run RealKubernetes -v -count 1 -timeout 15m ./internal/kubernetes

test-partitions: ## Cut a worker of a fleet off at 20 random moments (root; about two minutes).
	$(GO) test -run TestWorkerIsCutOff -v -count 1 -timeout 20m ./command -partitions 20

lint: ## Run the linters pinned in tools/go.mod, and compile everything for macOS.
	$(GO) mod tidy -diff
	$(TOOL) golangci-lint run ./...
	GOOS=darwin GOARCH=arm64 $(GO) build -trimpath ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet -trimpath ./...

# What judges and what counts. SAMPLE tries so many changes of each package instead of all.
MUTATE ?= ./internal/verdict ./internal/compare ./internal/measure ./result ./internal/load
SAMPLE ?= 0
mutants: ## Change the packages in MUTATE in small ways, one at a time: a test of theirs must notice each, unless it is listed (about an hour).
	$(GO) run ./internal/mutants -sample $(SAMPLE) $(MUTATE)

bench: ## Run the benchmarks that BENCHMARKS.md quotes.
	$(GO) test -run '^$$' -bench . -count 5 ./internal/load ./system/clock

bench-kafka: ## Compare our CPU per message with that of Kafka's own tools, five times in turn (needs Java and Maven).
	$(GO) test -run '^$$' -bench KafkaTools -benchtime 1x -timeout 30m ./command

bench-rabbitmq: ## The same beside RabbitMQ PerfTest (needs Java, Maven and RabbitMQ's server).
	$(GO) test -run '^$$' -bench RabbitMQTools -benchtime 1x -timeout 30m ./command

bench-pulsar: ## The same beside pulsar-perf (needs Java and Maven).
	$(GO) test -run '^$$' -bench PulsarTools -benchtime 1x -timeout 30m ./command

bench-producers: ## The same beside pgbench, redis-benchmark and nats bench, which only send; a tool that is missing is named and left out.
	$(GO) test -run '^$$' -bench Producers -benchtime 1x -timeout 60m ./command

bench-omb: ## The same beside the OpenMessaging Benchmark on Kafka, whose build OMB_HOME names (docs/OMB.md; needs Java and Maven).
	$(GO) test -run '^$$' -bench OMB -benchtime 1x -timeout 60m ./command

bench-stall: ## Compare what plimsoll, PerfTest and pulsar-perf print about a second in which all servers stand still.
	$(GO) test -run '^$$' -bench Stall -benchtime 1x -timeout 30m ./command

bench-ceiling: ## Search for the highest rate that one process offers, on one core and on all (about ten minutes; needs taskset).
	$(GO) test -run '^$$' -bench Ceiling -benchtime 1x -timeout 60m ./command

fuzz: ## Fuzz every parser for a minute each.
	@grep -rl --include='*_test.go' 'func Fuzz' . | while read file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' $$file); do \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s -fuzzminimizetime 10x $$(dirname $$file) || exit 1; \
		done; \
	done

# The rooms of internal/report that have golden files.
GOLDEN := $(patsubst %/testdata,./%,$(wildcard internal/report/*/testdata))

golden: ## Rewrite the golden files; read the difference before you commit it.
	$(GO) test ./internal/document $(GOLDEN) ./internal/probe ./system/strict ./workload ./target ./internal/omb ./internal/study ./internal/kubernetes ./systems ./command . -update

interop: ## Have the Java HdrHistogram read our log, and write its output as golden files (needs Java and Maven).
	$(GO) test -run Java ./result -update

# Each of these is broken at the highest durability level that it has here.
HIGHEST := postgres-queue postgres-log rocketmq artemis-pair artemis-mirror artemis-zookeeper \
	activemq-leveldb activemq-kahadb sqs mongodb nsq mqtt

PROBED := internal/probe/observed.json
probes: build ## Try every probe on every system, and rewrite docs/results/PROBES.md (about 15 minutes; needs Java, Maven, RabbitMQ, Redis and PostgreSQL).
	./$(BIN) probe --json -t all > bin/probed.json
	mv bin/probed.json $(PROBED)
	./$(BIN) probe --from $(PROBED) --markdown > docs/results/PROBES.md

EQUAL := runs/equal-footing
PART  ?= level 1
equal-footing: build ## Measure a PART of equal footing (PART="level 1": its systems, in less than 150 minutes), go on where it ended, and rewrite docs/results/EQUAL-FOOTING.md (needs Java, Maven, RabbitMQ, Redis and PostgreSQL, and nothing running beside it).
	@# Exit code 1: a cell failed, and the document says so.
	resume=; ! ls $(EQUAL)/*-study-* > /dev/null 2>&1 || resume=--resume; \
		./$(BIN) study run equal-footing --scale brief --only "$(PART)" --runs $(EQUAL) $$resume > /dev/null || [ $$? -eq 1 ]
	./$(BIN) report -f md $$(ls -d $(EQUAL)/*-study-* | tail -1) > bin/EQUAL-FOOTING.md
	./$(BIN) report -f card $$(ls -d $(EQUAL)/*-study-* | tail -1) > docs/results/equal-footing.svg
	mv bin/EQUAL-FOOTING.md docs/results/EQUAL-FOOTING.md

STUDIES ?= confluent-2020 streamnative-2020 softwaremill-2017 ufcg-2020
STUDIED := runs/studies
studies: build ## Run the published STUDIES at smoke scale, resume where possible, and rewrite their pages in docs/results (17 to 45 minutes each; needs Java, Maven and RabbitMQ, and nothing running beside it).
	@# Exit code 1: a cell failed, and the page says so. Any other failure stops here; the next make resumes.
	for study in $(STUDIES); do \
		resume=; ! ls $(STUDIED)/$$study/*-study-* > /dev/null 2>&1 || resume=--resume; \
		./$(BIN) study run $$study --scale smoke --runs $(STUDIED)/$$study $$resume > /dev/null || [ $$? -eq 1 ] || exit 1; \
		./$(BIN) report -f md $$(ls -d $(STUDIED)/$$study/*-study-* | tail -1) > bin/$$study.md || exit 1; \
		mv bin/$$study.md docs/results/$$study.md; \
	done

VERIFIED := runs/verified
ROUNDS   := 1
VERIFY    = ./$(BIN) verify --matrix --warm 0s --rounds $(ROUNDS) --duration 12s --rate 200/s --runs $(VERIFIED)
verifications: build ## Break servers of every system at the levels that hold copies, and rewrite docs/results/VERIFY.md (about two and a half hours for each of ROUNDS, on servers that are not warmed up: it asks what is lost, not how fast; needs root, Java, Maven, RabbitMQ, Redis and PostgreSQL).
	@# Exit code 1: a promise was broken, or could not be told, which the document says.
	for level in 1 2; do \
		$(VERIFY) --durability $$level -t nats -t kafka -t pulsar -t redis \
			-t rabbitmq-quorum -t rabbitmq-mirrored > /dev/null || [ $$? -eq 1 ] || exit 1; \
	done
	$(VERIFY) --durability 3 -t rabbitmq-classic > /dev/null || [ $$? -eq 1 ]
	$(VERIFY) --durability 1 --or-weaker $(addprefix -t ,$(HIGHEST)) > /dev/null || [ $$? -eq 1 ]
	./$(BIN) report -f md $(VERIFIED)/*-verify-* > bin/VERIFY.md
	mv bin/VERIFY.md docs/results/VERIFY.md

clean: ## Remove what was built; runs are yours to remove.
	rm -rf bin
