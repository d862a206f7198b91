package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

// BenchmarkCeiling searches for the highest rate that one plimsoll process offers and receives, with
// two producers and two consumers: to the simulated system, which answers at once, and to kfake, a
// Kafka server that stores nothing on disk and shares the cores with plimsoll. GOMAXPROCS of 1 gives the
// slope. Another limit than plimsoll itself is logged.
func BenchmarkCeiling(b *testing.B) {
	targets := map[string]string{
		"sim": "system: sim\nsettings: {service_time: 0s}\n",
		"kafka": fmt.Sprintf("system: kafka\nendpoints: [%s]\n"+
			"settings: {security: plaintext, linger: 5ms}\n", strings.Join(pretendKafka(b), ", ")),
	}
	for _, system := range []string{"sim", "kafka"} {
		for _, size := range []string{"100B", "1KB"} {
			for procs := 1; procs <= runtime.NumCPU(); procs *= 2 {
				b.Run(fmt.Sprintf("%s/%s/procs=%d", system, size, procs), func(b *testing.B) {
					searchCeiling(b, targets[system], size, procs)
				})
			}
		}
	}
}

// pretendKafka starts kfake on loopback, and returns the addresses of its brokers.
func pretendKafka(b *testing.B) []string {
	b.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

// searchCeiling runs a search in a process of its own, and reports the lower end of its bracket.
func searchCeiling(b *testing.B, target, size string, procs int) {
	dir := b.TempDir()
	load := fmt.Sprintf("name: ceiling\npartitions: 12\nproducers: 2\nconsumers: 2\n"+
		"message: {size: %s}\nload: {rate: 50k/s}\nwarmup: 1s\nduration: 3s\ndurability: 4\n", size)
	for name, content := range map[string]string{"load.yaml": load, "whom.yaml": target} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	path, err := exec.LookPath("plimsoll")
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(path, "peak", "-w", "load.yaml", "-t", "whom.yaml", "--trial", "3s",
		"--confirm", "0", "--tolerance", "10%", "--warm", "2s", "--max-time", "90s")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("plimsoll peak: %v\n%s", err, out)
	}
	saved, err := peak.Read(filepath.Join(dir, "runs", result.LatestLink))
	if err != nil {
		b.Fatal(err)
	}
	b.Log(saved.Sentence())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(saved.Bracket.StableRate, "msgs/s")
}
