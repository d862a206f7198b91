package kubernetes

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	imageName = "docker.io/library/plimsoll:test"
	javaImage = "docker.io/library/plimsoll-java:test"
	workload  = `name: fleet
partitions: 4
producers: 4
consumers: 4
load: {rate: 2k/s}
warmup: 2s
duration: 8s
durability: 2
`
	target = `system: nats
endpoints: [%s]
credentials: {user_env: APP, password_env: PASSWORD, admin_user_env: ADMIN, admin_password_env: PASSWORD}
`
	secret = `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "broker"},
		"stringData": {"APP": "app", "ADMIN": "admin", "PASSWORD": %q}}`
	password = "only-for-the-broker"
)

// A fleet on a real Kubernetes: applied, complete, fetched, reported, deleted; a worker's pod that
// is deleted; and a limit of CPU that is the limit of the run.
func TestRealKubernetes(t *testing.T) {
	tools := findTools(t)
	plimsoll := build(t)
	raw, err := os.ReadFile(plimsoll)
	if err != nil {
		t.Fatal(err)
	}
	archive, java := filepath.Join(t.TempDir(), "plimsoll.tar"), filepath.Join(t.TempDir(),
		"java.tar")
	built := map[string][]byte{"/src/bin/plimsoll": raw, "/etc/ssl/certs/ca-certificates.crt": nil}
	readDockerfile(t).save(t, imageName, archive, built)
	readDockerfile(t).withKafka(t).save(t, javaImage, java, built)
	began := time.Now()
	c := start(t, tools, archive, java)
	t.Logf("the cluster was there after %s", time.Since(began).Round(100*time.Millisecond))
	broker := serve(t)
	c.kubectl(t, fmt.Appendf(nil, secret, password), "apply", "-f", "-")
	f := &experiments{c, plimsoll, broker}
	t.Run("a run, unattended", f.unattended)
	t.Run("a worker's pod is deleted", f.deleted)
	t.Run("a limit of CPU", f.throttled)
	t.Run("servers on hosts", func(t *testing.T) {
		f.hosted(t, "nats", imageName, "400m", "256Mi")
	})
	t.Run("servers on Java", func(t *testing.T) {
		f.hosted(t, "kafka", javaImage, "700m", "1Gi")
	})
}

// build builds plimsoll as the Dockerfile does.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plimsoll")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program,
		"../../cmd/plimsoll")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building plimsoll: %v: %s", err, out)
	}
	return program
}

// serve is a cluster of three servers on this machine, which pods reach. It returns their
// endpoints.
func serve(t *testing.T) string {
	t.Helper()
	var routes, endpoints []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		routes = append(routes, l.Addr().String())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var all []*server.Server
	for i, route := range routes {
		options := &server.Options{Host: outside, Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
		config := filepath.Join(t.TempDir(), "server.conf")
		write(t, config, fmt.Sprintf(`server_name: n%d
jetstream {store_dir: %q}
cluster {name: c, listen: %q, routes: [%s]}
system_account: SYS
accounts {
  SYS {users: [{user: admin, password: %q}]}
  APP {jetstream: enabled, users: [{user: app, password: %[5]q}]}
}`, i, t.TempDir(), route, "nats://"+strings.Join(routes, ", nats://"), password))
		if err := options.ProcessConfigFile(config); err != nil {
			t.Fatal(err)
		}
		s, err := server.NewServer(options)
		if err != nil {
			t.Fatal(err)
		}
		go s.Start()
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("a server does not listen")
		}
		all, endpoints = append(all, s), append(endpoints, s.Addr().String())
	}
	for deadline := time.Now().Add(30 * time.Second); !slices.ContainsFunc(all, func(
		s *server.Server,
	) bool {
		return s.JetStreamIsLeader() && s.JetStreamIsCurrent()
	}); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the servers have no leader")
		}
	}
	return strings.Join(endpoints, ", ")
}

// experiments applies manifests and fetches results.
type experiments struct {
	*cluster
	plimsoll, broker string
}

// apply applies the manifest of a fleet of two workers, and returns it.
func (f *experiments) apply(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	return f.applyTarget(t, name, fmt.Sprintf(target, f.broker), append([]string{"--image",
		imageName}, args...)...)
}

