package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/plimsoll-bench/plimsoll/internal/maven"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems/kafka"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// What both sides are asked to do: 1 KB messages to 12 partitions, acks=all,
// idempotent, batches of 5 ms or 1 MB, not compressed; one producer and one
// consumer. CPU is taken over a window in which both have long been warm.
const (
	perfRate       = 20_000
	perfWarmup     = 10 * time.Second
	perfWindow     = 15 * time.Second
	perfTail       = 2 * time.Second // of load beyond the window
	perfPartitions = 12
	perfLinger     = 5 // ms
	perfBatch      = 1 << 20
	perfTrials     = 5 // at least; -benchtime 7x makes it 7
)

// perfTools are Kafka's own tools, of the same release as the brokers.
var perfTools = maven.Artifacts{
	Name:        "kafka-tools-4.3.1",
	Coordinates: []string{"org.apache.kafka:kafka-tools:4.3.1", "org.slf4j:slf4j-simple:1.7.36"},
}

// BenchmarkKafkaTools compares the CPU that plimsoll takes for a message, from
// producing it to receiving it with everything recorded, with that of
// kafka-producer-perf-test and kafka-consumer-perf-test on the same cluster, in
// alternating runs.
func BenchmarkKafkaTools(b *testing.B) {
	if err := maven.Available(); err != nil {
		b.Skipf("%s needs Java and Maven: %v", b.Name(), err)
	}
	jars, err := perfTools.Fetch(b.Context(), func(s string) { b.Log(s) })
	if err != nil {
		b.Fatal(err)
	}
	p := perf{B: b, dir: b.TempDir(), classpath: maven.Classpath(jars)}
	p.startCluster()
	var ours, theirs []float64
	for trial := range max(b.N, perfTrials) {
		ours = append(ours, p.plimsoll())
		theirs = append(theirs, p.tools(fmt.Sprintf("perf-%d", trial)))
		b.Logf("trial %d: plimsoll %.2f us of CPU per message, Kafka's tools %.2f", trial+1, ours[trial], theirs[trial])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), "plimsoll-us/msg")
	b.ReportMetric(median(theirs), "tools-us/msg")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

type perf struct {
	*testing.B
	dir       string
	classpath string
	endpoints []string
	cluster   system.Cluster
}

func (p *perf) startCluster() {
	p.Helper()
	k := kafka.New()
	settings, err := system.Resolve(k.Describe().Settings, []target.Setting{{Name: "security", Value: "plaintext"}})
	if err != nil {
		p.Fatal(err)
	}
	bed, err := testbed.Up(p.Context(), testbed.Options{
		Base: p.dir, Provisioner: k.(system.Provisioner),
		Provision: system.Provision{Nodes: 3, LogDir: filepath.Join(p.dir, "logs"), Durability: workload.SyncAsync, Settings: settings},
	})
	if err != nil {
		p.Fatal(err)
	}
	p.endpoints = bed.Cluster().Endpoints()
	p.cluster, err = k.Connect(p.Context(), system.Options{Endpoints: p.endpoints, Settings: settings, Durability: workload.SyncAsync})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := p.cluster.Close(ctx); err != nil {
			p.Error(err)
		}
		if err := bed.Close(ctx); err != nil {
			p.Error(err)
		}
	})
}

// plimsoll runs the load with plimsoll and returns the CPU per message, in us.
func (p *perf) plimsoll() float64 {
	p.Helper()
	files := map[string]string{
		"perf.yaml": fmt.Sprintf("name: perf\npartitions: %d\nproducers: 1\nconsumers: 1\nload: {rate: %d/s}\nwarmup: %s\nduration: %s\ndurability: 2\n",
			perfPartitions, perfRate, perfWarmup, perfWindow+perfTail),
		"kafka.yaml": fmt.Sprintf("system: kafka\nendpoints: [%s]\nsettings: {linger: %dms, batch_size: %d}\n", strings.Join(p.endpoints, ", "), perfLinger, perfBatch),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
			p.Fatal(err)
		}
	}
	path, err := exec.LookPath("plimsoll")
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(path, "run", "-w", "perf.yaml", "-t", "kafka.yaml", "--json")
	cmd.Dir = p.dir
	var out bytes.Buffer
	cmd.Stdout = &out
	talk, err := cmd.StderrPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	spent := 0.0
	for lines := bufio.NewScanner(talk); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "measure: every message") {
			spent = p.spentOver(cmd.Process.Pid)
		}
	}
	if err := cmd.Wait(); err != nil || spent == 0 {
		p.Fatalf("plimsoll run: %v\n%s", err, out.String())
	}
	return perMessage(spent)
}

// tools runs the load with Kafka's own tools, side by side.
func (p *perf) tools(topic string) float64 {
	p.Helper()
	if err := p.cluster.CreateTopic(p.Context(), system.Topic{Name: topic, Partitions: perfPartitions}); err != nil {
		p.Fatal(err)
	}
	count := strconv.Itoa(int(perfRate * (perfWarmup + perfWindow + perfTail).Seconds()))
	servers := strings.Join(p.endpoints, ",")
	consumer := p.java("ConsumerPerformance", "--bootstrap-server", servers, "--topic", topic, "--num-records", count, "--timeout", "30000")
	producer := p.java("ProducerPerformance", "--bootstrap-server", servers, "--topic", topic, "--num-records", count,
		"--record-size", "1024", "--throughput", strconv.Itoa(perfRate), "--command-property",
		fmt.Sprintf("linger.ms=%d", perfLinger), fmt.Sprintf("batch.size=%d", perfBatch), "acks=all", "enable.idempotence=true",
		"partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner")
	time.Sleep(perfWarmup)
	spent := p.spentOver(producer.Process.Pid, consumer.Process.Pid)
	for _, cmd := range []*exec.Cmd{producer, consumer} {
		if err := cmd.Wait(); err != nil {
			p.Fatalf("%v: %v\n%s", cmd.Args, err, cmd.Stdout)
		}
	}
	return perMessage(spent)
}

// java starts one of the tools, with the heap and the collector that Kafka's
// scripts give it.
func (p *perf) java(tool string, args ...string) *exec.Cmd {
	p.Helper()
	path, err := maven.Java()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"-Xmx512M", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-cp", p.classpath, "org.apache.kafka.tools." + tool}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// spentOver is the CPU seconds, user and system, that processes spend over the
// window that begins now.
func (p *perf) spentOver(pids ...int) float64 {
	p.Helper()
	before := p.spent(pids)
	time.Sleep(perfWindow)
	return p.spent(pids) - before
}

func (p *perf) spent(pids []int) float64 {
	p.Helper()
	total := 0.0
	for _, pid := range pids {
		proc, err := procfs.NewProc(pid)
		if err != nil {
			p.Fatal(err)
		}
		stat, err := proc.Stat()
		if err != nil {
			p.Fatal(err)
		}
		total += stat.CPUTime()
	}
	return total
}

func perMessage(cpuSeconds float64) float64 {
	return cpuSeconds / (perfRate * perfWindow.Seconds()) * 1e6
}
