// Package peak finds the highest rate that a system carries over time: its peak stable throughput,
// as a bracket between a confirmed stable rate and an unstable rate.
//
// It promises that every trial is a whole run in its own directory, judged by internal/verdict;
// that the search is a pure function of its trials' outcomes (Search), makes at most the planned
// number of trials, and says why it ended; and that its state is on disk after each trial
// (experiment.json), so that a stopped search keeps its findings.
//
// It judges no run itself and shows nothing (internal/report). A bracket is of one
// workload, one cluster, one machine and one hour; it does not show how much the peak
// differs from day to day.
//
// # The search
//
// A search makes at most 20 trials: about ten find the bracket, the others repeat both
// of its ends. All run on one cluster that the search owns (bench.Job.Cluster), with
// new topics and connections. An overloaded trial stops handing over soon after its
// window and drains what it handed over, so the next trial begins with nothing
// waiting.
//
// Plan.Curve adds up to six trials below and above the peak, once it is found. They show
// latency over the offered rate, and the bracket does not depend on them.
//
// # Doubt
//
// When the bracket is narrow enough, its ends are tried again in turn, in longer runs: the stable
// end until it is confirmed as often as planned, the unstable end as often, and at least once. A
// rate that was stable in one run and not in another lies within the bracket (Bracket.MixedRate),
// so the bracket is as wide as the evidence requires, and the search continues beyond that rate.
// So does a rate whose objective could not be decided, because the latency is nearer to the bound
// than the run's own variation. A trial that failed although no messages piled up is repeated
// once, and the second outcome counts. A limit that was seen on a noisy machine, or in a run that
// plimsoll limited, is tried again after two consecutive stable trials below it, and is forgotten
// if it is stable then. model_test.go checks the share of brackets that contain the truth.
package peak
