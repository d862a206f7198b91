package measure

import (
	"os"
	"testing"
	"testing/fstest"
)

const (
	mountsV1 = `30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw
31 30 0:27 /pods/p1/c1 /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct
32 30 0:28 /pods/p1/c1 /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
	groupsV1 = "4:memory:/pods/p1/c1\n3:cpu,cpuacct:/pods/p1/c1\n0::/\n"
	mountsV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
)

func TestAllowances(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Allowance
	}{
		{"a container of version 1", map[string]string{
			"proc/self/cgroup": groupsV1, "proc/self/mountinfo": mountsV1,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "20000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "nr_periods 10\nnr_throttled 4\nthrottled_time 123456789\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":  "268435456\n",
		}, Allowance{0.2, 256 << 20, 123456789}},
		{"version 1 without limits", map[string]string{
			"proc/self/cgroup": groupsV1, "proc/self/mountinfo": mountsV1,
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "throttled_time 5\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":  "9223372036854771712\n",
		}, Allowance{}},
		{"a service of version 2 within a slice that allows less", map[string]string{
			"proc/self/cgroup": "0::/a.slice/b.service\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/a.slice/cpu.max":              "50000 100000\n",
			"sys/fs/cgroup/a.slice/cpu.stat":             "usage_usec 9\nthrottled_usec 70\n",
			"sys/fs/cgroup/a.slice/memory.max":           "max\n",
			"sys/fs/cgroup/a.slice/b.service/cpu.max":    "200000 100000\n",
			"sys/fs/cgroup/a.slice/b.service/cpu.stat":   "throttled_usec 30\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max": "1000\n",
		}, Allowance{0.5, 1000, 70_000}},
		{"a container of version 2", map[string]string{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/cpu.max": "max 100000\n", "sys/fs/cgroup/cpu.stat": "throttled_usec 0\n",
		}, Allowance{}},
		{"a container that sees the path of its group outside", map[string]string{
			"proc/self/cgroup": "0::/../../outside\n", "proc/self/mountinfo": mountsV2,
			"sys/fs/cgroup/memory.max": "300000000\n",
		}, Allowance{MemoryBytes: 300_000_000}},
		{"the mount of another container", map[string]string{
			"proc/self/cgroup":                    "3:cpu:/pods/p12\n",
			"proc/self/mountinfo":                 "31 30 0:27 /pods/p1 /sys/fs/cgroup/cpu ro - cgroup cgroup cpu\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "20000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
		}, Allowance{}},
		{"no control groups", nil, Allowance{}},
		{"nonsense", map[string]string{
			"proc/self/cgroup": "0::/\n0\n", "proc/self/mountinfo": "x - y\n" + mountsV2,
			"sys/fs/cgroup/cpu.max": "1 2 3\n", "sys/fs/cgroup/memory.max": "-7\n",
		}, Allowance{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fstest.MapFS{}
			for name, text := range c.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := Allowed(files); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// Whatever this machine has, reading it ends and gives no negative figure.
func TestAllowancesOfThisProcess(t *testing.T) {
	a := Allowed(os.DirFS("/"))
	if a.CPUCores < 0 || a.MemoryBytes < 0 || a.ThrottledNs < 0 {
		t.Errorf("got %+v", a)
	}
}