func (f *experiments) applyTarget(t *testing.T, name, target string, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "w.yaml"), workload)
	write(t, filepath.Join(dir, "t.yaml"), target)
	f.volume(t, name, name, "node1")
	cmd := exec.Command(f.plimsoll, append([]string{"fleet", "manifest", "-w",
		filepath.Join(dir, "w.yaml"), "-t", filepath.Join(dir, "t.yaml"), "--workers", "2",
		"--name", name, "--storage", "1Gi", "--storage-class", name, "--secret", "broker",
		"--cpu", "500m", "--memory", "256Mi", "--coordinator-cpu", "500m",
		"--coordinator-memory", "256Mi"}, args...)...)
	cmd.Stderr = os.Stderr
	manifest, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	f.kubectl(t, manifest, "apply", "--dry-run=server", "--validate=strict", "-f", "-")
	t.Log(f.kubectl(t, manifest, "apply", "-f", "-"))
	return manifest
}

// volume makes a volume on a node, as a cluster's own storage would do.
func (f *experiments) volume(t *testing.T, name, class, node string) {
	t.Helper()
	folder := filepath.Join(f.run, "disk-"+name)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	f.kubectl(t, fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "PersistentVolume",
		"metadata": {"name": %q}, "spec": {"storageClassName": %q, "capacity": {"storage": "1Gi"},
		"accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
		"local": {"path": %q}, "nodeAffinity": {"required": {"nodeSelectorTerms": [
		{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In",
		"values": [%q]}]}]}}}}`, name, class, folder, node), "apply", "-f", "-")
}

// fetch brings the results home, and returns the only run and its report.
func (f *experiments) fetch(t *testing.T, name string) (run result.Run, report string) {
	t.Helper()
	f.kubectl(t, nil, "rollout", "status", "--timeout=60s", "deployment/"+name+"-reader")
	packed := f.kubectl(t, nil, "exec", "deployment/"+name+"-reader", "--", "/plimsoll", "fleet",
		"pack", RunsFolder)
	home := t.TempDir()
	for file, text := range unpack(t, []byte(packed)) {
		if !strings.HasSuffix(file, "/") && !strings.HasPrefix(text, "-> ") {
			write(t, filepath.Join(home, file), text)
		}
	}
	all, err := filepath.Glob(filepath.Join(home, "*", "run.json"))
	if err != nil || len(all) != 1 {
		t.Fatalf("fetched %v, %v", all, err)
	}
	raw, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &run); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(f.plimsoll, "report", "-f", "table", filepath.Dir(all[0])).Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	return run, string(out)
}

// ends waits until jobs are over, and holds how they ended.
func (f *experiments) ends(t *testing.T, how string, jobs ...string) {
	t.Helper()
	for _, job := range jobs {
		var ended string
		f.until(t, "the end of "+job, func() bool {
			conditions := strings.Fields(f.kubectl(t, nil, "get", "job/"+job, "-o",
				"jsonpath={.status.conditions[*].type}"))
			for _, ended = range []string{"Complete", "Failed"} {
				if slices.Contains(conditions, ended) {
					return true
				}
			}
			return false
		})
		if ended != how {
			t.Fatalf("%s: %s, want %s: %s", job, ended, how, f.kubectl(t, nil, "logs", "job/"+job))
		}
	}
}

// end deletes the objects of a manifest, and checks that none is left.
func (f *experiments) end(t *testing.T, name string, manifest []byte) {
	t.Helper()
	f.kubectl(t, manifest, "delete", "--timeout=60s", "-f", "-")
	f.until(t, "the end of the pods", func() bool {
		return f.kubectl(t, nil, "get", "all,secret,configmap,pvc,networkpolicy", "-o", "name", "-l",
			"app.kubernetes.io/instance="+name) == ""
	})
}

func (f *experiments) unattended(t *testing.T) {
	began := time.Now()
	manifest := f.apply(t, "plain")
	f.ends(t, "Complete", "plain-coordinator", "plain-worker")
	t.Logf("complete after %s", time.Since(began).Round(100*time.Millisecond))
	run, _ := f.fetch(t, "plain")
	if run.State != result.Complete || len(run.Workers) != 2 || !run.Ledger.Accounted {
		t.Fatalf("the run is %s, with workers %+v", run.State, run.Workers)
	}
	var hosts []string
	for i, w := range run.Workers {
		hosts = append(hosts, w.Host)
		if w.Name != fmt.Sprintf("plain-worker-%d", i) || w.Scheduled != 8_000 || w.Lost != "" ||
			w.CPULimitCores != 0.5 || w.MemoryLimitBytes != 256<<20 {
			t.Errorf("worker %d: %+v", i, w)
		}
	}
	slices.Sort(hosts)
	if !slices.Equal(hosts, []string{"node1", "node2"}) {
		t.Errorf("the workers were on %v", hosts)
	}
	if l := run.Ledger; l.Subscriptions[0].Lost != 0 || run.Counters.Acked != 16_000 {
		t.Errorf("lost %d of %d", l.Subscriptions[0].Lost, run.Counters.Acked)
	}
	f.end(t, "plain", manifest)
}

func (f *experiments) deleted(t *testing.T) {
	manifest := f.apply(t, "cut", "--", "run", "--duration", "60s")
	f.until(t, "the load", func() bool {
		said, err := f.try(t, nil, "logs", "--tail=-1", "job/cut-coordinator")
		return err == nil && strings.Contains(string(said), "every message counts")
	})
	pod := strings.TrimSpace(f.kubectl(t, nil, "get", "pod", "-o", "name", "-l",
		"job-name=cut-worker,batch.kubernetes.io/job-completion-index=1"))
	f.kubectl(t, nil, "delete", "--wait=false", pod)
	f.ends(t, "Failed", "cut-coordinator", "cut-worker")
	run, _ := f.fetch(t, "cut")
	if run.State == result.Complete || len(run.Workers) != 2 || run.Workers[1].Lost == "" {
		t.Errorf("the run is %s, with workers %+v", run.State, run.Workers)
	}
	pods := f.kubectl(t, nil, "get", "pod", "-o", "name", "-l", "job-name=cut-worker")
	if n := strings.Count(pods, "pod/"); n > 2 {
		t.Errorf("a worker was replaced: %s", pods)
	}
	f.end(t, "cut", manifest)
}

func (f *experiments) throttled(t *testing.T) {
	manifest := f.apply(t, "tight", "--cpu", "200m", "--", "run", "--rate", "10k/s")
	f.ends(t, "Complete", "tight-coordinator", "tight-worker")
	run, _ := f.fetch(t, "tight")
	at := slices.IndexFunc(run.Verdicts, func(v result.Verdict) bool { return v.Name == "generator" })
	if at < 0 || run.Verdicts[at].Outcome != result.Broken ||
		!strings.Contains(run.Verdicts[at].Sentence, "of 0.2 cores of CPU delayed threads") {
		t.Errorf("the verdicts are %+v", run.Verdicts)
	}
	f.end(t, "tight", manifest)
}

// hosted has the servers of a system in pods of their own, with volumes of their own.
func (f *experiments) hosted(t *testing.T, system, image, cpu, memory string) {
	name := "lab-" + system
	for i := range 3 {
		f.volume(t, fmt.Sprintf("%s-data-%d", name, i), name, fmt.Sprintf("node%d", 1+i%nodes))
	}
	began := time.Now()
	manifest := f.applyTarget(t, name, "system: "+system+"\n", "--image", image, "--hosts", "3",
		"--cpu", "200m", "--coordinator-cpu", "300m", "--host-cpu", cpu, "--host-memory", memory,
		"--host-storage", "1Gi", "--", "run", "--warm", "0s", "--rate", "200/s")
	f.ends(t, "Complete", name+"-coordinator", name+"-worker", name+"-host")
	t.Logf("complete after %s", time.Since(began).Round(100*time.Millisecond))
	run, _ := f.fetch(t, name)
	if l := run.Ledger; run.State != result.Complete || !l.Accounted || l.Subscriptions[0].Lost != 0 ||
		run.Counters.Acked == 0 || len(run.Workers) != 2 {
		t.Errorf("the run is %s: %+v", run.State, l)
	}
	pods := map[string]bool{}
	for _, n := range run.System.Nodes {
		host, _, _ := net.SplitHostPort(n.Address)
		pods[host] = strings.HasPrefix(host, "10.244.")
	}
	if len(pods) != 3 || len(run.System.Hosts) != 3 {
		t.Errorf("the servers were at %v, on %+v", run.System.Nodes, run.System.Hosts)
	}
	f.end(t, name, manifest)
}
