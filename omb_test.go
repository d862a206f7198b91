package plimsoll_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// ombFile is a workload of OMB: a row of the figures of its 130 files of January 2026.
type ombFile map[string]string

func (f ombFile) number(t *testing.T, column string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(f[column], 10, 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", column, f["file"], err)
	}
	return n
}

// yaml returns the file as OMB reads it.
func (f ombFile) yaml() []byte {
	payload := "payloadFile: payload.data\n"
	if f["pool"] != "0" {
		payload = "useRandomizedPayloads: true\nrandomBytesRatio: 0.5\n" +
			"randomizedPayloadPoolSize: " + f["pool"] + "\n"
	}
	var b strings.Builder
	for _, key := range [][2]string{
		{"topics", "topics"}, {"partitionsPerTopic", "partitions"}, {"messageSize", "bytes"},
		{"subscriptionsPerTopic", "subscriptions"}, {"producersPerTopic", "producers"},
		{"consumerPerSubscription", "consumers"}, {"producerRate", "rate"},
		{"consumerBacklogSizeGB", "backlogGB"}, {"testDurationMinutes", "minutes"},
	} {
		fmt.Fprintf(&b, "%s: %s\n", key[0], f[key[1]])
	}
	return []byte(b.String() + payload)
}

func ombFiles(t *testing.T) (all []ombFile) {
	t.Helper()
	file, err := os.Open("internal/omb/testdata/upstream.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) != 131 {
		t.Fatalf("%d rows, want a title and 130 files: %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		f := ombFile{}
		for i, column := range rows[0] {
			f[column] = row[i]
		}
		all = append(all, f)
	}
	return all
}

// memoryOf is the maximum memory of plimsoll for a workload, divided among a number of workers.
func memoryOf(w *workload.Workload, workers int) int64 {
	job := bench.Job{
		Workload: w, Target: &target.Target{Name: "sim"}, System: sim.New(nil, nil),
		Workers: workers,
	}
	return job.Estimate().MemoryBytes
}

// ombKind counts OMB's files with the same translation.
type ombKind struct {
	files int
	most  int64 // memory of the largest
}

// docs/OMB-WORKLOADS.md has the translation of each of OMB's own workload files.
func TestOMBFilesAreInTheTable(t *testing.T) {
	const usual = 10_000 // topics
	kinds := make([]ombKind, 4)
	crowds := make(map[int]*workload.Workload) // the largest of each number of topics
	var backlogs strings.Builder
	for _, f := range ombFiles(t) {
		w, _, err := omb.ParseWorkload(f["file"]+".yaml", f.yaml(), omb.Given{})
		if err != nil {
			if rate := f.number(t, "rate"); rate != 0 && rate < 10_000_000 ||
				!strings.Contains(err.Error(), "plimsoll peak -w") {
				t.Errorf("%s is refused: %v", f["file"], err)
			}
			kinds[0].files++
			continue
		}
		at := 1
		switch {
		case w.Backlog != nil:
			at = 2
			fmt.Fprintf(&backlogs, "| %s | `backlog: %s` |\n", f["file"], w.Backlog)
		case w.Topics > usual:
			at = 3
			if was := crowds[w.Topics]; was == nil || memoryOf(was, 1) < memoryOf(w, 1) {
				crowds[w.Topics] = w
			}
		}
		kinds[at].files++
		kinds[at].most = max(kinds[at].most, memoryOf(w, 1))
	}
	inDocument(t, "docs/OMB-WORKLOADS.md", "files", ombTable(kinds)+
		"\n| file with a backlog | becomes |\n|---|---|\n"+backlogs.String()+
		"\n"+crowdTable(crowds))
}

func ombTable(kinds []ombKind) string {
	upTo := func(k ombKind) string { return "up to " + quantity.Bytes(k.most) }
	return "| files | what they ask for | command | memory of plimsoll |\n" +
		"|---|---|---|---|\n" +
		fmt.Sprintf("| %d | the greatest rate (producerRate 0, or 10,000,000 and more) | "+
			"`plimsoll peak -w FILE`; `run` with `--rate` | |\n", kinds[0].files) +
		fmt.Sprintf("| %d | a rate, and up to 10,000 topics | `run` as they are | %s |\n",
			kinds[1].files, upTo(kinds[1])) +
		fmt.Sprintf("| %d | a backlog | `run` as they are | %s |\n", kinds[2].files,
			upTo(kinds[2])) +
		fmt.Sprintf("| %d | 50,000 to 1,000,000 topics | `run` if the memory suffices | %s |\n",
			kinds[3].files, upTo(kinds[3]))
}

func crowdTable(crowds map[int]*workload.Workload) string {
	var b strings.Builder
	b.WriteString("| topics | clients | memory of one process | of each of four workers |\n" +
		"|---|---|---|---|\n")
	var topics []int
	for n := range crowds {
		topics = append(topics, n)
	}
	slices.Sort(topics)
	for _, n := range topics {
		w := crowds[n]
		clients := n * (w.Producers + w.Subscriptions*w.Consumers)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", quantity.Count(int64(n)),
			quantity.Count(int64(clients)), quantity.Bytes(memoryOf(w, 1)),
			quantity.Bytes(memoryOf(w, 4)))
	}
	return b.String()
}
