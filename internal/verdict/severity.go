package verdict

import (
	"cmp"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Codes of warnings that name no verdict.
const (
	// Incomparable is the code of a reason not to rank runs against one another. Comparable
	// returns warnings with codes of their own, all of this severity.
	Incomparable = "incomparable"
	// CodeSharedHost is the code of the warning SharedHost.
	CodeSharedHost = "shared_host"
	// CodeIdle is the code of the warning that consumers received nothing.
	CodeIdle = "idle_consumers"
	// CodeRunning is the code of the warning that a run has not ended.
	CodeRunning     = "running"
	codeFailed      = "failed"
	codeIncomplete  = "incomplete"
	codeInterrupted = "interrupted"
	codeCensored    = "censored"
	codeUnread      = "unread"
	codeClosedLoop  = "closed_loop"
	codeStandIn     = "stand_in"
	codeImported    = "imported"
	codePageCache   = "page_cache"
	codePeriods     = "periods"
	codeLogging     = "logging"
	codeLeftOut     = "fault_left_out"
	// codeCopies is the code of duplicates that the delivery of the run allows.
	codeCopies = "duplicates_allowed"
)

// bySeverity has the codes of warnings and the names of verdicts, the gravest first. Every place
// that has room for some of them only shows the first ones. Codes that it lacks come before those
// of benign.
var bySeverity = []string{
	Loss, codeFailed, codeIncomplete, CodeRunning, Failures, codeCensored, codeUnread,
	Duplicates, Aborted, Transactions, Redelivery, Durability, CatchUp, Servers,
	Order, Counts,
	Rolling, Resized, Discovered, codeLeftOut, codeInterrupted, Incomparable, codeImported,
	codeClosedLoop, codeStandIn, codeLogging, Rate, Receiving, Generator, Steady, Trends,
	codeCopies,
}

// benign has the codes that hold for most runs on one machine, the gravest first.
var benign = []string{NoisyMachine, codeDiskWait, CodeSharedHost, codePeriods, codePageCache}

// Severity returns the place of a code or of a verdict's name among all, 0 being the gravest.
func Severity(code string) int {
	if at := slices.Index(bySeverity, code); at >= 0 {
		return at
	}
	if at := slices.Index(benign, code); at >= 0 {
		return len(bySeverity) + 1 + at
	}
	return len(bySeverity)
}

// BySeverity sorts warnings, the gravest first. Warnings of one severity keep their order.
func BySeverity(all []result.Warning) {
	slices.SortStableFunc(all, func(a, b result.Warning) int {
		return cmp.Compare(Severity(a.Code), Severity(b.Code))
	})
}
