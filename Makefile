# What one does with the project. Each target says more in the script of its name.
.PHONY: help run test check bench bench-quick chaos rehearse fuzz sanitize build release clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## the whole gateway on this machine, with phones to send to; DATABASE_URL=… for Postgres, PORT=… for its port
	@scripts/run

test: ## all tests, with what they need
	@scripts/test

check: ## format, lint, imports, shell scripts
	@scripts/toolchain
	@scripts/packages --test
	@scripts/check

bench: ## figures beside yardsticks, forty minutes
	@scripts/bench --out docs/benchmarks

bench-quick: ## the same once and briefly: that it works, not how fast
	@scripts/bench --quick

fuzz: ## made-up inputs for whatever reads foreign bytes; FUZZ_SECONDS=… for each target
	@scripts/fuzz

sanitize: ## the tests under a sanitizer; ARGS=address or ARGS=thread
	@scripts/sanitize $(ARGS)

chaos: ## kills the programs under load and counts what was lost; ARGS="--store sqlite --cycles 100"
	@scripts/chaos $(ARGS)

rehearse: ## a rollout and its way back under load, on this machine; OLD=COMMIT for another build to begin with
	@scripts/rehearse $(ARGS)

build: ## a debug build
	@scripts/toolchain
	@scripts/packages
	@swift build

release: ## the programs for production, Swift's runtime inside, under .build/release
	@scripts/toolchain
	@scripts/packages
	@for program in api worker janitor pushhost; do swift build -c release --static-swift-stdlib --product $$program || exit; done

clean: ## removes what was built, run and set up
	@rm -rf .build .venv run
