package command

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// BenchmarkCeiling searches for the highest rate that one plimsoll process offers and receives,
// with two producers and two consumers: to the simulated system, which answers at once, and to
// kfake, Kafka servers that store nothing on disk and share the cores with plimsoll. One core gives
// the slope. What limited the rate is logged.
func BenchmarkCeiling(b *testing.B) {
	targets := map[string]string{
		"sim": "system: sim\nsettings: {service_time: 0s}\n",
		"kafka": fmt.Sprintf("system: kafka\nendpoints: [%s]\n"+
			"settings: {linger: 5ms}\n", strings.Join(pretendKafka(b), ", ")),
	}
	for _, system := range []string{"sim", "kafka"} {
		for _, size := range []string{"100B", "1KB"} {
			for cores := 1; cores <= runtime.NumCPU(); cores *= 2 {
				b.Run(fmt.Sprintf("%s/%s/cores=%d", system, size, cores), func(b *testing.B) {
					searchCeiling(b, targets[system], size, cores)
				})
			}
		}
	}
}

// pretendKafka starts kfake on loopback, and returns the addresses of its brokers.
func pretendKafka(b *testing.B) []string {
	b.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

// searchCeiling runs a search in a process of its own on some of the cores, and reports the lower
// end of its bracket.
func searchCeiling(b *testing.B, target, size string, cores int) {
	load := fmt.Sprintf("name: ceiling\npartitions: 12\nproducers: 2\nconsumers: 2\n"+
		"message: {size: %s}\nload: {rate: 50k/s}\nwarmup: 1s\nduration: 3s\ndurability: 4\n", size)
	dir := inDir(b, map[string]string{"load.yaml": load, "whom.yaml": target})
	search := self(b, dir, "peak", "-w", "load.yaml", "-t", "whom.yaml", "--trial", "3s",
		"--confirm", "0", "--tolerance", "10%", "--warm", "2s", "--max-time", "90s")
	cmd := exec.Command("taskset", append([]string{"-c", fmt.Sprintf("0-%d", cores-1)},
		search.Args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("plimsoll peak: %v\n%s", err, out)
	}
	saved, err := peak.Folders.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%s; %s", saved.Sentence(), saved.Reason)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(saved.Bracket.StableRate, "msgs/s")
}
