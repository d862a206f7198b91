package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

const goodLab = `listen: 10.0.0.5:7077
hosts:
- {name: b, address: 10.0.0.11, dir: /mnt/fast disk}
- {name: a}
workers: [{name: w1}]
`

func TestLab(t *testing.T) {
	l, err := ParseLab("lab.yaml", []byte(goodLab))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"plimsoll host --join here:1 --token-file t --name b --address 10.0.0.11 " +
			"--dir '/mnt/fast disk'",
		"plimsoll host --join here:1 --token-file t --name a",
		"plimsoll worker --join here:1 --token-file t --name w1",
	}
	if got := l.JoinCommands("here:1", "t"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	many := strings.Repeat("- {name: h}\n", MostHosts+1)
	for src, want := range map[string]string{
		"":                    "a lab needs at least",
		"hosts: [{name: a}]":  "listen must be the address",
		"listen: 1.2.3.4:5\n": "names no machine",
		"listen: 1.2.3.4:5\nhosts: [{name: a}]\nworkers: [{name: a}]\n":                          "is taken",
		"listen: 1.2.3.4:5\nhosts: [{name: coordinator}]\n":                                      "is taken",
		"listen: 1.2.3.4:5\nhosts: [{address: 1.2.3.4}]\n":                                       "name is empty",
		"listen: 1.2.3.4:5\nhosts: [{name: a, address: '::1'}]\n":                                "an IPv4 address",
		"listen: 1.2.3.4:5\nworkers: [{name: a, dir: x}]\n":                                      "only hosts need",
		"listen: 1.2.3.4:5\nhosts: [{name: a, dir: \"x'; rm y\"}]\n":                             "no quotes",
		"listen: 1.2.3.4:5\nhosts: [{name: a, disk: x}]\n":                                       "disk",
		"listen: 1.2.3.4:5\nhosts:\n" + many:                                                     "at most 100",
		"listen: 1.2.3.4:5\nhosts: [{name: a, address: 1.2.3.4}, {name: b, address: 1.2.3.4}]\n": "give each its own",
	} {
		if _, err := ParseLab("lab.yaml", []byte(src)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", src, err, want)
		}
	}
}

// Any file is refused or gives commands of one line each.
func FuzzLab(f *testing.F) {
	f.Add([]byte(goodLab))
	f.Fuzz(func(t *testing.T, src []byte) {
		l, err := ParseLab("fuzz", src)
		if err != nil {
			return
		}
		for _, c := range l.JoinCommands("here:1", "t") {
			if strings.ContainsFunc(c, unprintable) || strings.Count(c, "'")%2 != 0 {
				t.Errorf("%q", c)
			}
		}
	})
}

// Only the machines of the lab join, at their addresses, and its order is theirs.
func TestLabIsExpected(t *testing.T) {
	c, err := Listen(Options{Address: "127.0.0.1:0", Version: version, Clock: clock.Precise(),
		Hosts: 2, Workers: 2, Lab: Lab{Hosts: []Machine{{Name: "b", Address: "127.1.1.1"}, {Name: "a"}},
			Workers: []Machine{{Name: "w2"}, {Name: "w1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	host := func(name, address string) *hired {
		return hireWith(t, WorkerOptions{Coordinator: c.Address(), Token: c.Token(), Name: name,
			Host: "here", Version: version, Cores: 1, Systems: system.NewRegistry(newToy()),
			Clock: clock.Precise(), Hosting: &Hosting{Address: address, Base: t.TempDir()}})
	}
	for want, h := range map[string]*hired{
		"no host named w1 is expected: its names are b, a":                        host("w1", "127.1.1.1"),
		"host b is expected at 127.1.1.1 and has the address 127.1.1.2: start it": host("b", "127.1.1.2"),
		"no worker named a is expected: its names are w2, w1":                     hire(t, c, newToy(), "a"),
	} {
		if err := <-h.ended; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	host("a", "127.1.1.2")
	hire(t, c, newToy(), "w1")
	for len(c.hosts()) == 0 || len(c.team()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if got, want := c.Missing(), "these have not joined: b, w2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	host("b", "127.1.1.1")
	hire(t, c, newToy(), "w2")
	if err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, m := range append(c.hosts(), c.team()...) {
		order = append(order, m.hello.Name)
	}
	if want := []string{"b", "a", "w2", "w1"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}
